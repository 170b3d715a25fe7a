# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Which of two forwarders is faster, size by size: A against itself first, then A against B, both interleaved.

A block visits both in the order A B B A or B A A B, each freshly started, and the sizes of its second half in the
reverse order of the first: a machine that drifts steadily favours neither a forwarder nor a size. The block is the
sample. The margin within which two count as equally fast, 1 %, is that of `bench/verdict.py`, as are the interval
and the test; since every size is judged, their p is corrected by Holm's method.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from statistics import median

from pydantic import Field, model_validator

from testbed import statistics
from testbed.bench.verdict import EQUIVALENCE, LEAST_JUDGED, PairRatio, Verdict, judge, pair_ratio
from testbed.campaign.sizes import RFC_SIZES, Size, size_in_words, size_order, sizes_in_words
from testbed.campaign.trial import Record
from testbed.campaign.validity import NotMeasured

# A difference counts if p, corrected, is below this.
_MOST_P = 0.05
# Of a block: each side twice.
TURNS = 4


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


class Phase(StrEnum):
    """Which pair runs."""

    FLOOR = "A against itself"
    PAIR = "A against B"


class Side(StrEnum):
    """A place in a pair."""

    FIRST = "first"
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
        if self.blocks < (least := least_blocks(len(self.sizes))):
            raise ValueError(
                f"{self.blocks} blocks cannot tell any difference at {len(self.sizes)} sizes: give at least {least}"
            )
        return self


def least_blocks(sizes: int) -> int:
    """With fewer, even blocks that all agree have a p that Holm's correction takes above 5 %."""
    least = LEAST_JUDGED
    # The smallest p of Wilcoxon's test of n samples is 2^(1-n).
    while sizes * 2.0 ** (1 - least) >= _MOST_P:
        least += 1
    return least


class Visit(Record):
    """A fresh start of one forwarder, and the sizes in their order."""

    phase: Phase
    block: int
    # From 1 in each block.
    turn: int
    side: Side
    device: str
    sizes: tuple[Size, ...]

    @property
    def place(self) -> str:
        """Its name in the journal."""
        phase = "floor" if self.phase is Phase.FLOOR else "pair"
        return f"{phase}/block{self.block}/turn{self.turn}-{self.side}-{self.device}"


class Failure(Record):
    """Why a figure is absent."""

    place: str
    size: Size
    figure: Figure
    reason: str


class SizeVerdict(Record):
    """How the two compare at one size."""

    figure: Figure
    size: Size
    # Of the first to the second, and above 1 where the first is better.
    floor: PairRatio | None
    ratio: PairRatio | None
    # The geometric mean and its interval, of the same blocks.
    mean: statistics.Ratio | None
    # Medians of the same blocks: frames a second, or of latency nanoseconds.
    a: float | None = None
    b: float | None = None
    # Holm's, over all sizes of this figure; what `ratio` has is uncorrected.
    corrected_p: float | None
    verdict: Verdict
    # Half the width of A against itself: a smaller difference would not be told.
    noise: float | None

    def __str__(self) -> str:
        if self.ratio is None or self.ratio.ci95 is None:
            return f"{size_in_words(self.size)}, {self.figure}: {self.verdict}, too few blocks"
        low, high = self.ratio.ci95
        return (
            f"{size_in_words(self.size)}, {self.figure}: {self.verdict}, "
            f"{self.ratio.median:.4f} [{low:.4f}, {high:.4f}], p {self.corrected_p:.4f}"
        )


class Comparison(Record):
    """The whole."""

    settings: CompareSettings
    verdicts: list[SizeVerdict]
    failures: list[Failure]
    # Figures and sizes at which A differs from itself: the testbed itself is not fair there.
    unfair: list[tuple[Figure, Size]]

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        return " ".join(self._sentence(figure) for figure in self.settings.figures)

    @property
    def not_measured(self) -> list[str]:
        """What there are no figures of, each reason once."""
        places: dict[tuple[Figure, Size, str], list[str]] = {}
        for one in self.failures:
            places.setdefault((one.figure, one.size, one.reason), []).append(one.place)
        visits = 2 * TURNS * self.settings.blocks
        figures = self.settings.figures
        ordered = sorted(places.items(), key=lambda one: (figures.index(one[0][0]), *size_order(one[0][1])))
        return [
            f"{figure.replace('_', ' ')} at {size_in_words(size)}, in {len(where)} of {visits} visits, the "
            f"first {where[0]}: {reason}"
            for (figure, size, reason), where in ordered
        ]

    def _sentence(self, figure: Figure) -> str:
        mine = [verdict for verdict in self.verdicts if verdict.figure is figure]
        parts = []
        for verdict in Verdict:
            sizes = [found.size for found in mine if found.verdict is verdict]
            if sizes:
                where = "all sizes" if len(sizes) == len(mine) else sizes_in_words(sizes)
                words = _WORDS[verdict].format(a=self.settings.a, b=self.settings.b)
                parts.append(f"{words} at {where}{_by_how_much(mine, verdict)}")
        unfair = [size for which, size in self.unfair if which is figure]
        if unfair:
            parts.append(f"but {self.settings.a} differs from itself at {sizes_in_words(unfair)}")
        return f"By {figure.replace('_', ' ')}, {'; '.join(parts)}."


def _by_how_much(found: Sequence[SizeVerdict], verdict: Verdict) -> str:
    """', by 3.1 to 4.0 %', where there is a difference."""
    if verdict not in (Verdict.FASTER, Verdict.SLOWER):
        return ""
    shares = [100 * abs(1 - one.ratio.median) for one in found if one.verdict is verdict and one.ratio is not None]
    least, most = (f"{edge:.1f}" for edge in (min(shares), max(shares)))
    return f", by {least} %" if least == most else f", by {least} to {most} %"


_WORDS = {
    Verdict.FASTER: "{a} is better than {b}",
    Verdict.EQUIVALENT: f"{{a}} and {{b}} are equal within {100 * EQUIVALENCE:g} %",
    Verdict.SLOWER: "{a} is worse than {b}",
    Verdict.INCONCLUSIVE: "{a} against {b} is inconclusive",
}

# Starts a device for a visit, and gives what measures a figure at a size. Raises `NotMeasured`.
Measure = Callable[[Figure, Size], float]
Start = Callable[[Visit], AbstractContextManager[Measure]]


def schedule(settings: CompareSettings) -> Iterator[Visit]:
    """All visits in their order; the same each time."""
    chance = random.Random(settings.seed)
    for phase in Phase:
        # Two rounds, of which the second turns the first round, are a block.
        order = statistics.balanced_order([*Side], 2 * settings.blocks, chance.randrange(1 << 32))
        for block in range(settings.blocks):
            sizes = chance.sample(settings.sizes, len(settings.sizes))
            halves = [(sizes, order[2 * block]), (sizes[::-1], order[2 * block + 1])]
            sides = [(half_sizes, side) for half_sizes, half in halves for side in half]
            for turn, (half_sizes, side) in enumerate(sides, start=1):
                device = settings.b if phase is Phase.PAIR and side == Side.SECOND else settings.a
                yield Visit(
                    phase=phase, block=block + 1, turn=turn, side=Side(side), device=device, sizes=tuple(half_sizes)
                )


def size_by_size(settings: CompareSettings) -> Iterator[Visit]:
    """All visits where each size has its own blocks, which another testbed may measure."""
    for size in settings.sizes:
        yield from schedule(at_size(settings, size))


def at_size(settings: CompareSettings, size: Size) -> CompareSettings:
    """The same comparison at one of its sizes."""
    return settings.model_copy(update={"sizes": (size,)})


def compare(settings: CompareSettings, start: Start, visits: Iterable[Visit] | None = None) -> Comparison:
    """Makes all visits and judges."""
    figures: dict[tuple[Phase, Figure, Size, int, Side], list[float]] = {}
    failures: list[Failure] = []
    for visit in schedule(settings) if visits is None else visits:
        try:
            with start(visit) as measure:
                for size, figure in itertools.product(visit.sizes, settings.figures):
                    try:
                        value = measure(figure, size)
                        if value <= 0:
                            raise NotMeasured(f"it is {value:g}, which has no ratio")
                    except NotMeasured as error:
                        failures.append(Failure(place=visit.place, size=size, figure=figure, reason=str(error)))
                    else:
                        key = (visit.phase, figure, size, visit.block, visit.side)
                        figures.setdefault(key, []).append(value)
        except NotMeasured as error:
            failures += [
                Failure(place=visit.place, size=size, figure=figure, reason=str(error))
                for size, figure in itertools.product(visit.sizes, settings.figures)
            ]
    pairs = {
        (phase, figure, size): _pairs(figures, settings.blocks, phase, figure, size)
        for phase, figure, size in itertools.product(Phase, settings.figures, settings.sizes)
    }
    verdicts = [verdict for figure in settings.figures for verdict in _judged(pairs, figure, settings.sizes)]
    unfair = [
        (verdict.figure, verdict.size)
        for verdict in verdicts
        if judge(verdict.floor) in (Verdict.FASTER, Verdict.SLOWER)
    ]
    return Comparison(settings=settings, verdicts=verdicts, failures=failures, unfair=unfair)


# (block, first, second): the geometric means of both turns.
_Pair = tuple[int, float, float]


def _pairs(
    figures: dict[tuple[Phase, Figure, Size, int, Side], list[float]],
    blocks: int,
    phase: Phase,
    figure: Figure,
    size: Size,
) -> list[_Pair]:
    """Of the blocks that are whole: one that lacks a turn is not balanced."""
    found = []
    for block in range(1, blocks + 1):
        first, second = (figures.get((phase, figure, size, block, side), []) for side in Side)
        if len(first) == len(second) == 2:
            found.append((block, _mean(first), _mean(second)))
    return found


def _mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def _judged(
    pairs: dict[tuple[Phase, Figure, Size], list[_Pair]], figure: Figure, sizes: Sequence[Size]
) -> Iterator[SizeVerdict]:
    def ratio(phase: Phase, size: Size) -> PairRatio | None:
        quotients = [first / second for _, first, second in pairs[phase, figure, size]]
        return pair_ratio([1 / quotient for quotient in quotients] if figure.less_is_better else quotients)

    ratios = {size: ratio(Phase.PAIR, size) for size in sizes}
    known = {size: found.p for size, found in ratios.items() if found is not None and found.p is not None}
    corrected = dict(zip(known, holm(list(known.values())), strict=True))
    for size in sizes:
        found, floor, p = ratios[size], ratio(Phase.FLOOR, size), corrected.get(size)
        mine = pairs[Phase.PAIR, figure, size]
        # The better one's figure stands above: of rates the first's, of latencies the second's.
        upwards = [
            (block, first, second) if figure.less_is_better else (block, second, first) for block, first, second in mine
        ]
        yield SizeVerdict(
            figure=figure,
            size=size,
            floor=floor,
            ratio=found,
            mean=statistics.paired_ratio(upwards),
            a=median(first for _, first, _ in mine) if mine else None,
            b=median(second for _, _, second in mine) if mine else None,
            corrected_p=p,
            verdict=judge(None if found is None else found.model_copy(update={"p": p}), floor),
            noise=max(abs(1 - edge) for edge in floor.ci95) if floor and floor.ci95 else None,
        )


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's correction: the smallest p times their number, the next times one less, and none below an earlier one."""
    corrected = [0.0] * len(ps)
    least = 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        least = max(least, min(1.0, (len(ps) - rank) * ps[index]))
        corrected[index] = least
    return corrected
