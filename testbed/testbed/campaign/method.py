# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A method of measurement, and one measurement at a point of a campaign."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from testbed.campaign.grade import Graded
from testbed.campaign.points import Point
from testbed.campaign.presets import MeasurementSettings
from testbed.campaign.recorder import RecordedGenerator
from testbed.campaign.scenario import Measurement
from testbed.campaign.summary import Finding
from testbed.campaign.traffic_generator import Generator, NotCapable
from testbed.campaign.trial import AnyResult
from testbed.campaign.validity import NotMeasured


@dataclass(frozen=True)
class Task:
    """What a measurement is given."""

    generator: Generator
    point: Point
    settings: MeasurementSettings
    # What the earlier measurements at this point found: latency is measured at the throughput.
    earlier: Mapping[Measurement, Any]


@dataclass(frozen=True)
class Method:
    """How one thing is measured."""

    measure: Callable[[Task], BaseModel]
    headline: Callable[[Any], str]
    # Without what the others need nothing is measured.
    needs: tuple[Measurement, ...] = ()
    # Whether the result meets the RFC; None for a result without a grade.
    graded: Callable[[Any], Graded | None] = lambda _: None
    # What is found again when the whole campaign is over, from all its trials with their places.
    confirm: Callable[[Finding, Sequence[tuple[str, AnyResult]]], Finding] = lambda finding, _: finding
    # Of a result as JSON, what a campaign that drifts shows in; None if it shows nowhere.
    rate: Callable[[Any], float] | None = None


def measure(
    methods: Mapping[Measurement, Method],
    settings: MeasurementSettings,
    generator: RecordedGenerator,
    point: Point,
    test: Measurement,
    earlier: dict[Measurement, Any],
) -> Finding:
    """Measures one thing at a point, and adds what it finds to the earlier results.

    Raises `GeneratorError`, `JournalError` or `ProcessError` if nothing can be measured any more.
    """
    finding = Finding(
        place=generator.place,
        device=point.device,
        size=point.size,
        directions=point.directions,
        flows=point.flows,
        measurement=test,
        status="done",
    )
    method = methods.get(test)
    if method is None:
        finding.status, finding.reason = "skipped", "this tool does not measure it yet"
        return finding
    if lacking := [need for need in method.needs if need not in earlier]:
        finding.status, finding.reason = "skipped", f"it needs the result of: {', '.join(lacking)}"
        return finding
    try:
        result = method.measure(Task(generator, point, settings, earlier))
    except NotCapable as error:
        finding.status, finding.reason = "skipped", str(error)
    except NotMeasured as error:
        finding.status, finding.reason = "failed", str(error)
    else:
        earlier[test] = result
        finding.headline = method.headline(result)
        graded = method.graded(result)
        if graded is not None:
            finding.grade, finding.missing = graded.grade, [str(missing) for missing in graded.missing]
        finding.result = result.model_dump(mode="json")
    return finding
