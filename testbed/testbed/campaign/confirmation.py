# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What all valid trials at a load came to, those of other measurements included.

It shows whether a throughput was confirmed, and how far the losses at a load differ.
"""

from __future__ import annotations

from collections.abc import Iterable

from testbed.campaign import grade
from testbed.campaign.measurements.frame_loss import FrameLoss, LossRange
from testbed.campaign.measurements.throughput import NO_LOSS, AtRate, Throughput
from testbed.campaign.summary import Finding
from testbed.campaign.trial import AnyResult, Stream, TrialResult


def confirmed(finding: Finding, trials: Iterable[tuple[str, AnyResult]]) -> Finding:
    """A throughput with what all valid trials at its rate came to, of the same device and frames."""
    found = Throughput.model_validate(finding.result)
    if found.throughput_fps is None:
        return finding
    losses = [one.lost > 0 for one in _at_load(finding, found.stream, found.throughput_fps, trials)]
    if not losses:
        return finding
    at_rate = AtRate(trials=len(losses), lossy=sum(losses))
    seen = f"{at_rate.lossy} of {at_rate.trials} trials at that rate lost frames"
    graded = grade.grade(
        NO_LOSS.found(at_rate.lossy == 0, seen) if one.clause == NO_LOSS else one for one in found.graded.findings
    )
    found = found.model_copy(update={"at_rate": at_rate, "graded": graded})
    return finding.model_copy(
        update={
            "headline": found.headline,
            "grade": graded.grade,
            "missing": [str(missing) for missing in graded.missing],
            "result": found.model_dump(mode="json"),
        }
    )


def compared(finding: Finding, trials: Iterable[tuple[str, AnyResult]]) -> Finding:
    """A loss curve with the range of what all valid trials at each load lost, of the same device and frames."""
    found, trials = FrameLoss.model_validate(finding.result), list(trials)
    points = []
    for point in found.points:
        shares = [100 * one.loss_ratio for one in _at_load(finding, found.stream, point.load_fps, trials)]
        spread = LossRange(trials=len(shares), least_percent=min(shares), most_percent=max(shares)) if shares else None
        points.append(point.model_copy(update={"of_all": spread}))
    found = found.model_copy(update={"points": points})
    return finding.model_copy(update={"headline": found.headline, "result": found.model_dump(mode="json")})


def _at_load(
    finding: Finding, stream: Stream, load_fps: float, trials: Iterable[tuple[str, AnyResult]]
) -> list[TrialResult]:
    """The valid trials at this load, of the device and the frames of the finding."""
    point = finding.place.rpartition("/")[0] + "/"
    return [
        result
        for place, result in trials
        if place.startswith(point) and isinstance(result, TrialResult) and _counts(result, stream, load_fps)
    ]


def _counts(result: TrialResult, stream: Stream, load_fps: float) -> bool:
    plan = result.plan
    same = plan.kind == "continuous" and plan.load_fps == load_fps
    return result.valid and same and Stream(**plan.frames) == stream
