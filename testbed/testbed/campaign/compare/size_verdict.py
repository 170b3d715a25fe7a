# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Which of two forwarders is faster, size by size, from the figures of all runs of the schedule.

The margin within which two count as equally fast, 1 %, is that of `comparison/pair_verdict.py`, as are the interval and
the test; since every size is judged, their p is corrected by Holm's method, over all figures and sizes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from statistics import median
from typing import NamedTuple

from testbed.campaign.compare.schedule import TURNS, CompareSettings, DutRun, Figure, Side, schedule
from testbed.campaign.sizes import Size, size_in_words, size_order, sizes_in_words
from testbed.campaign.trial import Record
from testbed.campaign.validity import NotMeasured
from testbed.comparison.pair_verdict import Verdict, in_words, judge
from testbed.comparison.statistics import PairRatio, holm, pair_ratio


class DutFigure(Record):
    """What one DUT run measured: frames a second, or nanoseconds of latency."""

    value: float
    # The generator offered no more than the device forwards: the value is a lower bound.
    at_least: bool = False


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
    # Medians of the same blocks: frames a second, or of latency nanoseconds.
    a: float | None = None
    b: float | None = None
    # Whether the figure is a lower bound in any of these blocks.
    a_at_least: bool = False
    b_at_least: bool = False
    # Holm's, over all figures and sizes; what `ratio` has is uncorrected.
    corrected_p: float | None
    verdict: Verdict
    # Half the width of A against itself: a smaller difference cannot be detected.
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
        runs = TURNS * self.settings.blocks
        figures = self.settings.figures
        ordered = sorted(places.items(), key=lambda one: (figures.index(one[0][0]), *size_order(one[0][1])))
        return [
            f"{figure.replace('_', ' ')} at {size_in_words(size)}, in {len(where)} of {runs} runs, the "
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
                words = in_words(verdict, self.settings.a, self.settings.b, better="better", worse="worse")
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


_Figures = dict[tuple[Figure, Size, int, Side], list[DutFigure]]
# Starts a device for a dut_run, and gives what measures a figure at a size. Raises `NotMeasured`.
Measure = Callable[[Figure, Size], DutFigure]
Start = Callable[[DutRun], AbstractContextManager[Measure]]


def compare(settings: CompareSettings, start: Start, dut_runs: Iterable[DutRun] | None = None) -> Comparison:
    """Makes all DUT runs and judges."""
    figures: _Figures = {}
    failures: list[Failure] = []
    for dut_run in schedule(settings) if dut_runs is None else dut_runs:
        try:
            with start(dut_run) as measure:
                for size, figure in itertools.product(dut_run.sizes, settings.figures):
                    try:
                        found = measure(figure, size)
                        if found.value <= 0:
                            raise NotMeasured(f"it is {found.value:g}, which has no ratio")
                    except NotMeasured as error:
                        failures.append(Failure(place=dut_run.place, size=size, figure=figure, reason=str(error)))
                    else:
                        key = (figure, size, dut_run.block, dut_run.side)
                        figures.setdefault(key, []).append(found)
        except NotMeasured as error:
            failures += [
                Failure(place=dut_run.place, size=size, figure=figure, reason=str(error))
                for size, figure in itertools.product(dut_run.sizes, settings.figures)
            ]
    verdicts = list(_judged(figures, settings))
    return Comparison(settings=settings, verdicts=verdicts, failures=failures, unfair=_unfair(verdicts))


def _unfair(verdicts: Sequence[SizeVerdict]) -> list[tuple[Figure, Size]]:
    """Where A differs from itself, with p corrected over all of them."""
    floors = [(one, one.floor) for one in verdicts if one.floor is not None and one.floor.p is not None]
    corrected = holm([floor.p or 0.0 for _, floor in floors])
    judged = [
        (one, judge(floor.model_copy(update={"p": p}))) for (one, floor), p in zip(floors, corrected, strict=True)
    ]
    return [(one.figure, one.size) for one, verdict in judged if verdict in (Verdict.FASTER, Verdict.SLOWER)]


class _Pair(NamedTuple):
    """A block: the geometric means of both turns, and whether any of them is a lower bound."""

    block: int
    first: float
    second: float
    first_at_least: bool
    second_at_least: bool


def _pairs(
    figures: _Figures,
    blocks: int,
    second_side: Side,
    figure: Figure,
    size: Size,
) -> list[_Pair]:
    """Of the blocks that are whole: one that lacks a turn is not balanced."""
    found = []
    for block in range(1, blocks + 1):
        first, second = (figures.get((figure, size, block, side), []) for side in (Side.FIRST, second_side))
        if len(first) == len(second) == 2:
            bounds = [any(one.at_least for one in side) for side in (first, second)]
            found.append(_Pair(block, _mean(first), _mean(second), *bounds))
    return found


def _mean(figures: Sequence[DutFigure]) -> float:
    return math.exp(sum(math.log(one.value) for one in figures) / len(figures))


def _told(verdict: Verdict, *, a_at_least: bool, b_at_least: bool) -> Verdict:
    """A lower bound allows one verdict: that it is above the figure of the other device, which is no lower bound."""
    stands = {Verdict.FASTER: not b_at_least, Verdict.SLOWER: not a_at_least}
    bounded = a_at_least or b_at_least
    return Verdict.GENERATOR_LIMIT if bounded and not stands.get(verdict, False) else verdict


def _judged(figures: _Figures, settings: CompareSettings) -> Iterator[SizeVerdict]:
    """Of each figure at each size; p corrected over all of them."""
    places = list(itertools.product(settings.figures, settings.sizes))
    pairs = {place: _pairs(figures, settings.blocks, Side.SECOND, *place) for place in places}
    ratios = {place: _ratio(pairs[place], place[0]) for place in places}
    known = {place: found.p for place, found in ratios.items() if found is not None and found.p is not None}
    corrected = dict(zip(known, holm(list(known.values())), strict=True))
    for figure, size in places:
        found, mine, p = ratios[figure, size], pairs[figure, size], corrected.get((figure, size))
        floor = _ratio(_pairs(figures, settings.blocks, Side.AGAIN, figure, size), figure)
        bounds = {
            "a_at_least": any(one.first_at_least for one in mine),
            "b_at_least": any(one.second_at_least for one in mine),
        }
        yield SizeVerdict(
            figure=figure,
            size=size,
            floor=floor,
            ratio=found,
            a=median(one.first for one in mine) if mine else None,
            b=median(one.second for one in mine) if mine else None,
            **bounds,
            corrected_p=p,
            verdict=_told(judge(None if found is None else found.model_copy(update={"p": p}), floor), **bounds),
            noise=max(abs(1 - edge) for edge in floor.ci95) if floor and floor.ci95 else None,
        )


def _ratio(pairs: Sequence[_Pair], figure: Figure) -> PairRatio | None:
    quotients = [one.first / one.second for one in pairs]
    return pair_ratio([1 / quotient for quotient in quotients] if figure.less_is_better else quotients)
