# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A method of measurement, and one measurement at a point of a campaign."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from testbed.campaign.grade import Graded
from testbed.campaign.measurements.pause_bound import pause_bound
from testbed.campaign.points import Point
from testbed.campaign.presets import MeasurementSettings
from testbed.campaign.recorder import RecordedSetup
from testbed.campaign.scenario import Measurement
from testbed.campaign.sizes import Size
from testbed.campaign.summary import Finding
from testbed.campaign.traffic_generator import Capabilities, Generator, NotCapable
from testbed.campaign.trial import AnyResult
from testbed.campaign.turns import in_turns
from testbed.campaign.validity import Disturbed, NothingToMeasure, NotMeasured


@dataclass(frozen=True)
class Task:
    """What a measurement is given."""

    generator: Generator
    point: Point
    settings: MeasurementSettings
    # What the earlier measurements at this point found: latency is measured at the throughput.
    earlier: Mapping[Measurement, Any]
    # The same of all devices that are measured in turns with this one, which is among them.
    of_all: Sequence[Mapping[Measurement, Any]] = ()


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
    generator: Generator,
    place: str,
    point: Point,
    test: Measurement,
    earlier: dict[Measurement, Any],
    of_all: Sequence[Mapping[Measurement, Any]] = (),
) -> Finding:
    """Measures one thing at a point, and adds what it finds to the earlier results.

    Raises `GeneratorError`, `JournalError` or `ProcessError` if nothing can be measured any more.
    """
    finding = Finding(
        place=place,
        device=point.device,
        **point.stream.frames,
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
        result = method.measure(Task(generator, point, settings, earlier, of_all))
    except (NotCapable, NothingToMeasure) as error:
        finding.status, finding.reason = "skipped", str(error)
    except Disturbed as error:
        # The machine allows no figure here: of the device nothing is wrong.
        bound = pause_bound(error.tried, error.pauses_s, error.ring_frames)
        finding.status, finding.reason = "skipped", f"{bound.pauses_in_words}: no trial at this load was undisturbed"
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


class Progress:
    """Is notified of the measurements of a group; does nothing."""

    def begins(self, point: Point, test: Measurement) -> None:
        """The trials of this measurement follow, with those of the others in turn."""

    def ended(self, finding: Finding) -> None:
        """It has found something, or not."""


def measure_group(
    methods: Mapping[Measurement, Method],
    settings: MeasurementSettings,
    setups: Mapping[Point, RecordedSetup],
    tests: Sequence[Measurement],
    progress: Progress,
) -> None:
    """Measures devices with the same frames, test by test, in turns: a trial with each of them, up to the same loads.

    Raises `GeneratorError`, `JournalError` or `ProcessError` if nothing can be measured any more.
    """
    limit_group(setups)
    earlier: dict[Point, dict[Measurement, Any]] = {point: {} for point in setups}
    ordered = [*setups.values()]
    for test in tests:

        def task(point: Point, test: Measurement = test) -> Callable[[Generator], Finding]:
            place = f"{point.place}/{test}"
            of_all = [*earlier.values()]
            return lambda generator: measure(methods, settings, generator, place, point, test, earlier[point], of_all)

        for point in setups:
            progress.begins(point, test)
        found = in_turns(
            [task(point) for point in setups],
            [setup.at(f"{point.place}/{test}") for point, setup in setups.items()],
            lambda number: ordered[number].rest(),
        )
        for finding in found:
            progress.ended(finding)


def limit_group(setups: Mapping[Point, RecordedSetup]) -> None:
    """Has all be offered the same at most: else each would be searched at loads of its own."""
    if len(setups) == 1:
        return
    able = []
    for setup in setups.values():
        able.append(setup.capabilities())
        setup.rest()
    for point, setup in setups.items():
        setup.limit(point.size, most_of_all(point.size, able))


def most_of_all(size: Size, able: Iterable[Capabilities]) -> float:
    """The highest load that can be asked for with each of them."""
    return min(one.max_fps(size) for one in able)
