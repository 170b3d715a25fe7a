# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A comparison of two devices of a scenario: the visits of `compare.py`, written down and resumed as a campaign is."""

from __future__ import annotations

import contextlib
import itertools
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field
from rich.console import Console

from testbed.campaign import compare
from testbed.campaign.backend import GeneratorError
from testbed.campaign.campaign import Workshop, nothing_failed, resumable
from testbed.campaign.compare import CompareSettings, Comparison, Figure, Measure, Visit
from testbed.campaign.csv_files import comparison_csv
from testbed.campaign.journal import JOURNAL, Journal, JournalError
from testbed.campaign.points import Point
from testbed.campaign.scenario import Measurement, Scenario
from testbed.campaign.sizes import Size, sizes_in_words
from testbed.campaign.summary import Finding
from testbed.campaign.validity import NotMeasured
from testbed.campaign.view import View, mega
from testbed.campaign.visits import Visits, both, place_of, rig_at
from testbed.demo import signals_as_interrupt
from testbed.process import ProcessError
from testbed.results import ResultsError, Status, new_results_folder, read_record, write_atomically

SETTINGS = "comparison.json"
VERDICT = "verdict.json"


class ComparisonSettings(BaseModel):
    """`comparison.json`: what the comparison was told."""

    model_config = ConfigDict(extra="forbid")

    schema_version: int = 1
    comparison: str = Field(default_factory=lambda: uuid.uuid4().hex)
    command: str
    scenario: Scenario
    compare: CompareSettings
    bin_dirs: list[Path] = Field(default_factory=list)
    programs: dict[str, str] = Field(default_factory=dict, description="SHA-256 of each program, by name")
    runs: list[datetime] = Field(default_factory=list, description="when it was begun, and resumed")
    testbeds: dict[Size, str] = Field(
        default_factory=dict, description="of a comparison over several testbeds, which of them measured which size"
    )

    def visits(self, spread: bool) -> list[Visit]:
        """All visits; over several testbeds size by size."""
        return list((compare.size_by_size if spread else compare.schedule)(self.compare))


class ComparisonVerdict(BaseModel):
    """`verdict.json`."""

    model_config = ConfigDict(extra="forbid")

    schema_version: int = 1
    status: Status
    reason: str | None = None
    command: str
    scenario: str
    preset: str
    sentence: str | None = None
    comparison: Comparison | None = None
    testbeds: dict[Size, str] = Field(
        default_factory=dict, description="of a comparison over several testbeds, which of them measured which size"
    )


class ComparisonRun:
    """One comparison in one results folder."""

    def __init__(self, folder: Path, settings: ComparisonSettings, journal: Journal, workshop: Workshop) -> None:
        self.folder = folder
        self.settings = settings
        self._journal = journal
        self._workshop = workshop

    @classmethod
    def create(cls, parent: Path, settings: ComparisonSettings, text: str, workshop: Workshop) -> ComparisonRun:
        """Makes the folder of a new comparison.

        Raises `ResultsError`, `JournalError`; `ProcessError` if another host cannot be reached.
        """
        environment = workshop.environment(settings.scenario)
        now = datetime.now(UTC)
        settings.runs.append(now)
        folder = new_results_folder(parent, "compare", now)
        write_atomically(folder / "scenario.yaml", text)
        _write(folder / SETTINGS, settings)
        _write(folder / "environment.json", environment)
        return cls(folder, settings, Journal.create(folder / JOURNAL, settings.comparison), workshop)

    @classmethod
    def resume(cls, folder: Path, workshop: Workshop, retry_failed: bool = False) -> ComparisonRun:
        """Opens the folder of a comparison that was cut short; blocks that are not whole can be measured again.

        Raises `ResultsError`, `JournalError`; `ProcessError` if another host cannot be reached.
        """
        settings = read_comparison_settings(folder)
        broken = broken_blocks(folder, settings) if retry_failed else {}
        environment = workshop.environment(settings.scenario)
        journal = Journal.resume(folder / JOURNAL, settings.comparison)
        if broken:
            journal.measure_again([place for places in broken.values() for place in places])
        settings.runs.append(datetime.now(UTC))
        _write(folder / SETTINGS, settings)
        number = len(settings.runs) - 1
        _write(folder / f"environment-resumed-{number}.json", environment)
        return cls(folder, settings, journal, workshop)

    @classmethod
    def gather(cls, folder: Path, settings: ComparisonSettings, workshop: Workshop) -> ComparisonRun:
        """Opens a folder whose journal was put together of what several testbeds have measured.

        Raises `ResultsError`, `JournalError`.
        """
        _write(folder / SETTINGS, settings)
        return cls(folder, settings, Journal.open(folder / JOURNAL, settings.comparison), workshop)

    def run(self, console: Console) -> ComparisonVerdict:
        """Runs to the verdict, or to the first thing that ends it."""
        visits = self.settings.visits(bool(self.settings.testbeds))
        times = _expected_s(self.settings, self._workshop)
        view = View(
            console,
            sum(len(visit.sizes) for visit in visits) * len(self.settings.compare.figures),
            sum(times[figure, size] for visit in visits for figure, size in _measured(self.settings, visit)),
        )
        made = Visits(
            self.settings.scenario, self.settings.compare, self._workshop, self._journal, self.folder / "raw", view
        )
        for warning in self._journal.warnings:
            view.tell(f"warning: {warning}")
        verdict = self._verdict(Status.PASSED)
        try:
            with signals_as_interrupt(), view:
                start = partial(self._start, made=made, view=view, times=times)
                found = compare.compare(self.settings.compare, start, visits)
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
            _write(self.folder / VERDICT, verdict)
            write_atomically(self.folder / "verdict.md", as_markdown(verdict))
            write_atomically(self.folder / "verdict.csv", comparison_csv(verdict.comparison, verdict.testbeds))
        except ResultsError as error:
            # The journal has everything; what could not be written is made of it again.
            view.tell(f"warning: {error}")

    @contextlib.contextmanager
    def _start(
        self, visit: Visit, made: Visits, view: View, times: Mapping[tuple[Figure, Size], float]
    ) -> Iterator[Measure]:
        """A freshly started device, and what measures its figures and tells so."""
        frames = self.settings.scenario.frames
        with made.start(visit, self._rig_name(visit)) as figure_at:

            def measure(figure: Figure, size: Size) -> float:
                place = place_of(visit, figure, size)
                view.measurement_begins(place, times[figure, size])
                finding = Finding(
                    place=place,
                    device=visit.device,
                    size=size,
                    directions=frames.directions[0],
                    flows=frames.flows[0],
                    measurement=Measurement(figure),
                    status="failed",
                )
                try:
                    value = figure_at(place, figure, size)
                    finding.status, finding.headline = "done", in_words(figure, value)
                    return value
                except (NotMeasured, GeneratorError) as error:
                    finding.reason = str(error)
                    raise
                finally:
                    view.measurement_ended(finding)

            yield measure

    def _rig_name(self, visit: Visit) -> str:
        name, testbeds = both(self.settings.scenario), self.settings.testbeds
        return rig_at(name, visit.sizes[0], testbeds[visit.sizes[0]]) if testbeds else name


def _measured(settings: ComparisonSettings, visit: Visit) -> list[tuple[Figure, Size]]:
    return [(figure, size) for size in visit.sizes for figure in settings.compare.figures]


def _expected_s(settings: ComparisonSettings, workshop: Workshop) -> dict[tuple[Figure, Size], float]:
    """How long it takes about to measure a figure at a size once."""
    frames, used = settings.scenario.frames, settings.scenario.measured_with
    # As many as a campaign has; here it is measured once.
    repeats = {Figure.FORWARDING_RATE: used.forwarding_rate.repeats, Figure.LATENCY: used.latency.repeats}
    found = {}
    for figure, size in itertools.product(settings.compare.figures, settings.compare.sizes):
        point = Point(settings.compare.a, size, frames.directions[0], frames.flows[0])
        seconds = workshop.expected_s(settings.scenario, point, Measurement(figure)) or 0.0
        found[figure, size] = seconds / repeats.get(figure, 1)
    return found


def plan_lines(settings: ComparisonSettings, workshop: Workshop, spread: bool = False) -> list[str]:
    """What is going to be measured, and how long that takes about."""
    told, visits, times = settings.compare, settings.visits(spread), _expected_s(settings, workshop)
    measured = [one for visit in visits for one in _measured(settings, visit)]
    seconds = sum(times[one] for one in measured)
    sizes = sizes_in_words(told.sizes)
    return [
        f"Scenario {settings.scenario.name}, preset {settings.scenario.preset}",
        f"Devices: {told.a} against itself, then against {told.b}, by {figures_in_words(told.figures)}, at {sizes}",
        f"{told.blocks} blocks of each: {len(visits)} starts, {len(measured)} measurements, "
        f"about {timedelta(seconds=round(seconds))}",
    ]


def figures_in_words(figures: Sequence[Figure]) -> str:
    """'forwarding rate and latency'."""
    return " and ".join(figure.replace("_", " ") for figure in figures)


def in_words(figure: Figure, value: float) -> str:
    """'2.3457 Mpps', or '12.34 µs'."""
    return f"{value / 1e3:.2f} µs" if figure is Figure.LATENCY else f"{mega(value)} Mpps"


def read_comparison_settings(folder: Path) -> ComparisonSettings:
    """Reads `comparison.json`.

    Raises `ResultsError`.
    """
    return read_record(folder / SETTINGS, ComparisonSettings, "the settings of a comparison", "a comparison")


def broken_blocks(folder: Path, settings: ComparisonSettings) -> dict[Size, list[str]]:
    """The places, by size, of all visits of the blocks that lack a figure.

    A block with one of its visits later than the others would not be interleaved: it is measured again as a whole.

    Raises `ResultsError` if there is none, or no verdict yet.
    """
    verdict = None
    if (folder / VERDICT).exists():
        verdict = read_record(folder / VERDICT, ComparisonVerdict, "a verdict", "a comparison")
    if verdict is None or verdict.comparison is None:
        raise ResultsError(
            f"the comparison in '{folder}' has not reached its verdict: go on with it first, without --retry-failed"
        )
    lacking = {(_block(failure.place), failure.size, failure.figure) for failure in verdict.comparison.failures}
    if not lacking:
        raise ResultsError(nothing_failed(folder))
    found: dict[Size, list[str]] = {}
    for visit in settings.visits(bool(settings.testbeds)):
        for figure, size in _measured(settings, visit):
            if (_block(visit.place), size, figure) in lacking:
                found.setdefault(size, []).append(place_of(visit, figure, size))
    return found


def _block(place: str) -> str:
    """'pair/block3': the block of a visit, as the journal has it."""
    return place.rpartition("/")[0]


def is_comparison(folder: Path) -> bool:
    """Whether a folder is that of a comparison."""
    return (folder / SETTINGS).exists()


def as_markdown(verdict: ComparisonVerdict) -> str:
    """The verdict for people."""
    lines = [f"# compare: {verdict.scenario}, preset {verdict.preset}", ""]
    if verdict.comparison is None:
        return "\n".join([*lines, f"{verdict.status}: {verdict.reason}", ""])
    told = verdict.comparison.settings
    lines += [verdict.sentence or "", "", f"Again with: `{verdict.command}`", ""]
    lines += [
        f"Ratios of {told.a} to {told.b}, above 1 where {told.a} is better; medians of blocks with 95 % intervals. The "
        f"noise is how far {told.a} seemed to differ from itself.",
        "",
    ]
    for figure in told.figures:
        columns = ["bytes", told.a, told.b, "ratio", "interval", "p", "noise", "verdict"]
        columns += ["testbed"] if verdict.testbeds else []
        lines += [f"## {figure.replace('_', ' ')}", "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
        for found in verdict.comparison.verdicts:
            if found.figure is figure:
                lines.append(_row(found, verdict.testbeds))
        lines.append("")
    if verdict.comparison.failures:
        lines += ["## not measured", ""]
        lines += [f"- {line}" for line in verdict.comparison.not_measured]
        lines.append("")
    return "\n".join(lines)


def _row(found: compare.SizeVerdict, testbeds: Mapping[int, str]) -> str:
    ratio = found.ratio
    cells = [
        str(found.size),
        *(in_words(found.figure, value) if value is not None else "–" for value in (found.a, found.b)),
        f"{ratio.median:.4f}" if ratio else "–",
        f"{ratio.ci95[0]:.4f} to {ratio.ci95[1]:.4f}" if ratio and ratio.ci95 else "–",
        f"{found.corrected_p:.4f}" if found.corrected_p is not None else "–",
        f"{100 * found.noise:.2f} %" if found.noise is not None else "–",
        found.verdict,
        *([testbeds[found.size]] if testbeds else []),
    ]
    return f"| {' | '.join(cells)} |"


def _write(path: Path, model: BaseModel) -> None:
    write_atomically(path, model.model_dump_json(indent=2) + "\n")
