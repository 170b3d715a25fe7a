# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The verdict on each threshold. What could not be told has not passed: an absent figure, a limit of the generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any

from testbed.campaign.acceptance.threshold import Threshold
from testbed.campaign.measurements.back_to_back import BackToBack
from testbed.campaign.measurements.forwarding_rate import ForwardingRate
from testbed.campaign.measurements.frame_loss import FrameLoss
from testbed.campaign.measurements.latency import LatencyFound
from testbed.campaign.measurements.recovery import Recovery
from testbed.campaign.measurements.reset import Reset
from testbed.campaign.measurements.result import Sample, is_line_rate
from testbed.campaign.measurements.soak import Soak
from testbed.campaign.measurements.throughput import Throughput
from testbed.campaign.points import measurements_at, ordered_points
from testbed.campaign.scenario import Measurement, Scenario
from testbed.campaign.sizes import mean_bytes, size_order
from testbed.campaign.summary import Finding, Judgement, Verdict

_PERCENTILES = {
    "median latency": "p50",
    "90 % latency": "p90",
    "99 % latency": "p99",
    "99.9 % latency": "p99_9",
    "99.99 % latency": "p99_99",
}


class _NotToldError(Exception):
    """The figure does not tell whether the threshold is kept; the message says why."""


def judgements(scenario: Scenario, findings: Sequence[Finding]) -> list[Judgement]:
    """The verdict on each threshold of a scenario, for each device and kind of frames that it is about."""
    by_place = {finding.place: finding for finding in findings}
    names = [device.name for device in scenario.devices]
    points = sorted(
        ordered_points(scenario),
        key=lambda one: (one.stream.directions, one.stream.flows, *size_order(one.size), names.index(one.device)),
    )
    found = []
    for threshold in scenario.read_thresholds:
        test = Measurement(threshold.figure.measurement)
        for point in points:
            if threshold.applies(point.size, point.device) and test in measurements_at(scenario, point):
                place = f"{point.place}/{test}"
                verdict, measured, reason = _verdict(threshold, by_place.get(place))
                found.append(
                    Judgement(
                        threshold=threshold.text,
                        place=place,
                        device=point.device,
                        size=point.size,
                        directions=point.stream.directions,
                        flows=point.stream.flows,
                        verdict=verdict,
                        measured=measured,
                        reason=reason,
                    )
                )
    return found


def _verdict(threshold: Threshold, finding: Finding | None) -> tuple[Verdict, str | None, str | None]:
    """The verdict, the figure, and why there is no better verdict."""
    if finding is None:
        return Verdict.NOT_TOLD, None, "it was not measured"
    if finding.status != "done" or finding.result is None:
        return Verdict.NOT_TOLD, None, f"{finding.status}: {finding.reason}"
    measured: list[str] = []

    def compare(value: float, at_least_that: str | None = None, where: str = "") -> Verdict:
        """`at_least_that`: why the figure may be higher; `where`: at which load it is so."""
        measured.append(threshold.written(value) + where)
        kept = value >= threshold.limit if threshold.figure.at_least else value <= threshold.limit
        if not kept and at_least_that is not None:
            raise _NotToldError(at_least_that)
        return Verdict.PASSED if kept else Verdict.FAILED

    try:
        verdict = _JUDGES[finding.measurement](threshold, finding.result, compare)
    except _NotToldError as error:
        return Verdict.NOT_TOLD, measured[0] if measured else None, str(error)
    return verdict, measured[0], None


_Compare = Callable[..., Verdict]


def _throughput(threshold: Threshold, result: Any, compare: _Compare) -> Verdict:
    found = Throughput.model_validate(result)
    goal = found.goals[0]
    if goal.goal.loss_ratio or goal.goal.exceed_ratio:
        raise _NotToldError("the first goal of the search allows loss, so that it finds no throughput of RFC 2544")
    if found.throughput_fps is None:
        raise _NotToldError(str(found.pauses))
    scale = _scale(threshold, found.stream.size, found.line_rate_fps)
    if found.at_rate is not None and found.at_rate.lossy:
        compare(found.throughput_fps * scale)
        raise _NotToldError(f"{found.at_rate.lossy} of {found.at_rate.trials} trials at this rate lost frames")
    why = None
    if found.generator_was_limit:
        why = "it is the highest rate that the generator could offer: the device may do more"
    elif goal.upper is not None and goal.upper.load_fps * scale > threshold.limit:
        why = f"the first rate with loss is {threshold.written(goal.upper.load_fps * scale)}: narrow the search"
    return compare(found.throughput_fps * scale, why)


def _forwarding_rate(threshold: Threshold, result: Any, compare: _Compare) -> Verdict:
    found = ForwardingRate.model_validate(result)
    why = None if found.overloaded else "all frames were forwarded: the generator offered no more"
    scale = _scale(threshold, found.stream.size, found.line_rate_fps)
    return compare(found.forwarded_fps.median * scale, why)


def _latency(threshold: Threshold, result: Any, compare: _Compare) -> Verdict:
    whole, name = LatencyFound.model_validate(result), threshold.figure.name
    found = whole.at(threshold.share)
    if found is None:
        raise _NotToldError(f"it was not measured at that load: {'; '.join(whole.left_out) or 'it was left out'}")
    compare = partial(compare, where=f" at {found.load_fps / 1e6:.4f} Mpps")
    if name in _PERCENTILES:
        each = [getattr(one, _PERCENTILES[name]) for one in found.repetitions]
    elif name == "highest latency":
        each = [one.max for one in found.repetitions]
    else:
        samples: dict[str, Sample | None] = {"average latency": found.average_ns, "jitter": found.ipdv_ns}
        sample = samples.get(name, found.pdv_ns)
        if sample is None:
            raise _NotToldError("the generator does not measure it")
        each = [sample.median if name == "PDV" else sample.mean]
    if not each or any(one is None for one in each):
        raise _NotToldError("the generator does not measure it in every stream")
    value = max(each) if name == "highest latency" else median(each)
    if found.lossy:
        compare(value)
        raise _NotToldError(f"frames were lost in {found.lossy} of {len(found.repetitions)} streams")
    return compare(value)


def _frame_loss(threshold: Threshold, result: Any, compare: _Compare) -> Verdict:
    found = FrameLoss.model_validate(result)
    top, line = found.points[0], found.line_rate_fps
    verdict = compare(max(top.loss_percent, top.of_all.most_percent if top.of_all else 0.0))
    if verdict is Verdict.PASSED and (line is None or not is_line_rate(top.load_fps, line)):
        whole = f"the line's {line / 1e6:.4f} Mpps" if line else "and the line rate is unknown"
        raise _NotToldError(
            f"the generator offered {top.load_fps / 1e6:.4f} Mpps at most, {'not ' if line else ''}{whole}"
        )
    return verdict


def _back_to_back(threshold: Threshold, result: Any, compare: _Compare) -> Verdict:
    found = BackToBack.model_validate(result)
    if found.frames is None:
        raise _NotToldError(found.headline)
    return compare(found.frames.mean, "it is the longest burst that was tried" if found.at_limit else None)


def _recovery(threshold: Threshold, result: Any, compare: _Compare) -> Verdict:
    found = Recovery.model_validate(result)
    if not found.overloaded:
        raise _NotToldError("the device was not overloaded: there was nothing to recover from")
    return compare(1e9 * found.recovery_s.mean)


def _reset(threshold: Threshold, result: Any, compare: _Compare) -> Verdict:
    times = Reset.model_validate(result).times
    if not times:
        raise _NotToldError("no reset could be done")
    return compare(1e9 * max(time.gap_s.mean for time in times))


def _soak(threshold: Threshold, result: Any, compare: _Compare) -> Verdict:
    found = Soak.model_validate(result)
    sent = sum(part.sent for part in found.slices)
    if not sent:
        raise _NotToldError("nothing was sent")
    return compare(100 * found.lost / sent)


def _scale(threshold: Threshold, size: int | str, line_fps: float | None) -> float:
    """What makes a rate in frames/s one in what the threshold counts."""
    if threshold.in_bits:
        return 8 * mean_bytes(size)
    if not threshold.of_line_rate:
        return 1.0
    if line_fps is None:
        raise _NotToldError("the line rate is unknown")
    return 100 / line_fps


_JUDGES: dict[Measurement, Callable[[Threshold, Any, _Compare], Verdict]] = {
    Measurement.THROUGHPUT: _throughput,
    Measurement.FORWARDING_RATE: _forwarding_rate,
    Measurement.LATENCY: _latency,
    Measurement.FRAME_LOSS: _frame_loss,
    Measurement.BACK_TO_BACK: _back_to_back,
    Measurement.RECOVERY: _recovery,
    Measurement.RESET: _reset,
    Measurement.SOAK: _soak,
}
