# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a testbed is given to measure, and what comes of it.

A part is one kind of frames with all devices: those that are compared are always measured on the same testbed. Of a
comparison it is all blocks at one size, with those of A against itself.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from testbed.campaign.backend import Capabilities, GeneratorError
from testbed.campaign.campaign import Workshop, measure
from testbed.campaign.compare import CompareSettings, Measure, Visit, compare
from testbed.campaign.journal import JOURNAL, Journal, JournalError
from testbed.campaign.points import Point, measurements_at, ordered_points, rig_name
from testbed.campaign.recorder import Rig, Watcher
from testbed.campaign.scenario import Measurement, Scenario
from testbed.campaign.summary import Finding
from testbed.campaign.visits import Visits, both, place_of, rig_at
from testbed.campaign.workshop import find_programs, workshop
from testbed.process import ProcessError
from testbed.programs import ProgramMissing
from testbed.results import ResultsError, write_atomically
from testbed.scratch import scratch_folder

_MOST_LOG_BYTES = 4 << 20


class Again(BaseModel):
    """A measurement that is repeated at the end of the campaign, for drift."""

    model_config = ConfigDict(extra="forbid")

    place: str
    device: str
    measurement: Measurement
    # The limits that the search had for the first time.
    capabilities: Capabilities


class Job(BaseModel):
    """What a testbed is told."""

    model_config = ConfigDict(extra="forbid")

    campaign: str
    testbed: str
    # As it is on this testbed.
    scenario: Scenario
    # `Point.frames`: one of the scenario's.
    frames: str
    # SHA-256 of each program, by name.
    programs: dict[str, str] = Field(default_factory=dict)
    again: Again | None = None
    # Of a comparison: at one size, that of the frames.
    compare: CompareSettings | None = None
    # The journal of what the testbed has measured of this before, which counts, and the places of it that do not.
    earlier: str = ""
    retry: list[str] = Field(default_factory=list)

    def points(self) -> list[Point]:
        """What is to be visited, in the campaign's order."""
        mine = [point for point in ordered_points(self.scenario) if point.frames == self.frames]
        return [point for point in mine if self.again is None or point.device == self.again.device]


class Part(BaseModel):
    """What came of a job."""

    model_config = ConfigDict(extra="forbid")

    schema_version: int = 1
    testbed: str
    frames: str
    # Why there is nothing more.
    error: str | None = None
    findings: list[Finding] = Field(default_factory=list)
    journal: str = ""
    environment: dict[str, Any] = Field(default_factory=dict)
    logs: dict[str, str] = Field(default_factory=dict, description="text by the path below raw/")


def measure_part(job: Job, bin_dirs: list[Path], make: Callable[..., Workshop] = workshop) -> Part:
    """Does a job on this machine."""
    part = Part(testbed=job.testbed, frames=job.frames)
    with scratch_folder() as folder:
        try:
            programs = find_programs(job.scenario, bin_dirs)
            _check_programs(job, programs.hashes())
            shop = make(programs)
            part.environment = shop.environment(job.scenario).model_dump(mode="json")
            _visit(job, shop, folder, part)
        except (GeneratorError, JournalError, ProcessError, ProgramMissing, ResultsError) as error:
            part.error = str(error)
        if part.error is None:
            part.journal = (folder / JOURNAL).read_text(encoding="utf-8")
        part.logs = _logs(folder / "raw")
    return part


def _check_programs(job: Job, hashes: dict[str, str]) -> None:
    others = sorted(name for name, wanted in job.programs.items() if hashes.get(name) != wanted)
    if others:
        raise ProgramMissing(
            f"testbed '{job.testbed}': {', '.join(others)} differs from the campaign's: build the same there"
        )


def _visit(job: Job, shop: Workshop, folder: Path, part: Part) -> None:
    raw = folder / "raw"
    raw.mkdir()
    with _journal(job, folder / JOURNAL) as journal:
        if job.compare is not None:
            _compare(job, job.compare, Visits(job.scenario, job.compare, shop, journal, raw, Watcher()))
            return
        for point in job.points():
            start = partial(shop.start, job.scenario, point.device, point.directions, raw)
            name = rig_name(point, job.testbed)
            if job.again is not None and journal.capabilities(name) is None:
                journal.join(name, job.again.capabilities)
            rig = Rig(name, start, journal, Watcher())
            try:
                part.findings += _measured(job, shop, rig, point)
            finally:
                rig.close()


def _journal(job: Job, path: Path) -> Journal:
    """A new one, or that of what is gone on with."""
    if not job.earlier:
        return Journal.create(path, job.campaign)
    write_atomically(path, job.earlier)
    journal = Journal.open(path, job.campaign)
    if job.retry:
        journal.measure_again(job.retry)
    return journal


def _compare(job: Job, told: CompareSettings, visits: Visits) -> None:
    """All visits of a comparison at one size. The figures are found again from the journal."""

    @contextlib.contextmanager
    def start(visit: Visit) -> Iterator[Measure]:
        with visits.start(visit, rig_at(both(job.scenario), visit.sizes[0], job.testbed)) as figure_at:
            yield lambda figure, size: figure_at(place_of(visit, figure, size), figure, size)

    compare(told, start)


def _measured(job: Job, shop: Workshop, rig: Rig, point: Point) -> list[Finding]:
    settings = job.scenario.measured_with
    if job.again is not None:
        return [measure(shop.methods, settings, rig.at(job.again.place), point, job.again.measurement, {})]
    earlier: dict[Measurement, Any] = {}
    return [
        measure(shop.methods, settings, rig.at(f"{point.place}/{test}"), point, test, earlier)
        for test in measurements_at(job.scenario, point)
    ]


def _logs(raw: Path) -> dict[str, str]:
    """The output of what was started, for the reader of the results."""
    files = [path for path in sorted(raw.rglob("*")) if path.is_file() and path.stat().st_size <= _MOST_LOG_BYTES]
    return {str(path.relative_to(raw)): path.read_text(errors="replace") for path in files}
