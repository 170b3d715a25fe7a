# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a testbed is given to measure, and what comes of it.

A job is one kind of frames with all devices: those that are compared are always measured on the same testbed. Of a
comparison it is all blocks at one size, with those of A against itself.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from testbed.campaign.compare.dut_runs import DutRunner, both, place_of, setup_at
from testbed.campaign.compare.schedule import CompareSettings, DutRun
from testbed.campaign.compare.size_verdict import Measure, compare
from testbed.campaign.equipment import Equipment
from testbed.campaign.journal import JOURNAL, Follower, Journal, JournalError, Measured, read_entries
from testbed.campaign.method import Progress, measure, measure_group
from testbed.campaign.points import Point, grouped_points, measurements_at, setup_name, side_by_side
from testbed.campaign.real_equipment import find_programs, real_equipment
from testbed.campaign.recorder import RecordedSetup, Watcher
from testbed.campaign.scenario import Measurement, Scenario
from testbed.campaign.summary import Finding
from testbed.campaign.traffic_generator import Capabilities, GeneratorError
from testbed.run.process import ProcessError
from testbed.run.programs import ProgramMissing
from testbed.run.results_folder import ResultsError, write_atomically
from testbed.run.scratch import scratch_folder

_MOST_LOG_BYTES = 4 << 20


def new_number() -> str:
    """Tells attempts at a job apart."""
    return uuid.uuid4().hex


class Again(BaseModel):
    """A measurement that is repeated at the end of the campaign, for drift."""

    model_config = ConfigDict(extra="forbid")

    place: str
    device: str
    measurement: Measurement
    # The limits that the search had for the first time.
    capabilities: Capabilities


class Job(BaseModel):
    """A job, as sent to a testbed."""

    model_config = ConfigDict(extra="forbid")

    # Of this attempt.
    number: str = Field(default_factory=new_number)
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
    # The journal of what the testbed has measured of this before.
    earlier: str = ""
    # The places that are measured once more; `earlier` discards what was measured there.
    retry: list[str] = Field(default_factory=list)

    @property
    def part(self) -> str:
        """The name of the result."""
        return self.frames if self.again is None else again_part(self.testbed)

    @property
    def is_bound(self) -> bool:
        """Whether only this testbed may do it."""
        return bool(self.retry) or self.again is not None

    def groups(self) -> list[list[Point]]:
        """What is to be measured, in the campaign's order: the devices that take turns together."""
        mine = [one for one in grouped_points(self.scenario, self.turns) if one[0].frames == self.frames]
        if self.again is None:
            return mine
        return [[point] for group in mine for point in group if point.device == self.again.device]

    @property
    def turns(self) -> bool:
        """Whether the devices take turns."""
        return side_by_side(self.scenario)


def again_part(testbed: str) -> str:
    """The name of the result of a testbed's repeated measurement."""
    return f"again-{testbed}"


class JobResult(BaseModel):
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


def run_job(
    job: Job,
    bin_dirs: list[Path],
    make: Callable[..., Equipment] = real_equipment,
    follower: Follower = lambda text, whole: None,
    watcher: Watcher | None = None,
) -> JobResult:
    """Does a job on this machine; `follower` gets the journal as it is written, `watcher` is notified of each trial."""
    result = JobResult(testbed=job.testbed, frames=job.frames)
    with scratch_folder() as folder:
        try:
            programs = find_programs(job.scenario, bin_dirs)
            _check_programs(job, programs.hashes())
            equipment = make(programs)
            result.environment = equipment.environment(job.scenario).model_dump(mode="json")
            _measure_points(job, equipment, folder, result, follower, watcher or Watcher())
        except (GeneratorError, JournalError, ProcessError, ProgramMissing, ResultsError) as error:
            result.error = str(error)
        if result.error is None:
            result.journal = (folder / JOURNAL).read_text(encoding="utf-8")
        result.logs = _logs(folder / "raw")
    return result


def why_none_counts(result: JobResult) -> str | None:
    """Of a result with trials none of which is valid, the reasons of the last one.

    Raises `JournalError`.
    """
    trials = [one for one in read_entries(result.journal, result.frames) if isinstance(one, Measured)]
    return "; ".join(trials[-1].result.reasons) if trials and not any(one.result.valid for one in trials) else None


def _check_programs(job: Job, hashes: dict[str, str]) -> None:
    others = sorted(name for name, wanted in job.programs.items() if hashes.get(name) != wanted)
    if others:
        raise ProgramMissing(
            f"testbed '{job.testbed}': {', '.join(others)} differs from the campaign's: build the same there"
        )


def _measure_points(
    job: Job, equipment: Equipment, folder: Path, result: JobResult, follower: Follower, watcher: Watcher
) -> None:
    raw = folder / "raw"
    raw.mkdir()
    with _journal(job, folder / JOURNAL) as journal:
        journal.follow(follower)
        if job.compare is not None:
            _compare(job, job.compare, DutRunner(job.scenario, job.compare, equipment, journal, raw, watcher))
            return
        for group in job.groups():
            setups = {}
            for point in group:
                start = partial(equipment.start, job.scenario, point.device, point.stream.directions, raw)
                name = setup_name(point, job.testbed)
                if job.again is not None and journal.capabilities(name) is None:
                    journal.join(name, job.again.capabilities)
                setups[point] = RecordedSetup(name, start, journal, watcher)
            with contextlib.ExitStack() as closing:
                for setup in setups.values():
                    closing.callback(setup.close)
                _measure_group(job, equipment, setups, result)


def _journal(job: Job, path: Path) -> Journal:
    """A new one, or that of what is gone on with."""
    if not job.earlier:
        return Journal.create(path, job.campaign)
    write_atomically(path, job.earlier)
    return Journal.open(path, job.campaign)


def _compare(job: Job, told: CompareSettings, runner: DutRunner) -> None:
    """All DUT runs of a comparison at one size. The figures are found again from the journal."""

    @contextlib.contextmanager
    def start(dut_run: DutRun) -> Iterator[Measure]:
        with runner.start(dut_run, setup_at(both(job.scenario), dut_run.sizes[0], job.testbed)) as figure_at:
            yield lambda figure, size: figure_at(place_of(dut_run, figure, size), figure, size)

    compare(told, start)


class _Noted(Progress):
    """Keeps what is found."""

    def __init__(self, findings: list[Finding]) -> None:
        self._findings = findings

    def ended(self, finding: Finding) -> None:
        self._findings.append(finding)


def _measure_group(job: Job, equipment: Equipment, setups: Mapping[Point, RecordedSetup], result: JobResult) -> None:
    methods, settings = equipment.methods, job.scenario.measured_with
    if job.again is not None:
        ((point, setup),) = setups.items()
        place, test = job.again.place, job.again.measurement
        result.findings.append(measure(methods, settings, setup.at(place), place, point, test, {}))
        return
    tests = measurements_at(job.scenario, next(iter(setups)))
    measure_group(methods, settings, setups, tests, _Noted(result.findings))


def _logs(raw: Path) -> dict[str, str]:
    """The output of what was started, for the reader of the results."""
    files = [path for path in sorted(raw.rglob("*")) if path.is_file() and path.stat().st_size <= _MOST_LOG_BYTES]
    return {str(path.relative_to(raw)): path.read_text(errors="replace") for path in files}
