# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A campaign: every measurement at every point of a scenario, written down as it goes, resumed where it stopped."""

from __future__ import annotations

import shlex
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from rich.console import Console

from testbed.campaign.backend import Generator, GeneratorError, NotCapable
from testbed.campaign.frame_format import frame_format
from testbed.campaign.grade import Graded, of_the_campaign
from testbed.campaign.journal import JOURNAL, Journal, JournalError, read_journal
from testbed.campaign.points import Point, measurements_at, ordered_points, planned, rig_name
from testbed.campaign.presets import MeasurementSettings
from testbed.campaign.recorder import RecordedGenerator, Rig
from testbed.campaign.scenario import Measurement, Scenario
from testbed.campaign.summary import (
    SUMMARY,
    CampaignSummary,
    Drift,
    Finding,
    count_trials,
    read_campaign_summary,
    write_campaign_summary,
)
from testbed.campaign.trial import AnyResult
from testbed.campaign.validity import NotMeasured
from testbed.campaign.view import View
from testbed.demo import signals_as_interrupt
from testbed.environment import Environment
from testbed.process import ProcessError
from testbed.results import ResultsError, Status, new_results_folder, read_record, write_atomically

SETTINGS = "campaign.json"


class Settings(BaseModel):
    """`campaign.json`: what the campaign was told, so that it can go on without being told again."""

    model_config = ConfigDict(extra="forbid")

    schema_version: int = 1
    campaign: str = Field(default_factory=lambda: uuid.uuid4().hex)
    kind: Literal["rfc2544", "overload"]
    command: str
    scenario: Scenario
    bin_dirs: list[Path] = Field(default_factory=list)
    # SHA-256 of each program, by name: with others a campaign does not go on.
    programs: dict[str, str] = Field(default_factory=dict)
    # When it was begun, and resumed.
    runs: list[datetime] = Field(default_factory=list)
    # Of a campaign over several testbeds, which of them has measured which frames (`Point.frames`).
    testbeds: dict[str, str] = Field(default_factory=dict)


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
    # How far the result may be called one of the RFC; None of a result without a grade.
    graded: Callable[[Any], Graded | None] = lambda _: None
    # Of a result as JSON, what a campaign that drifts shows in; None if it shows nowhere.
    rate: Callable[[Any], float] | None = None


@dataclass(frozen=True)
class Workshop:
    """What a campaign works with: the real things, or a test's."""

    methods: Mapping[Measurement, Method]
    # Starts a generator with the device of this name, for this many directions; logs go to the folder.
    start: Callable[[Scenario, str, int, Path], Generator]
    environment: Callable[[Scenario], Environment]
    expected_s: Callable[[Scenario, Point, Measurement], float | None]


@dataclass(frozen=True)
class Extent:
    """What a run of a campaign visits."""

    # Only these frames (`Point.frames`); None: all.
    frames: frozenset[str] | None = None
    drift: bool = True
    # Why the rest is missing, if it is.
    missing: str | None = None
    status: Status = Status.INTERRUPTED


EVERYTHING = Extent()


class Campaign:
    """One campaign in one results folder."""

    def __init__(
        self, folder: Path, settings: Settings, journal: Journal, summary: CampaignSummary, workshop: Workshop
    ) -> None:
        self.folder = folder
        self.settings = settings
        self.journal = journal
        self.summary = summary
        self._workshop = workshop
        self._seconds_before = summary.seconds
        self._begin = time.monotonic()
        self._rig: Rig | None = None

    @classmethod
    def create(cls, parent: Path, settings: Settings, scenario_text: str, workshop: Workshop) -> Campaign:
        """Makes the folder of a new campaign.

        Raises `ResultsError`, `JournalError`; `ProcessError` if another host cannot be reached.
        """
        # Before anything is written: another host may not be there.
        environment = workshop.environment(settings.scenario)
        now = datetime.now(UTC)
        settings.runs.append(now)
        folder = new_results_folder(parent, settings.kind, now)
        write_atomically(folder / "scenario.yaml", scenario_text)
        _write(folder / SETTINGS, settings)
        _write(folder / "environment.json", environment)
        journal = Journal.create(folder / JOURNAL, settings.campaign)
        summary = _unfinished(folder, settings)
        write_campaign_summary(folder, summary)
        return cls(folder, settings, journal, summary, workshop)

    @classmethod
    def resume(cls, folder: Path, workshop: Workshop, retry_failed: bool = False) -> Campaign:
        """Opens the folder of a campaign that was cut short; measurements that failed can be tried again.

        Raises `ResultsError`, `JournalError`; `ProcessError` if another host cannot be reached.
        """
        settings = read_settings(folder)
        failed = _failed(folder) if retry_failed else []
        environment = workshop.environment(settings.scenario)
        journal = Journal.resume(folder / JOURNAL, settings.campaign)
        if failed:
            journal.measure_again(failed)
        settings.runs.append(datetime.now(UTC))
        number = len(settings.runs) - 1
        _write(folder / SETTINGS, settings)
        # The machine may have changed: what it is now is kept beside what it was.
        _write(folder / f"environment-resumed-{number}.json", environment)
        # The findings are found again, from the journal.
        summary = _unfinished(folder, settings)
        if (folder / SUMMARY).exists():
            summary.seconds = read_campaign_summary(folder).seconds
        return cls(folder, settings, journal, summary, workshop)

    @classmethod
    def gather(cls, folder: Path, settings: Settings, workshop: Workshop, seconds: float) -> Campaign:
        """Opens a folder whose journal was put together of what several testbeds have measured in these seconds.

        Raises `ResultsError`, `JournalError`.
        """
        _write(folder / SETTINGS, settings)
        journal = Journal.open(folder / JOURNAL, settings.campaign)
        summary = _unfinished(folder, settings)
        summary.seconds = seconds
        return cls(folder, settings, journal, summary, workshop)

    def run(self, console: Console, extent: Extent = EVERYTHING) -> Status:
        """Runs to the end, or to the first thing that ends it."""
        scenario = self.settings.scenario
        expected_s = self._workshop.expected_s
        times = {(point, test): expected_s(scenario, point, test) for point, test in planned(scenario)}
        known = [seconds for seconds in times.values() if seconds is not None]
        again_s = self._again_s(times) if extent.drift else 0.0
        view = View(console, self.summary.planned, sum(known) + again_s if len(known) == len(times) else None)
        for warning in self.journal.warnings:
            view.tell(f"warning: {warning}")
        if self.journal.trials:
            view.tell(f"{self.journal.trials} trials are taken from the journal")
        try:
            with signals_as_interrupt(), view:
                try:
                    for point in ordered_points(scenario):
                        if extent.frames is None or point.frames in extent.frames:
                            self._measure_point(point, view, times)
                    if extent.drift:
                        self._look_for_drift(view, again_s)
                finally:
                    self._close_rig()
            self.summary.status, self.summary.reason = self._verdict()
            if extent.missing is not None:
                self._ends(extent.status, extent.missing)
        except KeyboardInterrupt:
            self._ends(Status.INTERRUPTED, "interrupted")
        except (GeneratorError, JournalError, ProcessError, ResultsError) as error:
            self._ends(Status.FAILED, str(error))
        finally:
            self.journal.close()
        self.summary.finished = datetime.now(UTC)
        try:
            # The file counts: an interrupt can come when a trial has been written down and not been taken note of.
            self._save(read_journal(self.folder / JOURNAL))
        except (JournalError, ResultsError) as error:
            # The journal has everything; what could not be written is made of it again.
            view.tell(f"warning: {error}")
        return self.summary.status

    def _measure_point(self, point: Point, view: View, times: Mapping[tuple[Point, Measurement], float | None]) -> None:
        rig = self._rig_for(point, view)
        earlier: dict[Measurement, Any] = {}
        for test in measurements_at(self.settings.scenario, point):
            place = f"{point.place}/{test}"
            view.measurement_begins(place, times[point, test] or 0.0)
            finding = self._measure(rig, place, point, test, earlier)
            self.summary.findings.append(finding)
            self._save()
            view.measurement_ended(finding)

    def _again_s(self, times: Mapping[tuple[Point, Measurement], float | None]) -> float:
        """How long it takes about to measure the first rate once more."""
        methods = self._workshop.methods
        rates = (seconds for (_, test), seconds in times.items() if test in methods and methods[test].rate is not None)
        return next(rates, None) or 0.0 if self.summary.planned > 1 else 0.0

    def _look_for_drift(self, view: View, expected_s: float) -> None:
        """Measures the campaign's first rate once more: a machine that has changed meanwhile gives another one."""
        methods = self._workshop.methods
        rates = (
            (finding, methods[finding.measurement])
            for finding in self.summary.findings
            if finding.status == "done" and methods[finding.measurement].rate is not None
        )
        first, method = next(rates, (None, None))
        if first is None or method is None or method.rate is None or self.summary.planned < 2:
            return
        point = Point(first.device, first.size, first.directions, first.flows)
        place = f"{first.place}/again"
        view.measurement_begins(place, expected_s)
        again = self._measure(self._rig_for(point, view), place, point, first.measurement, {})
        if again.status != "done":
            view.tell(f"{place}: {again.status}: {again.reason}")
            return
        before, now = method.rate(first.result), method.rate(again.result)
        self.summary.drift = Drift(place=first.place, first_fps=before, again_fps=now)
        view.tell(f"{place}: {self.summary.drift.in_words()}")

    def _measure(
        self, rig: Rig, place: str, point: Point, test: Measurement, earlier: dict[Measurement, Any]
    ) -> Finding:
        return measure(
            self._workshop.methods, self.settings.scenario.measured_with, rig.at(place), point, test, earlier
        )

    def _rig_for(self, point: Point, view: View) -> Rig:
        """The device that the point is about, in the set-up that it needs; another one is ended first."""
        name = rig_name(point, self.settings.testbeds.get(point.frames))
        if self._rig is None or self._rig.name != name:
            self._close_rig()
            scenario, raw = self.settings.scenario, self.folder / "raw"
            self._rig = Rig(
                name,
                lambda: self._workshop.start(scenario, point.device, point.directions, raw),
                self.journal,
                view,
            )
        return self._rig

    def _close_rig(self) -> None:
        if self._rig is not None:
            rig, self._rig = self._rig, None
            rig.close()

    def _save(self, trials: list[tuple[str, AnyResult]] | None = None) -> None:
        self.summary.seconds = self._seconds_before + time.monotonic() - self._begin
        self.summary.trials = count_trials(self.journal.all_results() if trials is None else trials)
        write_campaign_summary(self.folder, self.summary)

    def _ends(self, status: Status, reason: str) -> None:
        self.summary.status, self.summary.reason = status, resumable(reason, self.folder)

    def _verdict(self) -> tuple[Status, str | None]:
        failed = [finding for finding in self.summary.findings if finding.status == "failed"]
        if failed:
            reason = f"{len(failed)} measurements failed; the first is {failed[0].place}: {failed[0].reason}"
            return Status.FAILED, f"{reason}\nto try them again: {retry_command(self.folder)}"
        if all(finding.status == "skipped" for finding in self.summary.findings):
            return Status.FAILED, "nothing could be measured"
        return Status.PASSED, None


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


def read_settings(folder: Path) -> Settings:
    """Reads `campaign.json`.

    Raises `ResultsError`.
    """
    return read_record(folder / SETTINGS, Settings, "the settings of a campaign", "a campaign")


def _failed(folder: Path) -> list[str]:
    """The places of the measurements that have failed so far.

    Raises `ResultsError` if there are none.
    """
    findings = read_campaign_summary(folder).findings if (folder / SUMMARY).exists() else []
    places = [finding.place for finding in findings if finding.status == "failed"]
    if not places:
        raise ResultsError(nothing_failed(folder))
    return places


def nothing_failed(folder: Path) -> str:
    """Why nothing is measured again."""
    return f"no measurement in '{folder}' has failed: leave out --retry-failed"


def retry_command(folder: Path) -> str:
    """What measures again what has failed."""
    return f"./x testbed resume {shlex.quote(str(folder))} --retry-failed"


def is_finished(folder: Path) -> bool:
    """Whether a campaign has reached its end."""
    return (folder / SUMMARY).exists() and read_campaign_summary(folder).status is Status.PASSED


def _unfinished(folder: Path, settings: Settings) -> CampaignSummary:
    """The summary before the first finding: what a reader finds if this program is killed."""
    frames = settings.scenario.frames
    return CampaignSummary(
        kind=settings.kind,
        campaign=settings.campaign,
        status=Status.INTERRUPTED,
        reason=resumable("it did not reach its end", folder),
        started=settings.runs[0],
        resumed=len(settings.runs) - 1,
        command=settings.command,
        scenario=settings.scenario.name,
        preset=settings.scenario.preset,
        devices=[device.name for device in settings.scenario.devices],
        frames=of_the_campaign(frames.sizes, frames.directions, frames.flows) if settings.kind == "rfc2544" else None,
        frame_format=frame_format(settings.scenario),
        planned=len(planned(settings.scenario)),
    )


def resumable(reason: str, folder: Path) -> str:
    """The reason why something ended, and how to go on, which must not hide behind lines of a program's output."""
    between = "\n" if "\n" in reason else "; "
    return f"{reason}{between}what was measured is kept: go on with ./x testbed resume {shlex.quote(str(folder))}"


def _write(path: Path, model: BaseModel) -> None:
    write_atomically(path, model.model_dump_json(indent=2) + "\n")
