# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Against values worked out by hand."""

import math

import pytest

from testbed.comparison.order import balanced_order
from testbed.comparison.statistics import paired_ratio, spread


def test_spread_of_known_values():
    found = spread([4.0, 1.0, 2.0, 10.0])
    assert (found.count, found.median, found.low, found.high) == (4, 3.0, 1.0, 10.0)
    assert spread([]) is None


def test_ratio_is_b_over_a_pair_by_pair():
    # The pairs differ a hundredfold; the ratio of sums would hide the first one.
    found = paired_ratio([(1, 100.0, 50.0), (2, 10_000.0, 20_000.0), (5, 100.0, 100.0)])
    assert found.rounds == [1, 2, 5]
    assert found.ratios == [0.5, 2.0, 1.0]
    assert (found.spread.median, found.spread.low, found.spread.high) == (1.0, 0.5, 2.0)
    assert found.mean == pytest.approx(1.0)  # geometric: a half and a double cancel
    assert 0.5 <= found.interval.low < 1.0 < found.interval.high <= 2.0


def test_ratio_turned_round_is_the_reciprocal():
    pairs = [(1, 90.0, 100.0), (2, 95.0, 100.0), (3, 97.0, 100.0), (4, 92.0, 100.0)]
    there, back = paired_ratio(pairs), paired_ratio([(n, b, a) for n, a, b in pairs])
    assert there.mean == pytest.approx(1 / back.mean)


def test_interval_of_a_large_sample_is_near_the_normal_one():
    # Logs of the ratios are -0.1 and 0.1 in equal numbers: mean 0, standard error 0.1 / sqrt(100) = 0.01.
    pairs = [(i, 1.0, math.exp(0.1 if i % 2 else -0.1)) for i in range(100)]
    interval = paired_ratio(pairs).interval
    assert math.log(interval.low) == pytest.approx(-0.0196, abs=0.002)
    assert math.log(interval.high) == pytest.approx(0.0196, abs=0.002)


def test_interval_is_the_same_each_time():
    pairs = [(1, 10.0, 9.0), (2, 10.0, 11.0), (3, 10.0, 10.5)]
    assert paired_ratio(pairs) == paired_ratio(pairs)


def test_equal_ratios_have_an_interval_without_width():
    interval = paired_ratio([(1, 10.0, 5.0), (2, 20.0, 10.0), (3, 30.0, 15.0)]).interval
    assert (interval.low, interval.high) == (0.5, 0.5)


def test_too_few_pairs_have_no_interval():
    assert paired_ratio([(1, 10.0, 9.0), (2, 10.0, 11.0)]).interval is None
    assert paired_ratio([]) is None
    assert paired_ratio([(1, 0.0, 9.0)]) is None


def test_order_is_balanced_and_random():
    seen = set()
    for seed in range(100):
        order = balanced_order(["c", "rs"], 6, seed)
        assert [sorted(pair) for pair in order] == [["c", "rs"]] * 6
        for odd, even in zip(order[::2], order[1::2], strict=True):
            assert odd == even[::-1]
        seen.add(str(order))
    assert len(seen) == 8  # each of the three blocks is ABBA or BAAB
    assert balanced_order(["c", "rs"], 3, 7) == balanced_order(["c", "rs"], 3, 7)
    assert len(balanced_order(["c", "rs"], 3, 7)) == 3
