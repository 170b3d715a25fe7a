# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Where a series of figures changed its level, and how surely.

A series is taken for levels with noise around them, as FD.io CSIT's trending does. CSIT cuts it where the description
of the groups is shortest, which gives no confidence. Here each cut is tested by permutation: at every place the values
before and after are compared by their ranks (the statistic of Wilcoxon and Mann-Whitney, standardised), and the largest
is compared with the largest of the same values in random orders. The share of orders that reach it is p. Both parts
are then searched in turn; at the end each change is tested once more between its neighbours.

So a series without a change gives one with the probability `SIGNIFICANCE` at most, whatever its distribution; each
level of one that changes is searched likewise. This holds for runs that do not depend on each other. Ranks make one
outlier harmless; a change has three runs on each side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

import numpy as np
from numpy.typing import NDArray

# The share of series without a change that show one.
SIGNIFICANCE = 0.01
# Runs on each side of a change.
SHORTEST = 3
# Runs of a series: with fewer, even two levels apart do not reach the significance safely (six and six: p = 0.002).
FEWEST = 12
_ORDERS, _AT_ONCE = 999, 111
_SEED = 2544


@dataclass(frozen=True)
class Change:
    """Between two runs."""

    # Index of the first run after it.
    at: int
    confidence: float
    # The medians of all runs since the change before, and until the one after.
    before: float
    after: float

    @property
    def ratio(self) -> float | None:
        """After / before; None if that was nothing."""
        return self.after / self.before if self.before else None


def changes(values: Sequence[float]) -> list[Change]:
    """The changes of level in a series, which is in the order of time."""
    series = np.asarray(values, dtype=float)
    if len(series) < FEWEST:
        return []
    random = np.random.default_rng(_SEED)
    cuts = _refined(series, sorted(_cuts(series, 0, random)), random)
    ends = [0, *(at for at, _ in cuts), len(series)]
    levels = [median(series[begin:end]) for begin, end in pairwise(ends)]
    return [
        Change(at, 1 - p, float(before), float(after))
        for (at, p), (before, after) in zip(cuts, pairwise(levels), strict=True)
    ]


def _cuts(series: NDArray[np.float64], offset: int, random: np.random.Generator) -> list[int]:
    """Indices at which the series changes, and then its parts."""
    found = _tested(series, random)
    if found is None or found[1] > SIGNIFICANCE:
        return []
    at = found[0]
    left, right = _cuts(series[:at], offset, random), _cuts(series[at:], offset + at, random)
    return [*left, offset + at, *right]


def _refined(series: NDArray[np.float64], cuts: list[int], random: np.random.Generator) -> list[tuple[int, float]]:
    """Each change with its p, between its neighbours: in the whole it may have seemed one, or to lie elsewhere."""
    kept: list[tuple[int, float]] = []
    for number in range(len(cuts)):
        begin = kept[-1][0] if kept else 0
        end = cuts[number + 1] if number + 1 < len(cuts) else len(series)
        found = _tested(series[begin:end], random)
        if found is not None and found[1] <= SIGNIFICANCE:
            kept.append((begin + found[0], found[1]))
    return kept


def _tested(series: NDArray[np.float64], random: np.random.Generator) -> tuple[int, float] | None:
    """(index, p) of the likeliest change; None if the series is too short, or all its values are the same."""
    ranks = _ranks(series)
    if len(series) < 2 * SHORTEST or ranks.std() == 0:
        return None
    found = _statistics(ranks)
    as_large = 0
    for _ in range(_ORDERS // _AT_ONCE):
        orders = random.permuted(np.broadcast_to(ranks, (_AT_ONCE, len(ranks))), axis=1)
        # A hair less: the same values in another order differ in the last digit.
        as_large += np.count_nonzero(_statistics(orders).max(axis=1) >= found.max() - 1e-9)
        if (1 + as_large) / (1 + _ORDERS) > SIGNIFICANCE:
            break
    return SHORTEST + int(found.argmax()), (1 + as_large) / (1 + _ORDERS)


def _ranks(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks around their mean; the same values have the same one."""
    _, inverse, counts = np.unique(series, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[inverse] - (len(series) + 1) / 2


def _statistics(ranks: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the ranks before each place lie from those after it, in standard deviations (times a constant)."""
    length = ranks.shape[-1]
    before = np.arange(SHORTEST, length - SHORTEST + 1)
    sums = np.cumsum(ranks, axis=-1)[..., before - 1]
    return np.abs(sums) / np.sqrt(before * (length - before))
