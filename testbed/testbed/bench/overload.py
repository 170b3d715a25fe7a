# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`bench overload`: measures what was asked for, writes it down after each block, and says what it means."""

from __future__ import annotations

import contextlib
import os
import random
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from testbed.bench import evaluate, tables
from testbed.bench.blocks import Protocol, again, run_block
from testbed.bench.condition import VIRTUAL, Condition
from testbed.bench.contestants import Contestant, Setup
from testbed.bench.instance import Ground
from testbed.bench.plugin import PluginError, build_plugin
from testbed.bench.record import Measurement, OverloadRecord, write_record
from testbed.demo import signals_as_interrupt
from testbed.eal import EalOptions
from testbed.environment import record_environment
from testbed.lcores import LcorePlan
from testbed.programs import Program
from testbed.progress import Steps
from testbed.results import Status, new_results_folder
from testbed.scratch import scratch_folder

# After so many blocks that all went wrong the rest would too.
_HOPELESS_BLOCKS = 2


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
        words = ["./x", "bench", "overload", *self.words]
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
        # Interrupted until proven otherwise: this is what a reader finds if this program is killed.
        self.record = OverloadRecord(
            status=Status.INTERRUPTED,
            reason="it did not reach its end",
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
        self._warn(*self.options.lcores.warnings)
        if not self.options.hugepages:
            self._warn("without hugepages: rates are lower")
        self._save()
        with signals_as_interrupt(), scratch_folder() as runtime, off_the_forwarders_cpu(self.options.lcores):
            ground = self._ground(runtime)
            try:
                with Steps(self.console, self.options.blocks * len(self.options.conditions)) as steps:
                    for number, (condition, sweep) in enumerate(self.options.conditions, start=1):
                        self._measure(number, condition, sweep, ground, steps)
            except KeyboardInterrupt:
                self._warn("interrupted: reporting what there is")
                self.record.reason = "interrupted: what was measured until then is below"
            else:
                self.record.status, self.record.reason = self._outcome()
        self.record.finished = datetime.now(UTC)
        self._save()
        tables.print_record(self.console, self.record)
        self._tell_where()
        return self.record.status

    def _ground(self, runtime: Path) -> Ground:
        plugin = None
        try:
            plugin = build_plugin()
        except PluginError as error:
            self._warn(f"no average bursts, no empty polls, no refused frames: {error}")
        options = self.options
        return Ground(options.lcores, options.hugepages, runtime, self.folder / "raw", options.generator, plugin)

    def _measure(self, number: int, condition: Condition, sweep: str | None, ground: Ground, steps: Steps) -> None:
        able, skipped = able_contestants(self.options.contestants, condition, ground)
        labels = [*(contestant.name for contestant in able), *([again(able[0].name)] if able else [])]
        measurement = Measurement(condition=condition, sweep=sweep, labels=labels, skipped=skipped)
        self.record.measurements.append(measurement)
        for name, reason in skipped.items():
            self._warn(f"{measurement.describe()}: without {name}: {reason}")
        if not able:
            return
        # Of its own for each condition: one more or less does not change the order of the others.
        chance = random.Random(f"{self.options.seed}-{number}")
        for block_number in range(1, self.options.blocks + 1):
            steps.begin(f"{measurement.describe()}, block {block_number} of {self.options.blocks}")
            block, tsc_hz = run_block(
                block_number,
                able,
                condition,
                ground,
                self.options.protocol,
                chance,
                steps.tell,
                f"{number}-" if len(self.options.conditions) > 1 else "",
            )
            self.record.tsc_hz = self.record.tsc_hz or tsc_hz
            for reason in block.reasons:
                self._warn(f"block {block_number} does not count: {reason}")
            if not block.reasons and evaluate.is_disturbed(block):
                block.notes.append("disturbed: other programs had more than a tenth of the CPUs in most slices")
            measurement.blocks.append(block)
            self._conclude()
            self._save()
            steps.done()
            if len(measurement.blocks) >= _HOPELESS_BLOCKS and all(block.reasons for block in measurement.blocks):
                self._warn(f"{measurement.describe()}: given up after {len(measurement.blocks)} blocks without result")
                return

    def _conclude(self) -> None:
        record = self.record
        record.pairs, record.noise_floor = [], []
        for measurement in record.measurements:
            measurement.figures = evaluate.figures(measurement, record.tsc_hz)
            compared, floor = evaluate.pairs(measurement, record.per_cpu_second)
            record.pairs += compared
            record.noise_floor += floor

    def _outcome(self) -> tuple[Status, str | None]:
        blocks = [block for measurement in self.record.measurements for block in measurement.blocks]
        lost = sum(1 for block in blocks if block.reasons)
        if not blocks:
            return Status.FAILED, "no contestant can do what was asked"
        if lost:
            return Status.FAILED, f"{lost} of {len(blocks)} blocks do not count"
        return Status.PASSED, None

    def _save(self) -> None:
        write_record(self.folder / "summary.json", self.record)
        if self.options.json:
            write_record(self.options.json, self.record)

    def _tell_where(self) -> None:
        from testbed.bench.report import write_report

        written = write_report(self.folder)
        self.console.print(f"\nResults: {self.folder}\nReport:  {written}", highlight=False, soft_wrap=True)

    def _warn(self, *messages: str) -> None:
        for message in messages:
            self.console.print("[yellow]warning:[/]", end=" ")
            self.console.print(message, highlight=False, markup=False, soft_wrap=True)


def able_contestants(
    contestants: list[Contestant], condition: Condition, ground: Ground
) -> tuple[list[Contestant], dict[str, str]]:
    """Those that can do what is asked, and why the others cannot."""
    eal = EalOptions(ground.lcores.forwarder, "probe", (), ground.hugepages)
    setup = Setup(
        eal,
        (ground.lcores.forwarder,),
        ground.lcores.generator,
        condition.ports,
        condition.queues,
        condition.burst,
        condition.descriptors,
    )
    able, skipped = [], {}
    for contestant in contestants:
        reason = contestant.refuses(setup)
        if reason is None and condition.drops and not contestant.is_shared:
            reason = "frames are refused by a plug-in, which only a program with DPDK's shared libraries can load"
        if reason is None and condition.drops and ground.plugin is None:
            reason = "the plug-in that refuses frames could not be built"
        if reason is None:
            able.append(contestant)
        else:
            skipped[contestant.name] = reason
    return able, skipped


@contextlib.contextmanager
def off_the_forwarders_cpu(lcores: LcorePlan) -> Iterator[None]:
    """Keeps this program, and what it starts, off the CPU of the forwarder; DPDK puts its lcores where they belong."""
    before = os.sched_getaffinity(0)
    others = before - {lcores.forwarder}
    if others:
        os.sched_setaffinity(0, others)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
