# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A comparison of two devices of a scenario: the visits of `compare.py`, written down and resumed as a campaign is."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field
from rich.console import Console

from testbed.campaign import compare
from testbed.campaign.backend import GeneratorError
from testbed.campaign.campaign import Workshop, resumable
from testbed.campaign.compare import CompareSettings, Comparison, Figure, Measure, Visit
from testbed.campaign.journal import JOURNAL, Journal, JournalError
from testbed.campaign.measurements.forwarding_rate import measure_forwarding_rate
from testbed.campaign.measurements.latency import measure_latency
from testbed.campaign.measurements.throughput import measure_throughput
from testbed.campaign.points import Point
from testbed.campaign.presets import PRESETS
from testbed.campaign.recorder import RecordedGenerator, Rig
from testbed.campaign.scenario import Device, Measurement, Scenario
from testbed.campaign.summary import Finding
from testbed.campaign.trial import Stream
from testbed.campaign.validity import NotMeasured, Trials
from testbed.campaign.view import View
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

    def stream(self, size: int) -> Stream:
        """The frames of this size: the scenario's first number of directions and of flows."""
        frames = self.scenario.frames
        return Stream(size=size, directions=frames.directions[0], flows=frames.flows[0])


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
    def resume(cls, folder: Path, workshop: Workshop) -> ComparisonRun:
        """Opens the folder of a comparison that was cut short.

        Raises `ResultsError`, `JournalError`; `ProcessError` if another host cannot be reached.
        """
        settings = read_comparison_settings(folder)
        environment = workshop.environment(settings.scenario)
        journal = Journal.resume(folder / JOURNAL, settings.comparison)
        settings.runs.append(datetime.now(UTC))
        _write(folder / SETTINGS, settings)
        number = len(settings.runs) - 1
        _write(folder / f"environment-resumed-{number}.json", environment)
        return cls(folder, settings, journal, workshop)

    def run(self, console: Console) -> ComparisonVerdict:
        """Runs to the verdict, or to the first thing that ends it."""
        told = self.settings.compare
        visits = list(compare.schedule(told))
        times = {(figure, size): self._expected_s(figure, size) for figure in told.figures for size in told.sizes}
        view = View(console, len(visits) * len(times), len(visits) * sum(times.values()))
        for warning in self._journal.warnings:
            view.tell(f"warning: {warning}")
        verdict = ComparisonVerdict(
            status=Status.PASSED,
            command=self.settings.command,
            scenario=self.settings.scenario.name,
            preset=self.settings.scenario.preset,
        )
        try:
            with signals_as_interrupt(), view:
                found = compare.compare(told, lambda visit: self._start(visit, view, times))
            verdict.comparison, verdict.sentence = found, found.sentence
        except KeyboardInterrupt:
            verdict.status, verdict.reason = Status.INTERRUPTED, resumable("interrupted", self.folder)
        except (GeneratorError, JournalError, ProcessError, ResultsError) as error:
            verdict.status, verdict.reason = Status.FAILED, resumable(str(error), self.folder)
        finally:
            self._journal.close()
        try:
            _write(self.folder / VERDICT, verdict)
            write_atomically(self.folder / "verdict.md", as_markdown(verdict))
        except ResultsError as error:
            # The journal has everything; what could not be written is made of it again.
            view.tell(f"warning: {error}")
        return verdict

    @contextlib.contextmanager
    def _start(self, visit: Visit, view: View, times: Mapping[tuple[Figure, int], float]) -> Iterator[Measure]:
        """A freshly started device, and what measures its figures."""
        scenario, directions = self._seeded(visit), self.settings.scenario.frames.directions[0]
        # One name for all: what the generator could do at first is the load for both devices, at every visit.
        rig = Rig(
            f"both/{directions}way",
            lambda: self._workshop.start(scenario, visit.device, directions, self.folder / "raw"),
            self._journal,
            view,
        )

        def measure(figure: Figure, size: int) -> float:
            place = f"{visit.place}/{size}B/{figure}"
            view.measurement_begins(place, times[figure, size])
            finding = Finding(
                place=place,
                device=visit.device,
                size=size,
                directions=directions,
                flows=self.settings.scenario.frames.flows[0],
                measurement=Measurement(figure),
                status="failed",
            )
            try:
                value = self._figure(rig.at(place), figure, size)
                finding.status, finding.headline = "done", f"{value:,.6g}"
                return value
            except (NotMeasured, GeneratorError) as error:
                finding.reason = str(error)
                raise
            finally:
                view.measurement_ended(finding)

        try:
            yield measure
        finally:
            rig.close()

    def _seeded(self, visit: Visit) -> Scenario:
        """A simulated device has its own chance at each visit, as a real one has at each start."""
        scenario = self.settings.scenario
        number = [each.place for each in compare.schedule(self.settings.compare)].index(visit.place)

        def seeded(device: Device) -> Device:
            if device.model is None:
                return device
            model = device.model.model_copy(update={"seed": device.model.seed + 1_000_003 * (number + 1)})
            return device.model_copy(update={"model": model})

        return scenario.model_copy(update={"devices": [seeded(device) for device in scenario.devices]})

    def _figure(self, generator: RecordedGenerator, figure: Figure, size: int) -> float:
        trials, stream = Trials(generator), self.settings.stream(size)
        preset = PRESETS[self.settings.scenario.preset]
        if figure is Figure.FORWARDING_RATE:
            once = preset.forwarding_rate.model_copy(update={"repeats": 1})
            return measure_forwarding_rate(trials, stream, once).forwarded_fps.mean
        if figure is Figure.THROUGHPUT:
            return measure_throughput(trials, stream, preset.throughput).throughput_fps
        load = self.settings.compare.latency_share * trials.capabilities().max_fps(size)
        found = measure_latency(trials, stream, load, preset.latency.model_copy(update={"repeats": 1, "share": 1.0}))
        if found.lossy:
            raise NotMeasured(f"frames were lost at {load:.0f} frames/s: compare latency at a lower share")
        return found.average_ns.mean

    def _expected_s(self, figure: Figure, size: int) -> float:
        frames, name = self.settings.scenario.frames, self.settings.compare.a
        point = Point(name, size, frames.directions[0], frames.flows[0])
        expected = self._workshop.expected_s(self.settings.scenario, point, Measurement(figure)) or 0.0
        # As the preset has them; here it is measured once.
        preset = PRESETS[self.settings.scenario.preset]
        repeats = {Figure.FORWARDING_RATE: preset.forwarding_rate.repeats, Figure.LATENCY: preset.latency.repeats}
        return expected / repeats.get(figure, 1)


def read_comparison_settings(folder: Path) -> ComparisonSettings:
    """Reads `comparison.json`.

    Raises `ResultsError`.
    """
    return read_record(folder / SETTINGS, ComparisonSettings, "the settings of a comparison", "a comparison")


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
        lines += [f"## {figure.replace('_', ' ')}", "", "| bytes | ratio | interval | p | noise | verdict |"]
        lines += ["|---|---|---|---|---|---|"]
        for found in verdict.comparison.verdicts:
            if found.figure is figure:
                lines.append(_row(found))
        lines.append("")
    if verdict.comparison.failures:
        lines += ["## not measured", ""]
        lines += [f"- {one.place}, {one.size} bytes, {one.figure}: {one.reason}" for one in verdict.comparison.failures]
        lines.append("")
    return "\n".join(lines)


def _row(found: compare.SizeVerdict) -> str:
    ratio = found.ratio
    cells = [
        str(found.size),
        f"{ratio.median:.4f}" if ratio else "–",
        f"{ratio.ci95[0]:.4f} to {ratio.ci95[1]:.4f}" if ratio and ratio.ci95 else "–",
        f"{found.corrected_p:.4f}" if found.corrected_p is not None else "–",
        f"{100 * found.noise:.2f} %" if found.noise is not None else "–",
        found.verdict,
    ]
    return f"| {' | '.join(cells)} |"


def _write(path: Path, model: BaseModel) -> None:
    write_atomically(path, model.model_dump_json(indent=2) + "\n")
