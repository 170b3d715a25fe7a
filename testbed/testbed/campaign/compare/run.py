# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A comparison of two devices of a scenario: the DUT runs of its schedule, recorded and resumed as a campaign is."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from rich.console import Console

from testbed.campaign.campaign import nothing_failed, resumable
from testbed.campaign.compare.dut_runs import DutRunner, both, place_of, setup_at
from testbed.campaign.compare.schedule import DutRun, Figure
from testbed.campaign.compare.settings import SETTINGS, ComparisonSettings, read_comparison_settings
from testbed.campaign.compare.size_verdict import DutFigure, Measure, compare
from testbed.campaign.compare.verdict_file import VERDICT, ComparisonVerdict, as_markdown, figures_in_words, in_words
from testbed.campaign.csv_files import comparison_csv
from testbed.campaign.equipment import Equipment
from testbed.campaign.journal import JOURNAL, Journal, JournalError
from testbed.campaign.points import Point
from testbed.campaign.progress_view import View
from testbed.campaign.scenario import Measurement
from testbed.campaign.sizes import Size, sizes_in_words
from testbed.campaign.summary import Finding
from testbed.campaign.traffic_generator import GeneratorError
from testbed.campaign.validity import NotMeasured
from testbed.run.process import ProcessError
from testbed.run.results_folder import (
    ResultsError,
    Status,
    new_results_folder,
    read_record,
    write_atomically,
    write_model,
)
from testbed.run.signals import signals_as_interrupt


class ComparisonRun:
    """One comparison in one results folder."""

    def __init__(self, folder: Path, settings: ComparisonSettings, journal: Journal, equipment: Equipment) -> None:
        self.folder = folder
        self.settings = settings
        self._journal = journal
        self._equipment = equipment

    @classmethod
    def create(cls, parent: Path, settings: ComparisonSettings, text: str, equipment: Equipment) -> ComparisonRun:
        """Makes the folder of a new comparison.

        Raises `ResultsError`, `JournalError`; `ProcessError` if another host cannot be reached.
        """
        environment = equipment.environment(settings.scenario)
        now = datetime.now(UTC)
        settings.runs.append(now)
        folder = new_results_folder(parent, "compare", now)
        write_atomically(folder / "scenario.yaml", text)
        write_model(folder / SETTINGS, settings)
        write_model(folder / "environment.json", environment)
        return cls(folder, settings, Journal.create(folder / JOURNAL, settings.comparison), equipment)

    @classmethod
    def resume(cls, folder: Path, equipment: Equipment, retry_failed: bool = False) -> ComparisonRun:
        """Opens the folder of an interrupted comparison. Incomplete blocks can be repeated.

        Raises `ResultsError`, `JournalError`; `ProcessError` if another host cannot be reached.
        """
        settings = read_comparison_settings(folder)
        broken = broken_blocks(folder, settings) if retry_failed else {}
        environment = equipment.environment(settings.scenario)
        journal = Journal.resume(folder / JOURNAL, settings.comparison)
        if broken:
            journal.measure_again([place for places in broken.values() for place in places])
        settings.runs.append(datetime.now(UTC))
        write_model(folder / SETTINGS, settings)
        number = len(settings.runs) - 1
        write_model(folder / f"environment-resumed-{number}.json", environment)
        return cls(folder, settings, journal, equipment)

    @classmethod
    def gather(cls, folder: Path, settings: ComparisonSettings, equipment: Equipment) -> ComparisonRun:
        """Opens a folder whose journal was put together of what several testbeds have measured.

        Raises `ResultsError`, `JournalError`.
        """
        write_model(folder / SETTINGS, settings)
        return cls(folder, settings, Journal.open(folder / JOURNAL, settings.comparison), equipment)

    def run(self, console: Console, shown: Callable[[View], None] | None = None) -> ComparisonVerdict:
        """Runs to the verdict, or to the first thing that ends it; `shown` gets what shows its progress."""
        dut_runs = self.settings.dut_runs(bool(self.settings.testbeds))
        times = _expected_s(self.settings, self._equipment)
        view = View(
            console,
            sum(len(dut_run.sizes) for dut_run in dut_runs) * len(self.settings.compare.figures),
            sum(times[figure, size] for dut_run in dut_runs for figure, size in _measured(self.settings, dut_run)),
        )
        if shown is not None:
            shown(view)
        runner = DutRunner(
            self.settings.scenario, self.settings.compare, self._equipment, self._journal, self.folder / "raw", view
        )
        for warning in self._journal.warnings:
            view.tell(f"warning: {warning}")
        verdict = self._verdict(Status.PASSED)
        try:
            with signals_as_interrupt(), view:
                start = partial(self._start, runner=runner, view=view, times=times)
                found = compare(self.settings.compare, start, dut_runs)
            verdict.comparison, verdict.sentence = found, found.sentence
        except KeyboardInterrupt:
            verdict = self._verdict(Status.INTERRUPTED, "interrupted")
        except (GeneratorError, JournalError, ProcessError, ResultsError) as error:
            verdict = self._verdict(Status.FAILED, str(error))
        finally:
            self._journal.close()
        self._write_verdict(verdict, view)
        return verdict

    def close(self) -> None:
        """Lets others have its journal."""
        self._journal.close()

    def ends(self, console: Console, status: Status, reason: str) -> ComparisonVerdict:
        """Ends it without a verdict: something is missing."""
        self._journal.close()
        verdict = self._verdict(status, reason)
        self._write_verdict(verdict, View(console, 0, None))
        return verdict

    def _verdict(self, status: Status, reason: str | None = None) -> ComparisonVerdict:
        return ComparisonVerdict(
            status=status,
            reason=resumable(reason, self.folder) if reason is not None else None,
            command=self.settings.command,
            scenario=self.settings.scenario.name,
            preset=self.settings.scenario.preset,
            testbeds=self.settings.testbeds,
        )

    def _write_verdict(self, verdict: ComparisonVerdict, view: View) -> None:
        try:
            write_model(self.folder / VERDICT, verdict)
            write_atomically(self.folder / "verdict.md", as_markdown(verdict))
            write_atomically(self.folder / "verdict.csv", comparison_csv(verdict.comparison, verdict.testbeds))
        except ResultsError as error:
            # The journal has everything; what could not be written is made of it again.
            view.tell(f"warning: {error}")

    @contextlib.contextmanager
    def _start(
        self, dut_run: DutRun, runner: DutRunner, view: View, times: Mapping[tuple[Figure, Size], float]
    ) -> Iterator[Measure]:
        """A freshly started device, and the function that measures its figures and reports progress."""
        frames = self.settings.scenario.frames
        with runner.start(dut_run, self._setup_name(dut_run)) as figure_at:

            def measure(figure: Figure, size: Size) -> DutFigure:
                place = place_of(dut_run, figure, size)
                view.measurement_begins(place, times[figure, size])
                finding = Finding(
                    place=place,
                    device=dut_run.device,
                    **frames.first_stream(size).frames,
                    measurement=Measurement(figure),
                    status="failed",
                )
                try:
                    found = figure_at(place, figure, size)
                    finding.status = "done"
                    finding.headline = in_words(figure, found.value, at_least=found.at_least)
                    return found
                except (NotMeasured, GeneratorError) as error:
                    finding.reason = str(error)
                    raise
                finally:
                    view.measurement_ended(finding)

            yield measure

    def _setup_name(self, dut_run: DutRun) -> str:
        name, testbeds = both(self.settings.scenario), self.settings.testbeds
        return setup_at(name, dut_run.sizes[0], testbeds[dut_run.sizes[0]]) if testbeds else name


def _measured(settings: ComparisonSettings, dut_run: DutRun) -> list[tuple[Figure, Size]]:
    return [(figure, size) for size in dut_run.sizes for figure in settings.compare.figures]


def _expected_s(settings: ComparisonSettings, equipment: Equipment) -> dict[tuple[Figure, Size], float]:
    """How long it takes about to measure a figure at a size once."""
    used = settings.scenario.measured_with
    # As many as a campaign has; here it is measured once.
    repeats = {Figure.FORWARDING_RATE: used.forwarding_rate.repeats, Figure.LATENCY: used.latency.repeats}
    found = {}
    for figure, size in itertools.product(settings.compare.figures, settings.compare.sizes):
        point = Point(settings.compare.a, settings.scenario.frames.first_stream(size))
        seconds = equipment.expected_s(settings.scenario, point, Measurement(figure)) or 0.0
        found[figure, size] = seconds / repeats.get(figure, 1)
    return found


def plan_lines(settings: ComparisonSettings, equipment: Equipment, spread: bool = False) -> list[str]:
    """What is going to be measured, and how long that takes about."""
    told, dut_runs, times = settings.compare, settings.dut_runs(spread), _expected_s(settings, equipment)
    measured = [one for dut_run in dut_runs for one in _measured(settings, dut_run)]
    seconds = sum(times[one] for one in measured)
    sizes = sizes_in_words(told.sizes)
    return [
        f"Scenario {settings.scenario.name}, preset {settings.scenario.preset}",
        f"Devices: {told.a} against {told.b} and against itself, by {figures_in_words(told.figures)}, at {sizes}",
        f"{told.blocks} blocks: {len(dut_runs)} starts, {len(measured)} measurements, "
        f"about {timedelta(seconds=round(seconds))}",
    ]


def broken_blocks(folder: Path, settings: ComparisonSettings) -> dict[Size, list[str]]:
    """The places, by size, of all DUT runs of the blocks that lack a figure.

    A block with one of its runs later than the others would not be interleaved: it is measured again as a whole.

    Raises `ResultsError` if there is none, or no verdict yet.
    """
    verdict = None
    if (folder / VERDICT).exists():
        verdict = read_record(folder / VERDICT, ComparisonVerdict, "a verdict", "a comparison")
    if verdict is None or verdict.comparison is None:
        raise ResultsError(f"the comparison in '{folder}' has no verdict yet: resume it first, without --retry-failed")
    lacking = {(_block(failure.place), failure.size, failure.figure) for failure in verdict.comparison.failures}
    if not lacking:
        raise ResultsError(nothing_failed(folder))
    found: dict[Size, list[str]] = {}
    for dut_run in settings.dut_runs(bool(settings.testbeds)):
        for figure, size in _measured(settings, dut_run):
            if (_block(dut_run.place), size, figure) in lacking:
                found.setdefault(size, []).append(place_of(dut_run, figure, size))
    return found


def _block(place: str) -> str:
    """'block3': the block of a dut_run, as the journal has it."""
    return place.rpartition("/")[0]
