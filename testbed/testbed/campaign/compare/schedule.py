# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""In which order a comparison measures two forwarders: A, A again and B in each block, interleaved.

A block runs the three in a random order and then in the reverse, each freshly started, and the sizes of its second half
in the reverse order of the first: a machine that drifts steadily favours neither a forwarder nor a size. The block is
the sample, of A against B and of A against itself: the noise floor is that of the same minutes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from enum import StrEnum

from pydantic import Field, model_validator

from testbed.campaign.sizes import RFC_SIZES, Size
from testbed.campaign.trial import Record
from testbed.comparison.order import balanced_order
from testbed.comparison.pair_verdict import LEAST_JUDGED, MOST_P

# Of a block: each side twice.
TURNS = 6


class Figure(StrEnum):
    """What is compared."""

    THROUGHPUT = "throughput"
    FORWARDING_RATE = "forwarding_rate"
    # At the same load for both.
    LATENCY = "latency"

    @property
    def less_is_better(self) -> bool:
        """Whether the lower figure is the better one."""
        return self is Figure.LATENCY


class Side(StrEnum):
    """A place in a block: A, A once more for the noise floor, and B."""

    FIRST = "first"
    AGAIN = "again"
    SECOND = "second"


class CompareSettings(Record):
    """What is compared, and how thoroughly."""

    a: str
    b: str
    sizes: tuple[Size, ...] = Field(default=RFC_SIZES, min_length=1)
    figures: tuple[Figure, ...] = Field(default=(Figure.FORWARDING_RATE,), min_length=1)
    blocks: int = Field(10, ge=LEAST_JUDGED)
    seed: int = Field(0, ge=0)
    # The load of latency, as a share of what the generator can send.
    latency_share: float = Field(0.1, gt=0, le=1)

    @model_validator(mode="after")
    def _blocks_suffice(self) -> CompareSettings:
        if self.a == self.b:
            raise ValueError(f"a and b are both '{self.a}': give two devices; the first runs against itself anyway")
        if len(set(self.sizes)) < len(self.sizes):
            raise ValueError("sizes has one twice")
        if self.blocks < (least := least_blocks(len(self.sizes) * len(self.figures))):
            by = f" by {len(self.figures)} figures" if len(self.figures) > 1 else ""
            raise ValueError(
                f"{self.blocks} blocks cannot tell any difference at {len(self.sizes)} sizes{by}: give at least {least}"
            )
        return self


def least_blocks(comparisons: int) -> int:
    """With fewer, even blocks that all agree have a p that Holm's correction takes above 5 %."""
    least = LEAST_JUDGED
    # The smallest p of Wilcoxon's test of n samples is 2^(1-n).
    while comparisons * 2.0 ** (1 - least) >= MOST_P:
        least += 1
    return least


class DutRun(Record):
    """A fresh start of one forwarder, and the sizes in their order."""

    block: int
    # From 1 in each block.
    turn: int
    side: Side
    device: str
    sizes: tuple[Size, ...]

    @property
    def place(self) -> str:
        """Its name in the journal."""
        return f"block{self.block}/turn{self.turn}-{self.side}-{self.device}"


def schedule(settings: CompareSettings) -> Iterator[DutRun]:
    """All DUT runs in their order; the same each time."""
    chance = random.Random(settings.seed)
    # Two rounds, of which the second turns the first round, are a block.
    order = balanced_order([*Side], 2 * settings.blocks, chance.randrange(1 << 32))
    for block in range(settings.blocks):
        sizes = chance.sample(settings.sizes, len(settings.sizes))
        halves = [(sizes, order[2 * block]), (sizes[::-1], order[2 * block + 1])]
        sides = [(half_sizes, side) for half_sizes, half in halves for side in half]
        for turn, (half_sizes, side) in enumerate(sides, start=1):
            device = settings.b if side == Side.SECOND else settings.a
            yield DutRun(block=block + 1, turn=turn, side=Side(side), device=device, sizes=tuple(half_sizes))


def size_by_size(settings: CompareSettings) -> Iterator[DutRun]:
    """All DUT runs where each size has its own blocks, which another testbed may measure."""
    for size in settings.sizes:
        yield from schedule(at_size(settings, size))


def at_size(settings: CompareSettings, size: Size) -> CompareSettings:
    """The same comparison at one of its sizes."""
    return settings.model_copy(update={"sizes": (size,)})
