# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Whether a throughput was confirmed: by every trial at its rate, also by those that later measurements made."""

from __future__ import annotations

from collections.abc import Iterable

from testbed.campaign import grade
from testbed.campaign.measurements.throughput import NO_LOSS, AtRate, Throughput
from testbed.campaign.summary import Finding
from testbed.campaign.trial import AnyResult, Stream, TrialResult


def confirmed(finding: Finding, trials: Iterable[tuple[str, AnyResult]]) -> Finding:
    """A throughput with what all valid trials at its rate came to, of the same device and frames."""
    found = Throughput.model_validate(finding.result)
    point = finding.place.rpartition("/")[0] + "/"
    losses = [
        result.lost > 0
        for place, result in trials
        if place.startswith(point) and isinstance(result, TrialResult) and _counts(result, found)
    ]
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


def _counts(result: TrialResult, found: Throughput) -> bool:
    plan = result.plan
    stream = Stream(size=plan.size, directions=plan.directions, flows=plan.flows)
    same = plan.kind == "continuous" and plan.load_fps == found.throughput_fps
    return result.valid and same and stream == found.stream
