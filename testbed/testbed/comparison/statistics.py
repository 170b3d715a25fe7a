# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Ratios measured in pairs, with their intervals: all that `./x demo`, `./x bench` and `./x testbed compare` say of two
programs rests on these."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy
from pydantic import BaseModel, ConfigDict

CONFIDENCE = 0.95
# Of fewer samples there is no test.
_LEAST_TESTED = 3


class Spread(BaseModel):
    """Where several figures lie."""

    count: int
    median: float
    low: float
    high: float


def spread(values: Sequence[float]) -> Spread | None:
    """Median and range; None without values."""
    if not values:
        return None
    return Spread(count=len(values), median=float(numpy.median(values)), low=min(values), high=max(values))


class PairRatio(BaseModel):
    """Rate of A / rate of B."""

    model_config = ConfigDict(extra="forbid")

    median: float
    # None with fewer samples than an interval of 95 % takes.
    ci95: tuple[float, float] | None
    samples: list[float]
    # Wilcoxon's signed-rank test of the logarithms against 0, two-sided.
    p: float | None


def pair_ratio(samples: Sequence[float]) -> PairRatio | None:
    """The statistics of the ratios of all blocks; None without blocks. One sample is one block."""
    if not samples:
        return None
    values = numpy.asarray(samples, dtype=float)
    p = None
    if len(values) >= _LEAST_TESTED:
        # Imported here: it takes a second, which the command line's own errors need not.
        from scipy import stats

        logs = numpy.log(values)
        # Of nothing but zeros there is no rank.
        p = float(stats.wilcoxon(logs).pvalue) if numpy.any(logs != 0) else 1.0
    return PairRatio(
        median=float(numpy.median(values)), ci95=median_interval(samples), samples=[float(v) for v in values], p=p
    )


def median_interval(samples: Sequence[float]) -> tuple[float, float] | None:
    """The narrowest pair of samples, as far from either end, that holds the median with at least 95 %.

    It is the sign test's interval (order statistics): whatever the distribution, so many of n samples lie below its
    median as heads come up in n throws of a coin. A bootstrap of few samples covers less than it says. None with fewer
    than six samples, whose whole range covers less than 95 %.
    """
    count = len(samples)
    # Of one tail: the probability that at most `out` samples lie on one side of the median.
    tail, out = 0.0, -1
    while (tail := tail + math.comb(count, out + 1) / 2**count) <= (1 - CONFIDENCE) / 2:
        out += 1
    if out < 0:
        return None
    ordered = sorted(map(float, samples))
    return ordered[out], ordered[-1 - out]


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's correction: the smallest p times their number, the next times one less, and none below an earlier one."""
    corrected = [0.0] * len(ps)
    least = 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=lambda i: ps[i])):
        least = max(least, min(1.0, (len(ps) - rank) * ps[index]))
        corrected[index] = least
    return corrected
