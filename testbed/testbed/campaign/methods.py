# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""How each thing is measured: the measurements of `measurements/`, with the settings of the campaign's scenario.

What relates to a throughput is no better than it: a result that stands on one without every MUST lacks one itself, and
clauses on the throughput are not met by a lower bound of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from testbed.campaign.confirmation import compared, confirmed
from testbed.campaign.grade import Clause, Graded, Level, grade
from testbed.campaign.measurements import back_to_back, latency, recovery, reset
from testbed.campaign.measurements.back_to_back import measure_back_to_back
from testbed.campaign.measurements.forwarding_rate import measure_forwarding_rate
from testbed.campaign.measurements.frame_loss import measure_frame_loss
from testbed.campaign.measurements.latency import LatencyFound, measure_latency
from testbed.campaign.measurements.recovery import measure_recovery
from testbed.campaign.measurements.reset import measure_reset
from testbed.campaign.measurements.result import Measured
from testbed.campaign.measurements.soak import measure_soak
from testbed.campaign.measurements.throughput import Throughput, measure_throughput
from testbed.campaign.method import Method, Task
from testbed.campaign.scenario import Measurement
from testbed.campaign.validity import Trials

# At the throughput's rate, or in relation to it.
_BY_THROUGHPUT = (Measurement.THROUGHPUT,)


def _first(document: str, section: str, text: str = "the throughput of these frames is determined first") -> Clause:
    return Clause(document=document, section=section, level=Level.MUST, text=text)


THROUGHPUT_FIRST = {
    Measurement.LATENCY: _first("RFC 2544", "26.2"),
    Measurement.BACK_TO_BACK: _first(
        "RFC 9004", "5", "the throughput is known, of the same traffic and without any loss"
    ),
    Measurement.RECOVERY: _first("RFC 2544", "26.5"),
    Measurement.RESET: _first("RFC 2544", "26.6"),
}
CLAUSES = tuple(THROUGHPUT_FIRST.values())
# That name the throughput.
_ON_THE_THROUGHPUT = (
    latency.AT_THROUGHPUT,
    latency.LONG_STREAM,
    back_to_back.BELOW_LINE_RATE,
    recovery.OVERLOAD,
    reset.AT_THROUGHPUT,
)


def _method(
    measure: Callable[..., Measured],
    name: Measurement,
    needs: tuple[Measurement, ...] = (),
    rate: Callable[[Any], float] | None = None,
) -> Method:
    def run(task: Task) -> Measured:
        point = task.point
        rates = [task.earlier[need].load_fps for need in needs]
        settings = getattr(task.settings, name)
        more: dict[str, Any] = {}
        if name is Measurement.BACK_TO_BACK:
            more["above_fps"] = task.earlier[needs[0]].above_fps
        elif name is Measurement.LATENCY:
            more["lowest_fps"] = _lowest(task)
        return _judged(name, measure(Trials(task.generator), point.stream, *rates, settings, **more), task)

    return Method(run, headline=_headline, graded=lambda result: result.graded, needs=needs, rate=rate)


def _lowest(task: Task) -> float | None:
    """The lowest throughput of the devices that take turns with this one; None where it has none beside it."""
    found = [one[Measurement.THROUGHPUT] for one in task.of_all if Measurement.THROUGHPUT in one]
    rates = [one.load_fps for one in found if one.load_fps]
    return min(rates) if len(task.of_all) > 1 and rates else None


def _judged(name: Measurement, result: Measured, task: Task) -> Measured:
    """The result, with what is to say of the throughput that it stands on."""
    if name not in THROUGHPUT_FIRST:
        return result
    throughput: Throughput = task.earlier[Measurement.THROUGHPUT]
    lacking = [finding for finding in throughput.graded.missing if finding.clause.must]
    seen = f"the throughput misses the clause '{lacking[0].clause.text}'" if lacking else "yes"
    finding = THROUGHPUT_FIRST[name].found(not lacking, seen)
    graded = grade([*result.graded.findings, finding])
    if not throughput.only_lower_bound:
        return result.model_copy(update={"graded": graded})
    changes = {"graded": _by_lower_bound(graded)}
    if isinstance(result, LatencyFound):
        changes["percentiles"] = _by_lower_bound(result.percentiles)
    return result.model_copy(update=changes)


def _by_lower_bound(graded: Graded) -> Graded:
    """The grade where the throughput is known by a lower bound only."""
    return grade(
        finding.clause.found(False, f"{finding.seen}, of which only a lower bound is known")
        if finding.met and finding.clause in _ON_THE_THROUGHPUT
        else finding
        for finding in graded.findings
    )


def _headline(result: Any) -> str:
    return result.headline


def _told_rate(result: Any) -> float:
    """The throughput, or the first rate with some loss that is told in its place."""
    found = Throughput.model_validate(result)
    lower = next((goal.lower for goal in found.goals if goal.lower is not None), None)
    return found.load_fps if lower is None else lower.load_fps


METHODS = {
    Measurement.THROUGHPUT: replace(
        _method(measure_throughput, Measurement.THROUGHPUT, rate=_told_rate),
        confirm=confirmed,
    ),
    Measurement.LATENCY: _method(measure_latency, Measurement.LATENCY, _BY_THROUGHPUT),
    Measurement.FRAME_LOSS: replace(_method(measure_frame_loss, Measurement.FRAME_LOSS), confirm=compared),
    Measurement.BACK_TO_BACK: _method(measure_back_to_back, Measurement.BACK_TO_BACK, _BY_THROUGHPUT),
    Measurement.RECOVERY: _method(measure_recovery, Measurement.RECOVERY, _BY_THROUGHPUT),
    Measurement.RESET: _method(measure_reset, Measurement.RESET, _BY_THROUGHPUT),
    Measurement.FORWARDING_RATE: _method(
        measure_forwarding_rate, Measurement.FORWARDING_RATE, rate=lambda result: result["forwarded_fps"]["median"]
    ),
    Measurement.SOAK: _method(measure_soak, Measurement.SOAK, _BY_THROUGHPUT),
}
