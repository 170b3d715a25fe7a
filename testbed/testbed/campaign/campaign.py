# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A campaign: every measurement at every point of a scenario, written down as it goes, resumed where it stopped."""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console

from testbed.campaign.acceptance.judgement import judgements
from testbed.campaign.campaign_settings import SETTINGS, CampaignSettings, read_campaign_settings
from testbed.campaign.cut_off import add_cut_off_soaks
from testbed.campaign.equipment import Equipment
from testbed.campaign.frame_format import frame_format
from testbed.campaign.grade import of_the_campaign
from testbed.campaign.journal import JOURNAL, Journal, JournalError, read_journal
from testbed.campaign.method import Progress, limit_group, measure, measure_group
from testbed.campaign.points import Point, grouped_points, measurements_at, planned, setup_name, side_by_side
from testbed.campaign.progress_view import View
from testbed.campaign.recorder import RecordedSetup
from testbed.campaign.scenario import Measurement, Scenario
from testbed.campaign.summary import (
    SUMMARY,
    CampaignSummary,
    Drift,
    Finding,
    count_trials,
    read_campaign_summary,
)
from testbed.campaign.summary_files import write_campaign_summary
from testbed.campaign.traffic_generator import GeneratorError
from testbed.campaign.trial import AnyResult
from testbed.run.process import ProcessError
from testbed.run.results_folder import ResultsError, Status, new_results_folder, write_atomically, write_model
from testbed.run.signals import signals_as_interrupt


@dataclass(frozen=True)
class Extent:
    """What a run of a campaign measures."""

    # Only these frames (`Point.frames`); None: all.
    frames: frozenset[str] | None = None
    # The testbeds whose first rate is measured again; None: all.
    drift: frozenset[str] | None = None
    # Whether devices took turns, by frames, where that is not the scenario's to say.
    turns: Mapping[str, bool] = field(default_factory=dict)
    # Why the rest is missing, if it is.
    missing: str | None = None
    status: Status = Status.INTERRUPTED


EVERYTHING = Extent()


class Campaign:
    """One campaign in one results folder."""

    def __init__(
        self, folder: Path, settings: CampaignSettings, journal: Journal, summary: CampaignSummary, equipment: Equipment
    ) -> None:
        self.folder = folder
        self.settings = settings
        self.journal = journal
        self.summary = summary
        self._equipment = equipment
        self._seconds_before = summary.seconds
        self._begin = time.monotonic()
        self._ended_by = "it did not reach its end"
        self._setups: dict[str, RecordedSetup] = {}
        self._pauses_expected = False

    @classmethod
    def create(cls, parent: Path, settings: CampaignSettings, scenario_text: str, equipment: Equipment) -> Campaign:
        """Makes the folder of a new campaign.

        Raises `ResultsError`, `JournalError`; `ProcessError` if another host cannot be reached.
        """
        # Before anything is written: another host may not be there.
        environment = equipment.environment(settings.scenario)
        now = datetime.now(UTC)
        settings.runs.append(now)
        folder = new_results_folder(parent, settings.kind, now)
        write_atomically(folder / "scenario.yaml", scenario_text)
        write_model(folder / SETTINGS, settings)
        write_model(folder / "environment.json", environment)
        journal = Journal.create(folder / JOURNAL, settings.campaign)
        summary = _unfinished(folder, settings)
        write_campaign_summary(folder, summary)
        return cls(folder, settings, journal, summary, equipment)

    @classmethod
    def resume(cls, folder: Path, equipment: Equipment, retry_failed: bool = False) -> Campaign:
        """Opens the folder of an interrupted campaign. Failed measurements can be repeated.

        Raises `ResultsError`, `JournalError`; `ProcessError` if another host cannot be reached.
        """
        settings = read_campaign_settings(folder)
        failed = _failed(folder, settings.scenario) if retry_failed else []
        environment = equipment.environment(settings.scenario)
        journal = Journal.resume(folder / JOURNAL, settings.campaign)
        if failed:
            journal.measure_again(failed)
        settings.runs.append(datetime.now(UTC))
        number = len(settings.runs) - 1
        write_model(folder / SETTINGS, settings)
        # The machine may have changed: what it is now is kept beside what it was.
        write_model(folder / f"environment-resumed-{number}.json", environment)
        # The findings are found again, from the journal.
        summary = _unfinished(folder, settings)
        if (folder / SUMMARY).exists():
            summary.seconds = read_campaign_summary(folder).seconds
        return cls(folder, settings, journal, summary, equipment)

    @classmethod
    def gather(cls, folder: Path, settings: CampaignSettings, equipment: Equipment, seconds: float) -> Campaign:
        """Opens a folder whose journal was put together of what several testbeds have measured in these seconds.

        Raises `ResultsError`, `JournalError`.
        """
        write_model(folder / SETTINGS, settings)
        journal = Journal.open(folder / JOURNAL, settings.campaign)
        summary = _unfinished(folder, settings)
        summary.seconds = seconds
        return cls(folder, settings, journal, summary, equipment)

    def run(self, console: Console, extent: Extent = EVERYTHING, shown: Callable[[View], None] | None = None) -> Status:
        """Runs to the end, or to the first thing that ends it; `shown` gets what shows its progress."""
        scenario = self.settings.scenario
        expected_s = self._equipment.expected_s
        times = {(point, test): expected_s(scenario, point, test) for point, test in planned(scenario)}
        known = [seconds for seconds in times.values() if seconds is not None]
        expected = sum(known) + self._again_s(times) if len(known) == len(times) else None
        view = View(console, self.summary.planned, expected)
        if shown is not None:
            shown(view)
        for warning in self.journal.warnings:
            view.tell(f"warning: {warning}")
        if self.journal.trials:
            view.tell(f"{self.journal.trials} trials are taken from the journal")
        try:
            with signals_as_interrupt(), view:
                try:
                    for group in self._groups(extent):
                        self._measure_group(group, view, times)
                    for testbed, (first, rate) in self._first_rates().items():
                        if extent.drift is None or testbed in extent.drift:
                            group = next(one for one in self._groups(extent) if _point_of(first) in one)
                            self._look_for_drift(view, self._again_s(times), testbed, first, rate, group)
                finally:
                    self._close_setups()
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
            trials = read_journal(self.folder / JOURNAL)
            self._confirm(trials)
            add_cut_off_soaks(self.summary.findings, self.settings, self.journal, self._ended_by)
            self.summary.acceptance = judgements(self.settings.scenario, self.summary.findings)
            self._save(trials)
        except (JournalError, ResultsError) as error:
            # The journal has everything; what could not be written is made of it again.
            view.tell(f"warning: {error}")
        return self.summary.status

    def _groups(self, extent: Extent) -> list[list[Point]]:
        """What is measured, in its order: the devices that take turns together."""
        scenario, found = self.settings.scenario, []
        usual = side_by_side(scenario)
        apart, together = grouped_points(scenario, False), grouped_points(scenario, True)
        for group in together:
            frames = group[0].frames
            if extent.frames is None or frames in extent.frames:
                turns = extent.turns.get(frames, usual)
                found += [group] if turns else [one for one in apart if one[0].frames == frames]
        return found

    def _measure_group(
        self, group: Sequence[Point], view: View, times: dict[tuple[Point, Measurement], float | None]
    ) -> None:
        measure_group(
            self._equipment.methods,
            self.settings.scenario.measured_with,
            self._setups_for(group, view),
            measurements_at(self.settings.scenario, group[0]),
            _Noted(self, view, times),
        )

    def note(self, finding: Finding) -> None:
        """Takes a finding into the summary."""
        finding.testbed = self.settings.testbeds.get(_point_of(finding).frames)
        self.summary.findings.append(finding)
        self._save()

    def expect_pauses(self, view: View, times: dict[tuple[Point, Measurement], float | None]) -> None:
        """Pauses of the machine bound a throughput: the searches that have not ended will take as long as that does."""
        if self._pauses_expected:
            return
        self._pauses_expected = True
        again_before_s = self._again_s(times)
        ended = {finding.place for finding in self.summary.findings[:-1]}
        for (point, test), usual_s in times.items():
            place = f"{point.place}/{test}"
            if test is Measurement.THROUGHPUT and usual_s is not None and place not in ended:
                seconds = self._equipment.expected_between_pauses_s(self.settings.scenario, point)
                view.longer(place, max(0.0, seconds - usual_s))
                times[point, test] = max(usual_s, seconds)
        view.longer("again", self._again_s(times) - again_before_s)

    def _again_s(self, times: Mapping[tuple[Point, Measurement], float | None]) -> float:
        """How long it takes about to measure the first rate once more."""
        methods = self._equipment.methods
        rates = (seconds for (_, test), seconds in times.items() if test in methods and methods[test].rate is not None)
        return next(rates, None) or 0.0 if self.summary.planned > 1 else 0.0

    def _first_rates(self) -> dict[str | None, tuple[Finding, Callable[[Any], float]]]:
        """The first rate of each testbed, and how it is read from the result; only one if there is no other testbed."""
        found: dict[str | None, tuple[Finding, Callable[[Any], float]]] = {}
        for finding in self.summary.findings if self.summary.planned > 1 else []:
            rate = self._equipment.methods[finding.measurement].rate if finding.status == "done" else None
            if rate is not None:
                found.setdefault(finding.testbed, (finding, rate))
        return found

    def _look_for_drift(
        self,
        view: View,
        expected_s: float,
        testbed: str | None,
        first: Finding,
        rate: Callable[[Any], float],
        group: Sequence[Point],
    ) -> None:
        """Measures a rate once more: a machine that has changed meanwhile gives another one."""
        point = _point_of(first)
        place = f"{first.place}/again"
        view.measurement_begins(place, expected_s)
        setups = self._setups_for(group, view)
        limit_group(setups)
        methods, settings = self._equipment.methods, self.settings.scenario.measured_with
        again = measure(methods, settings, setups[point].at(place), place, point, first.measurement, {})
        if again.status != "done":
            view.tell(f"{place}: {again.status}: {again.reason}")
            return
        drift = Drift(place=first.place, testbed=testbed, first_fps=rate(first.result), again_fps=rate(again.result))
        if self.summary.drift is None:
            self.summary.drift = drift
        else:
            self.summary.other_drifts.append(drift)
        view.tell(f"{place}: {self.summary.drift_in_words(drift)}")

    def _setups_for(self, points: Sequence[Point], view: View) -> dict[Point, RecordedSetup]:
        """The devices that the points are about, in the set-ups that they need; others are ended first."""
        names = {point: setup_name(point, self.settings.testbeds.get(point.frames)) for point in points}
        self._close_setups(but=[*names.values()])
        scenario, raw = self.settings.scenario, self.folder / "raw"
        for point, name in names.items():
            if name not in self._setups:
                start = partial(self._equipment.start, scenario, point.device, point.stream.directions, raw)
                self._setups[name] = RecordedSetup(name, start, self.journal, view)
        return {point: self._setups[name] for point, name in names.items()}

    def _close_setups(self, but: Sequence[str] = ()) -> None:
        with contextlib.ExitStack() as closing:
            for name in [name for name in self._setups if name not in but]:
                closing.callback(self._setups.pop(name).close)

    def _confirm(self, trials: list[tuple[str, AnyResult]]) -> None:
        methods, findings = self._equipment.methods, self.summary.findings
        done = [(number, one) for number, one in enumerate(findings) if one.status == "done"]
        for number, finding in done:
            findings[number] = methods[finding.measurement].confirm(finding, trials)

    def _save(self, trials: list[tuple[str, AnyResult]] | None = None) -> None:
        self.summary.seconds = self._seconds_before + time.monotonic() - self._begin
        self.summary.trials = count_trials(self.journal.all_results() if trials is None else trials)
        write_campaign_summary(self.folder, self.summary)

    def _ends(self, status: Status, reason: str) -> None:
        self._ended_by = reason
        self.summary.status, self.summary.reason = status, resumable(reason, self.folder)

    def _verdict(self) -> tuple[Status, str | None]:
        failed = [finding for finding in self.summary.findings if finding.status == "failed"]
        if failed:
            reason = f"{len(failed)} measurements failed; the first is {failed[0].place}: {failed[0].reason}"
            return Status.FAILED, f"{reason}\nto try them again: {retry_command(self.folder)}"
        if all(finding.status == "skipped" for finding in self.summary.findings):
            return Status.FAILED, "nothing could be measured"
        return Status.PASSED, None


def _point_of(finding: Finding) -> Point:
    return Point(finding.device, finding.stream)


class _Noted(Progress):
    """Shows the measurements of a group, and keeps what they find."""

    def __init__(self, campaign: Campaign, view: View, times: dict[tuple[Point, Measurement], float | None]) -> None:
        self._campaign = campaign
        self._view = view
        self._times = times

    def begins(self, point: Point, test: Measurement) -> None:
        self._view.measurement_begins(f"{point.place}/{test}", self._times[point, test] or 0.0)

    def ended(self, finding: Finding) -> None:
        self._campaign.note(finding)
        found = finding.result or {}
        if finding.measurement is Measurement.THROUGHPUT and found.get("throughput_fps", 0.0) is None:
            self._campaign.expect_pauses(self._view, self._times)
        self._view.measurement_ended(finding)


def _failed(folder: Path, scenario: Scenario) -> list[str]:
    """The places of the measurements to repeat: those that have failed so far, and what stands on them.

    Raises `ResultsError` if there are none.
    """
    findings = read_campaign_summary(folder).findings if (folder / SUMMARY).exists() else []
    places = to_repeat(findings, scenario)
    if not places:
        raise ResultsError(nothing_failed(folder))
    return places


def to_repeat(findings: Sequence[Finding], scenario: Scenario) -> list[str]:
    """The places of the findings that have failed.

    With one load for all devices, also the latency of those whose load lacked the failed throughput of another.
    """
    same_load = side_by_side(scenario) and scenario.measured_with.latency.same_load
    failed = [one for one in findings if one.status == "failed"]
    without = {_point_of(one).frames for one in failed if one.measurement is Measurement.THROUGHPUT}
    return [
        one.place
        for one in findings
        if one in failed
        or (
            same_load
            and one.status == "done"
            and one.measurement is Measurement.LATENCY
            and _point_of(one).frames in without
        )
    ]


def nothing_failed(folder: Path) -> str:
    """Why nothing is measured again."""
    return f"no measurement in '{folder}' has failed: omit --retry-failed"


def retry_command(folder: Path) -> str:
    """What measures again what has failed."""
    return f"./x testbed resume {shlex.quote(str(folder))} --retry-failed"


def _unfinished(folder: Path, settings: CampaignSettings) -> CampaignSummary:
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
    """The reason for an end, and how to resume. The advice must not be lost after lines of a program's output."""
    between = "\n" if "\n" in reason else "; "
    return f"{reason}{between}all results so far are kept: continue with ./x testbed resume {shlex.quote(str(folder))}"
