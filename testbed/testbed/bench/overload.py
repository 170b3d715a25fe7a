# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`bench overload`: runs the comparison, records it after each block, and reports the verdict."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from testbed.bench.record import OverloadRecord, write_record
from testbed.command_line.console import say, say_warning
from testbed.comparison.blocks import Protocol
from testbed.comparison.condition import VIRTUAL, Condition
from testbed.comparison.contestants import Contestant
from testbed.comparison.measurement import Comparison, off_the_forwarders_cpu
from testbed.comparison.noise_floor import floor_in_words
from testbed.comparison.platform import Platform
from testbed.comparison.plugin import PluginError, build_plugin
from testbed.comparison.tables import figure_table, pair_table, remarks
from testbed.run.environment import record_environment
from testbed.run.lcores import LcorePlan
from testbed.run.programs import Program
from testbed.run.progress import Steps
from testbed.run.results_folder import Status, new_results_folder
from testbed.run.scratch import scratch_folder
from testbed.run.signals import signals_as_interrupt


@dataclass(frozen=True)
class OverloadOptions:
    """The command line of `bench overload`, checked."""

    contestants: list[Contestant]
    # A condition and the sweep that it belongs to.
    conditions: list[tuple[Condition, str | None]]
    protocol: Protocol
    blocks: int
    seed: int
    hugepages: bool
    per_cpu_second: bool
    quick: bool
    lcores: LcorePlan
    generator: Program | None
    out: Path
    json: Path | None
    # The command line as it was given.
    words: list[str] = field(default_factory=list)

    def command(self) -> str:
        """The command that repeats this run in the same order."""
        words = list(self.words)
        words += [] if any(word.startswith("--seed") for word in words) else [f"--seed={self.seed}"]
        words += [] if self.hugepages or "--no-hugepages" in words else ["--no-hugepages"]
        return shlex.join(words)


class Overload:
    """One run into one results folder."""

    def __init__(self, options: OverloadOptions, console: Console) -> None:
        self.options = options
        self.console = console
        self.folder = new_results_folder(options.out, "bench-overload")
        programs = [contestant.program for contestant in options.contestants if contestant.program]
        if options.generator and any(condition.wire == VIRTUAL for condition, _ in options.conditions):
            programs.append(options.generator)
        self._comparisons: list[Comparison] = []
        # Interrupted until proven otherwise: this is what a reader finds if this program is killed.
        self.record = OverloadRecord(
            status=Status.INTERRUPTED,
            reason="the run did not finish",
            started=datetime.now(UTC),
            command=options.command(),
            quick=options.quick,
            hugepages=options.hugepages,
            per_cpu_second=options.per_cpu_second,
            blocks=options.blocks,
            rounds=options.protocol.rounds,
            slice_ms=1000 * options.protocol.slice_s,
            seed=options.seed,
            lcores={"generator": options.lcores.generator, "forwarder": options.lcores.forwarder},
            environment=record_environment(programs, options.hugepages),
        )

    def run(self) -> Status:
        """Measures, prints the tables and writes the report."""
        say_warning(self.console, *self.options.lcores.warnings)
        if not self.options.hugepages:
            say_warning(self.console, "without hugepages: rates are lower")
        self._save()
        with signals_as_interrupt(), scratch_folder() as runtime, off_the_forwarders_cpu(self.options.lcores):
            platform = self._platform(runtime)
            try:
                with Steps(self.console, self.options.blocks * len(self.options.conditions)) as steps:
                    for number, (condition, sweep) in enumerate(self.options.conditions, start=1):
                        self._measure(number, condition, sweep, platform, steps)
            except KeyboardInterrupt:
                say_warning(self.console, "interrupted: reporting the results so far")
                self.record.reason = "interrupted: the results so far are below"
            else:
                self.record.status, self.record.reason = self._outcome()
        self.record.finished = datetime.now(UTC)
        self._save()
        self._print()
        return self.record.status

    def _platform(self, runtime: Path) -> Platform:
        plugin = None
        try:
            plugin = build_plugin()
        except PluginError as error:
            say_warning(self.console, f"no average bursts, no empty polls, no refused frames: {error}")
        options = self.options
        return Platform(options.lcores, options.hugepages, runtime, self.folder / "raw", options.generator, plugin)

    def _measure(self, number: int, condition: Condition, sweep: str | None, platform: Platform, steps: Steps) -> None:
        options = self.options
        # A seed of its own for each condition: one more or less does not change the order of the others.
        comparison = Comparison(
            options.contestants,
            condition,
            platform,
            options.protocol,
            f"{options.seed}-{number}",
            sweep,
            f"{number}-" if len(options.conditions) > 1 else "",
        )
        measurement = comparison.measurement
        self._comparisons.append(comparison)
        self.record.measurements.append(measurement)
        for name, reason in measurement.skipped.items():
            say_warning(self.console, f"{measurement.describe()}: without {name}: {reason}")
        steps.begin(measurement.describe())
        for block in comparison.blocks(options.blocks, steps.tell):
            for reason in block.reasons:
                say_warning(self.console, f"block {block.number} is invalid: {reason}")
            self._conclude()
            self._save()
            steps.done()
        if comparison.is_hopeless:
            say_warning(
                self.console,
                f"{measurement.describe()}: stopped after {len(measurement.blocks)} blocks without a result",
            )

    def _conclude(self) -> None:
        record = self.record
        record.pairs, record.noise_floor = [], []
        for comparison in self._comparisons:
            record.tsc_hz = record.tsc_hz or comparison.tsc_hz
            compared, floor = comparison.conclude(record.per_cpu_second)
            record.pairs += compared
            record.noise_floor += floor

    def _outcome(self) -> tuple[Status, str | None]:
        blocks = [block for measurement in self.record.measurements for block in measurement.blocks]
        lost = sum(1 for block in blocks if block.reasons)
        if not blocks:
            return Status.FAILED, "no contestant supports these settings"
        if lost:
            return Status.FAILED, f"{lost} of {len(blocks)} blocks are invalid"
        return Status.PASSED, None

    def _save(self) -> None:
        write_record(self.folder / "summary.json", self.record)
        if self.options.json:
            write_record(self.options.json, self.record)

    def _print(self) -> None:
        """Prints all results, and writes the report."""
        from testbed.bench.report import write_report

        record, console = self.record, self.console
        for measurement in record.measurements:
            if measurement.figures:
                console.print()
                console.print(figure_table(measurement).rich(console.width))
        if record.pairs:
            unit = "frames per second of CPU time" if record.per_cpu_second else "frames per second"
            console.print(pair_table(record.pairs, f"Pairs: ratio of {unit}").rich(console.width))
        lines = [*map(floor_in_words, record.noise_floor), *remarks(record.measurements, record.per_cpu_second)]
        for line in lines:
            say(console, f"  {line}")
        written = write_report(self.folder)
        say(console, f"\nResults: {self.folder}\nReport:  {written}")
