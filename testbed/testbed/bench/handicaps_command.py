# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The run of `./x bench handicaps`: counts, rates, table, and summary.json in a results folder."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field
from rich.console import Console
from rich.table import Table

from testbed.bench.blocks import Protocol
from testbed.bench.figures import versions
from testbed.bench.handicaps import (
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
from testbed.bench.instance import Ground
from testbed.bench.overload import off_the_forwarders_cpu
from testbed.bench.plugin import PluginError, build_plugin
from testbed.bench.record import Block
from testbed.bench.verdict import PairRatio
from testbed.demo import signals_as_interrupt
from testbed.environment import Environment, record_environment
from testbed.lcores import LcorePlan
from testbed.overload import IDLE_SHARE
from testbed.programs import Program
from testbed.progress import Steps
from testbed.results import Record, new_results_folder, write_atomically
from testbed.scratch import scratch_folder

SCHEMA_VERSION = 1
KIND = "bench-handicaps"


class HandicapRow(Record):
    """What one handicap does."""

    label: str
    options: list[str]
    profile: str = Field(description="cargo's")
    instructions_per_packet: dict[str, float]
    rates: dict[str, PairRatio] = Field(default_factory=dict, description="by wire: rate / rate of the plain loop")
    empty_polls: dict[str, float] = Field(default_factory=dict, description="by wire: share of polls without a packet")


class HandicapRecord(Record):
    """`summary.json`."""

    schema_version: int = SCHEMA_VERSION
    kind: str = KIND
    started: datetime
    finished: datetime | None = None
    command: str
    versions: str
    quick: bool
    hugepages: bool
    per_cpu_second: bool
    seed: int
    environment: Environment
    rows: list[HandicapRow] = Field(default_factory=list)
    blocks: dict[str, list[Block]] = Field(default_factory=dict, description="by wire")


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
    programs = {profile: find_handicap_program(profile) for profile in ("release", "no-lto")}
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
    console.print(table_of(record, options.wires))
    for wire in waiting(record):
        share = 100 * record.rows[0].empty_polls[wire]
        what = f"{share:.0f} % of the plain loop's polls found nothing, so its rate is what the generator could send"
        console.print(f"{wire}: not overloaded: {what}", highlight=False)
    reasons = [reason for blocks in record.blocks.values() for block in blocks for reason in block.reasons]
    for reason in reasons:
        console.print(f"a block does not count: {reason}", markup=False, highlight=False)
    console.print(f"{record.versions}; results: {folder}", highlight=False, soft_wrap=True)
    return not reasons


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
        ground = Ground(options.lcores, options.hugepages, runtime, raw, options.generator, _plugin(console))
        with Steps(console, options.blocks * len(options.wires)) as steps:
            for wire in options.wires:
                record.blocks[wire] = []
                for number in range(1, options.blocks + 1):
                    steps.begin(f"{wire}, block {number} of {options.blocks}")
                    block = measure_block(number, HANDICAPS, wire, ground, options.protocol, chance, steps.tell)
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
        console.print(f"empty polls are not counted: {error}", markup=False, highlight=False)
        return None


def waiting(record: HandicapRecord) -> list[str]:
    """Of which wires nothing can be learned, since the loop waited for packets."""
    plain = record.rows[0].empty_polls
    return [wire for wire, share in plain.items() if share > IDLE_SHARE]


def table_of(record: HandicapRecord, wires: tuple[str, ...]) -> Table:
    """One row a handicap; rates as shares of the plain loop's, with their intervals."""
    table = Table(title="Instructions per packet, and rate / rate of the plain loop")
    table.add_column("")
    for title in ("application", "library", "device", "all", "all, to plain", *(f"rate on {wire}" for wire in wires)):
        table.add_column(title, justify="right")
    plain = record.rows[0].instructions_per_packet["all"]
    for row in record.rows:
        costs = row.instructions_per_packet
        cells = [f"{costs[part]:.2f}" for part in ("application", "library", "device", "all")]
        share = f"{100 * (costs['all'] / plain - 1):+.1f} %"
        table.add_row(row.label, *cells, share, *(rate_text(row.rates.get(wire)) for wire in wires))
    return table


def rate_text(ratio: PairRatio | None) -> str:
    """'0.951 (0.948 to 0.955)'."""
    if ratio is None:
        return ""
    interval = f" ({ratio.ci95[0]:.3f} to {ratio.ci95[1]:.3f})" if ratio.ci95 else ""
    return f"{ratio.median:.3f}{interval}"
