# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Paired statistics: how the Rust forwarder's figure relates to the C one's, round by round."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy
from pydantic import BaseModel

_RESAMPLES = 9999
# A fixed seed: the same results give the same interval whenever the report is made again.
_SEED = 20260301


class Spread(BaseModel):
    """Where several figures lie."""

    count: int
    median: float
    low: float
    high: float


class Interval(BaseModel):
    """A bootstrap interval."""

    confidence: float
    low: float
    high: float
    method: str


class Ratio(BaseModel):
    """A ratio measured in pairs, one a round."""

    rounds: list[int]
    ratios: list[float]
    spread: Spread
    mean: float
    interval: Interval | None


def spread(values: Sequence[float]) -> Spread | None:
    """Median and range; None of nothing."""
    if not values:
        return None
    return Spread(count=len(values), median=float(numpy.median(values)), low=min(values), high=max(values))


def paired_ratio(pairs: Sequence[tuple[int, float, float]], confidence: float = 0.95) -> Ratio | None:
    """The ratio B/A of (round, A, B) triples, whose rounds are the samples.

    The mean is geometric, so that C/Rust would be exactly the reciprocal of Rust/C. The interval is the percentile
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
    if len(ratios) >= 3:
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


def balanced_order(names: Sequence[str], rounds: int, seed: int) -> list[list[str]]:
    """The order of two programs in each round: random in every odd round, turned round in the next (ABBA or BAAB).

    A machine that slows down or speeds up steadily then favours neither.
    """
    chance = random.Random(seed)
    order: list[list[str]] = []
    while len(order) < rounds:
        first = list(names)
        chance.shuffle(first)
        order += [first, first[::-1]]
    return order[:rounds]
