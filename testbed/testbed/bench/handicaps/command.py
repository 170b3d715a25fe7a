# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The run of `./x bench handicaps`: counts, rates, table, and summary.json in a results folder."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from testbed.bench.count.gate import versions
from testbed.bench.handicaps.measurement import (
    HANDICAPS,
    PLAIN,
    PROGRAM,
    Handicap,
    count_handicap,
    empty_polls,
    find_handicap_program,
    measure_block,
    parts_of,
    ratio_to_plain,
)
from testbed.bench.handicaps.record import KIND, HandicapRecord, HandicapRow
from testbed.bench.handicaps.report import handicap_table, remarks, write_report
from testbed.command_line.console import say
from testbed.comparison.blocks import Protocol
from testbed.comparison.measurement import off_the_forwarders_cpu
from testbed.comparison.platform import Platform
from testbed.comparison.plugin import PluginError, build_plugin
from testbed.run.environment import record_environment
from testbed.run.lcores import LcorePlan
from testbed.run.programs import Program
from testbed.run.progress import Steps
from testbed.run.results_folder import new_results_folder, write_atomically
from testbed.run.scratch import scratch_folder
from testbed.run.signals import signals_as_interrupt


@dataclass(frozen=True)
class HandicapOptions:
    """The command line of `bench handicaps`, checked."""

    wires: tuple[str, ...]
    blocks: int
    protocol: Protocol
    seed: int
    hugepages: bool
    per_cpu_second: bool
    quick: bool
    lcores: LcorePlan
    generator: Program | None
    out: Path
    json: Path | None
    command: str


def run_handicaps(options: HandicapOptions, console: Console) -> bool:
    """Counts, measures and prints; whether every block counts.

    Raises `CountError`, `ProcessError`, `BinaryError`, `ProgramMissing` and `ResultsError`.
    """
    programs = {profile: find_handicap_program(profile) for profile in ("dist", "no-lto")}
    folder = new_results_folder(options.out, KIND)
    record = HandicapRecord(
        started=datetime.now(UTC),
        command=options.command,
        versions=versions(),
        quick=options.quick,
        hugepages=options.hugepages,
        per_cpu_second=options.per_cpu_second,
        seed=options.seed,
        environment=record_environment(
            [Program(f"{PROGRAM}, {profile}", "Rust", path) for profile, path in programs.items()], options.hugepages
        ),
    )
    for handicap in HANDICAPS:
        with console.status(f"counting: {handicap.label}"):
            record.rows.append(_counted_row(handicap, folder / "raw"))
    if options.blocks:
        _measure(options, record, folder / "raw", console)
    record.finished = datetime.now(UTC)
    text = record.model_dump_json() + "\n"
    for path in (folder / "summary.json", *([options.json] if options.json else [])):
        write_atomically(path, text)
    console.print(handicap_table(record).rich(console.width))
    report = write_report(folder, record)
    for remark in remarks(record):
        say(console, remark)
    say(console, f"{record.versions}\nResults: {folder}\nReport:  {report}")
    return not any(block.reasons for blocks in record.blocks.values() for block in blocks)


def _counted_row(handicap: Handicap, folder: Path) -> HandicapRow:
    return HandicapRow(
        label=handicap.label,
        options=list(handicap.options),
        profile=handicap.profile,
        instructions_per_packet=parts_of(count_handicap(handicap, folder)),
    )


def _measure(options: HandicapOptions, record: HandicapRecord, raw: Path, console: Console) -> None:
    """Fills in the blocks of each wire, and the ratios that come of them."""
    chance = random.Random(options.seed)
    with signals_as_interrupt(), scratch_folder() as runtime, off_the_forwarders_cpu(options.lcores):
        platform = Platform(options.lcores, options.hugepages, runtime, raw, options.generator, _plugin(console))
        with Steps(console, options.blocks * len(options.wires)) as steps:
            for wire in options.wires:
                record.blocks[wire] = []
                for number in range(1, options.blocks + 1):
                    steps.begin(f"{wire}, block {number} of {options.blocks}")
                    block = measure_block(number, HANDICAPS, wire, platform, options.protocol, chance, steps.tell)
                    record.blocks[wire].append(block)
                    steps.done()
    for row in record.rows:
        for wire, blocks in record.blocks.items():
            ratio = ratio_to_plain(blocks, row.label, options.per_cpu_second)
            if ratio is not None and row.label != PLAIN.label:
                row.rates[wire] = ratio
            share = empty_polls(blocks, row.label)
            if share is not None:
                row.empty_polls[wire] = share


def _plugin(console: Console) -> Path | None:
    """What counts empty polls."""
    try:
        return build_plugin()
    except PluginError as error:
        say(console, f"empty polls are not counted: {error}")
        return None
