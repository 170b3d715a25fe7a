# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Ratios measured in pairs, with their intervals: all that `./x demo`, `./x bench` and `./x testbed compare` say of two
programs rests on these."""

from __future__ import annotations

from collections.abc import Sequence

import numpy
from pydantic import BaseModel, ConfigDict

CONFIDENCE = 0.95
# Fewer samples than this have no interval worth the name.
_LEAST_SAMPLES = 3
_RESAMPLES = 9999
# A fixed seed: the same samples give the same interval, whenever a report is made again.
_SEED = 20260301


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
    # None with fewer than three samples.
    ci95: tuple[float, float] | None
    samples: list[float]
    # Wilcoxon's signed-rank test of the logarithms against 0, two-sided.
    p: float | None


def pair_ratio(samples: Sequence[float]) -> PairRatio | None:
    """The statistics of the ratios of all blocks; None without blocks. One sample is one block.

    The interval is the percentile bootstrap of the median.
    """
    if not samples:
        return None
    values = numpy.asarray(samples, dtype=float)
    interval = p = None
    if len(values) >= _LEAST_SAMPLES:
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


class Interval(BaseModel):
    """A bootstrap interval."""

    confidence: float
    low: float
    high: float
    method: str


class Ratio(BaseModel):
    """The mean ratio of several rounds, each a pair."""

    rounds: list[int]
    ratios: list[float]
    spread: Spread
    mean: float
    interval: Interval | None


def paired_ratio(pairs: Sequence[tuple[int, float, float]], confidence: float = CONFIDENCE) -> Ratio | None:
    """The ratio B/A of (round, A, B) triples, whose rounds are the samples.

    The mean is geometric, so that A/B would be exactly the reciprocal of B/A. The interval is the percentile
    bootstrap of that mean. It needs three pairs, and with few pairs it cannot be wider than their range.
    """
    usable = [(number, b / a) for number, a, b in pairs if a > 0 and b > 0]
    if not usable:
        return None
    ratios = [ratio for _, ratio in usable]
    logs = numpy.log(ratios)
    found = spread(ratios)
    assert found is not None
    interval = None
    if len(ratios) >= _LEAST_SAMPLES:
        # Imported here: it takes a second, which the command line's own errors need not.
        from scipy import stats

        outcome = stats.bootstrap(
            (logs,),
            numpy.mean,
            confidence_level=confidence,
            n_resamples=_RESAMPLES,
            method="percentile",
            rng=numpy.random.default_rng(_SEED),
        )
        low, high = numpy.exp(outcome.confidence_interval)
        interval = Interval(
            confidence=confidence,
            low=float(low),
            high=float(high),
            method=f"percentile bootstrap of the geometric mean, {_RESAMPLES} resamples of {len(ratios)} rounds",
        )
    return Ratio(
        rounds=[number for number, _ in usable],
        ratios=ratios,
        spread=found,
        mean=float(numpy.exp(logs.mean())),
        interval=interval,
    )
