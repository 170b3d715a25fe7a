# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the samples of a pair say: median ratio, interval, test, verdict. One sample is one block."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import numpy
from pydantic import BaseModel, ConfigDict

# Inside this distance of 1 two programs count as equally fast.
EQUIVALENCE = 0.01
CONFIDENCE = 0.95
# Fewer samples than this have no interval worth the name.
LEAST_SAMPLES = 3
# The range of n samples holds the median with a probability of 1 - 2^(1-n): with fewer than these, no interval made of
# samples reaches 95 %, and nothing is judged.
LEAST_JUDGED = 6
# A difference needs the test's word too: of samples with outliers the bootstrap is too sure.
_MOST_P = 0.05
_RESAMPLES = 9999
# A fixed seed: the same samples give the same interval.
_SEED = 20260301


class Verdict(StrEnum):
    """Of the first of a pair against the second."""

    FASTER = "faster"
    EQUIVALENT = "equivalent"
    SLOWER = "slower"
    INCONCLUSIVE = "inconclusive"


class PairRatio(BaseModel):
    """Rate of A / rate of B."""

    model_config = ConfigDict(extra="forbid")

    median: float
    # None with fewer than three samples.
    ci95: tuple[float, float] | None
    samples: list[float]
    # Wilcoxon's signed-rank test of the logarithms against 0, two-sided.
    p: float | None


def pair_ratio(samples: Sequence[float]) -> PairRatio | None:
    """The statistics of the ratios of all blocks; None of nothing.

    The interval is the percentile bootstrap of the median.
    """
    if not samples:
        return None
    values = numpy.asarray(samples, dtype=float)
    interval = p = None
    if len(values) >= LEAST_SAMPLES:
        # Imported here: it takes a second, which the command line's own errors need not.
        from scipy import stats

        chance = numpy.random.default_rng(_SEED)
        medians = numpy.median(chance.choice(values, (_RESAMPLES, len(values))), axis=1)
        tail = 50 * (1 - CONFIDENCE)
        low, high = numpy.percentile(medians, [tail, 100 - tail])
        interval = (float(low), float(high))
        logs = numpy.log(values)
        # Of nothing but zeros there is no rank.
        p = float(stats.wilcoxon(logs).pvalue) if numpy.any(logs != 0) else 1.0
    return PairRatio(median=float(numpy.median(values)), ci95=interval, samples=[float(v) for v in values], p=p)


def judge(ratio: PairRatio | None, floor: PairRatio | None = None) -> Verdict:
    """Equivalent if the interval lies within 1 % of 1.

    Else faster or slower if it lies on one side of 1, p is below 0.05, and the median lies outside the interval of a
    program against itself (`floor`).
    """
    if ratio is None or ratio.ci95 is None or len(ratio.samples) < LEAST_JUDGED:
        return Verdict.INCONCLUSIVE
    low, high = ratio.ci95
    if low >= 1 - EQUIVALENCE and high <= 1 + EQUIVALENCE:
        return Verdict.EQUIVALENT
    if ratio.p is None or ratio.p >= _MOST_P:
        return Verdict.INCONCLUSIVE
    least, most = floor.ci95 if floor and floor.ci95 else (1.0, 1.0)
    if low > 1 and ratio.median > most:
        return Verdict.FASTER
    if high < 1 and ratio.median < least:
        return Verdict.SLOWER
    return Verdict.INCONCLUSIVE
