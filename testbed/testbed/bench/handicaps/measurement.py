# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x bench handicaps`: what each of the things costs that are said to make Rust slower than C on DPDK.

One program, testbed/handicaps, forwards as barely as dpdk-rs can, and takes one thing away for each option.
Instructions are counted on net_null; rates are compared with those of the plain loop, in slices of blocks as
`bench overload` does it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from testbed.bench.count.binary import Component
from testbed.bench.count.command import count_setup
from testbed.bench.count.instructions import Counted, count
from testbed.comparison.blocks import Entrant, Protocol, interleaved
from testbed.comparison.condition import Condition
from testbed.comparison.contestants import Contestant, Setup
from testbed.comparison.instance import Instance
from testbed.comparison.platform import Platform
from testbed.comparison.record import Block
from testbed.comparison.slices import block_ratio
from testbed.comparison.statistics import PairRatio, pair_ratio
from testbed.comparison.telemetry import TelemetryError
from testbed.run.process import ProcessError
from testbed.run.programs import Program, ProgramMissing, repository_root

PROGRAM = "handicaps"
LOOP = "handicaps::forward::forward_loop"
BURST = 32
# What the program asks for, see its main.rs.
DESCRIPTORS, MANY_DESCRIPTORS = 1024, 4096


@dataclass(frozen=True)
class Handicap:
    """One row: the loop with some of its options."""

    label: str
    options: tuple[str, ...] = ()
    profile: str = "dist"

    @property
    def descriptors(self) -> int:
        """Of each queue."""
        return MANY_DESCRIPTORS if "--many-descriptors" in self.options else DESCRIPTORS


_SWITCHES = ("--unregistered", "--no-cache", "--many-descriptors", "--no-prefetch", "--new-checked", "--refused")
PLAIN = Handicap("plain")
HANDICAPS = (
    PLAIN,
    Handicap("on a thread that is no lcore", ("--unregistered",)),
    Handicap("mempool without cache", ("--no-cache",)),
    Handicap("4,096 descriptors", ("--many-descriptors",)),
    Handicap("no prefetch", ("--no-prefetch",)),
    Handicap("no LTO", profile="no-lto"),
    Handicap("EthernetFrame::new_checked", ("--new-checked",)),
    Handicap("30 % refused, freed at once", ("--refused",)),
    Handicap("30 % refused, freed one by one", ("--refused", "--single-frees")),
    Handicap("all together", (*_SWITCHES, "--single-frees"), profile="no-lto"),
)


def find_handicap_program(profile: str) -> Path:
    """The program as this cargo profile built it.

    Raises `ProgramMissing`.
    """
    path = repository_root() / "target" / profile / PROGRAM
    if not path.is_file():
        raise ProgramMissing(f"no program '{path}': run cargo build --profile {profile} -p testbed-handicaps")
    return path


def contestant_of(handicap: Handicap) -> Contestant:
    """The row as something that can be started and compared.

    Raises `ProgramMissing`.
    """
    path = find_handicap_program(handicap.profile)

    def command(setup: Setup) -> list[str]:
        return [str(path), *setup.lcores(main_forwards=True).argv(), "--", *handicap.options]

    return Contestant(handicap.label, Program(PROGRAM, "Rust", path), command, rewrites_macs=True, is_shared=True)


def count_handicap(handicap: Handicap, folder: Path) -> Counted:
    """Instructions of one row. Raises `CountError`, `ProcessError`, `BinaryError` and `ProgramMissing`."""
    argv = contestant_of(handicap).argv(count_setup(BURST))
    return count(handicap.label, LOOP, argv, folder, file_name(handicap))


def file_name(handicap: Handicap) -> str:
    """A name for its files: 'refused-single-frees'."""
    words = [option.removeprefix("--") for option in handicap.options] or ["plain"]
    return "-".join([*words, *([handicap.profile] if handicap.profile != "dist" else [])])


def parts_of(row: Counted) -> dict[str, float]:
    """Instructions for each received packet by component, and all."""
    costs = {
        component.value: round(cost, 2)
        for component, cost in row.per_packet().items()
        if component is not Component.SYSTEM
    }
    return {**costs, "all": round(row.total_per_packet, 2)}


def measure_block(
    number: int,
    handicaps: Sequence[Handicap],
    wire: str,
    platform: Platform,
    protocol: Protocol,
    chance: random.Random,
    on_step: Callable[[str], None],
) -> Block:
    """All rows, freshly started, in turn. What goes wrong is a reason in the block."""
    block = Block(number=number)
    entrants = [_entrant(handicap, wire, platform, f"{wire}-{number}") for handicap in handicaps]
    try:
        interleaved(block, entrants, protocol, chance, on_step)
    except (ProcessError, TelemetryError, ProgramMissing) as error:
        block.reasons.append(str(error))
    return block


def _entrant(handicap: Handicap, wire: str, platform: Platform, prefix: str) -> Entrant:
    condition = Condition(wire=wire, descriptors=handicap.descriptors)
    contestant, name = contestant_of(handicap), f"{prefix}-{file_name(handicap)}"
    return Entrant(
        handicap.label, lambda suffix: Instance(contestant, condition, platform, handicap.label, name + suffix)
    )


def ratio_to_plain(blocks: Sequence[Block], label: str, per_cpu_second: bool) -> PairRatio | None:
    """Rate of a row / rate of the plain loop, by received packets: a refused one has had its work."""
    found = (block_ratio(by_received(block), label, PLAIN.label, per_cpu_second) for block in blocks)
    return pair_ratio([ratio for ratio in found if ratio is not None])


def empty_polls(blocks: Sequence[Block], label: str) -> float | None:
    """The share of a row's polls that found nothing, the median over the blocks; None where it was not counted."""
    shares = [run.empty_poll_share for block in blocks for run in block.runs if run.label == label]
    known = [share for share in shares if share is not None]
    return median(known) if known else None


def by_received(block: Block) -> Block:
    """The block with received packets where rates look for sent ones."""
    copy = block.model_copy(deep=True)
    for run in copy.runs:
        run.slices.tx_packets = list(run.slices.rx_packets)
    return copy
