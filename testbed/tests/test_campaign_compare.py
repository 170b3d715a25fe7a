# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Two forwarders whose relation is known."""

from __future__ import annotations

import contextlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from random import Random

import pytest
from pydantic import ValidationError

from testbed.campaign.compare.schedule import (
    CompareSettings,
    DutRun,
    Figure,
    Side,
    least_blocks,
    schedule,
)
from testbed.campaign.compare.size_verdict import Comparison, DutFigure, Measure, compare
from testbed.campaign.measurements.forwarding_rate import measure_forwarding_rate
from testbed.campaign.simulated import DeviceModel, SimulatedGenerator
from testbed.campaign.sizes import ARTICLE_SIZES, RFC_SIZES
from testbed.campaign.trial import Stream
from testbed.campaign.validity import NotMeasured, Trials
from testbed.comparison.pair_verdict import Verdict

SETTINGS = CompareSettings(a="c", b="rust")


def bench(rate: Callable[[DutRun, Figure, int], float]):
    """A start that measures by a function."""

    @contextlib.contextmanager
    def start(dut_run: DutRun) -> Iterator[Measure]:
        yield lambda figure, size: DutFigure(value=rate(dut_run, figure, size))

    return start


def noisy(factor: Callable[[int], float], noise: float = 0.005, drift: float = 0.0, figure: float = 1e6):
    """B is `factor(size)` times A, on a machine that gets faster from trial to trial by `drift`."""
    chance, trials = Random(1), Counter()

    def rate(dut_run: DutRun, _: Figure, size: int) -> float:
        trials["all"] += 1
        own = factor(size) if dut_run.device == "rust" else 1.0
        return figure * own * (1 + chance.gauss(0, noise)) * (1 + drift) ** trials["all"]

    return bench(rate)


def verdicts(found: Comparison) -> set[Verdict]:
    return {verdict.verdict for verdict in found.verdicts}


def test_equal_forwarders_are_equivalent():
    found = compare(SETTINGS.model_copy(update={"blocks": 20}), noisy(lambda size: 1.0))
    assert verdicts(found) == {Verdict.EQUIVALENT}
    assert found.sentence == "By forwarding rate, c and rust are equal within 1 % at all sizes."
    assert not found.unfair
    assert all(0 < verdict.noise < 0.01 for verdict in found.verdicts)


def test_a_difference_of_3_percent_is_found_at_each_size_with_its_sign():
    found = compare(SETTINGS, noisy(lambda size: 1.03 if size < 500 else 0.97))
    assert {verdict.size: verdict.verdict for verdict in found.verdicts} == {
        size: Verdict.SLOWER if size < 500 else Verdict.FASTER for size in RFC_SIZES
    }
    assert found.verdicts[0].ratio.median == pytest.approx(1 / 1.03, rel=0.005)
    assert "c is worse than rust at 64, 128, 256 bytes, by 2.8 to 3.1 %" in found.sentence
    assert "c is better than rust at 512, 1024, 1280, 1518 bytes, by 3.0 to 3.2 %" in found.sentence
    # Medians of the rates themselves.
    small = found.verdicts[0]
    assert small.a / small.b == pytest.approx(small.ratio.median, rel=0.005)


def test_less_latency_is_better():
    settings = SETTINGS.model_copy(update={"figures": (Figure.LATENCY, Figure.THROUGHPUT)})
    found = compare(settings, noisy(lambda size: 1.05))
    by_figure = defaultdict(set)
    for verdict in found.verdicts:
        by_figure[verdict.figure].add(verdict.verdict)
    assert by_figure == {Figure.LATENCY: {Verdict.FASTER}, Figure.THROUGHPUT: {Verdict.SLOWER}}
    latency = found.verdicts[0]
    assert latency.ratio.median == pytest.approx(1.05, rel=0.01)


def test_a_steady_drift_favours_neither():
    # The machine gets some 75 % faster from the beginning to the end.
    found = compare(SETTINGS, noisy(lambda size: 1.0, noise=0.0, drift=0.001))
    assert verdicts(found) == {Verdict.EQUIVALENT}
    assert all(verdict.ratio.median == pytest.approx(1, abs=1e-9) for verdict in found.verdicts)


def test_a_difference_within_the_noise_is_not_claimed():
    claimed = Counter()
    for seed in range(20):
        chance = Random(seed)
        rate = bench(lambda dut_run, figure, size, chance=chance: 1e6 * (1 + chance.gauss(0, 0.05)))
        claimed.update(verdict.verdict for verdict in compare(SETTINGS, rate).verdicts)
    # 140 verdicts of equal forwarders, corrected within each comparison to 5 % for all of its seven sizes.
    assert claimed[Verdict.FASTER] + claimed[Verdict.SLOWER] <= 3
    assert claimed[Verdict.INCONCLUSIVE] > 100


def test_one_noise_floor_of_several_may_differ_by_chance():
    """At 64 bytes A is better again in eight of nine blocks: enough alone, not beside a second size."""

    def rate(dut_run: DutRun, figure: Figure, size: int) -> float:
        if dut_run.side is not Side.AGAIN:
            return 1e6
        if size == 64:
            return 1e6 / 1.05 if dut_run.block == 5 else 1e6 * (1 + dut_run.block / 100)
        return 1e6 * (1.05 if dut_run.block % 2 else 0.95)

    alone = CompareSettings(a="c", b="rust", sizes=(64,), blocks=9)
    assert compare(alone, bench(rate)).unfair == [(Figure.FORWARDING_RATE, 64)]
    both = alone.model_copy(update={"sizes": (64, 128)})
    assert compare(both, bench(rate)).unfair == []


def test_a_testbed_that_favours_a_place_is_unfair_and_claims_less():
    def rate(dut_run: DutRun, figure: Figure, size: int) -> float:
        # Whoever is first in a pair is 2 % faster, whichever program it is.
        return 1e6 * (1.02 if dut_run.side is Side.FIRST else 1.0)

    found = compare(SETTINGS, bench(rate))
    assert {size for _, size in found.unfair} == set(RFC_SIZES)
    assert verdicts(found) == {Verdict.INCONCLUSIVE}
    assert "c differs from itself" in found.sentence


def test_simulated_forwarders_are_told_apart():
    devices = {
        name: DeviceModel(throughput_fps={64: fps}, noise=0.003, seed=seed)
        for seed, (name, fps) in enumerate([("c", 10e6), ("rust", 9.5e6)])
    }

    @contextlib.contextmanager
    def start(dut_run: DutRun) -> Iterator[Measure]:
        generator = SimulatedGenerator(devices[dut_run.device], name=dut_run.place)
        trials = Trials(generator)
        yield lambda figure, size: DutFigure(
            value=measure_forwarding_rate(trials, Stream(size=size)).forwarded_fps.median
        )

    found = compare(SETTINGS.model_copy(update={"sizes": (64,)}), start)
    assert found.verdicts[0].verdict is Verdict.FASTER
    assert found.verdicts[0].ratio.median == pytest.approx(10 / 9.5, rel=0.005)


def test_the_order_is_balanced_and_the_same_each_time():
    dut_runs = list(schedule(SETTINGS))
    assert dut_runs == list(schedule(SETTINGS))
    assert dut_runs != list(schedule(SETTINGS.model_copy(update={"seed": 1})))
    assert len(dut_runs) == 10 * 6
    orders = set()
    for first in range(0, 60, 6):
        block = dut_runs[first : first + 6]
        assert len({dut_run.block for dut_run in block}) == 1
        assert [dut_run.turn for dut_run in block] == [1, 2, 3, 4, 5, 6]
        sides = [dut_run.side for dut_run in block]
        assert sides == sides[::-1]
        assert Counter(sides) == dict.fromkeys(Side, 2)
        assert len({dut_run.sizes for dut_run in block[:3]}) == 1
        assert {dut_run.sizes[::-1] for dut_run in block[3:]} == {block[0].sizes}
        assert sorted(block[0].sizes) == list(RFC_SIZES)
        assert all((dut_run.device == "rust") == (dut_run.side is Side.SECOND) for dut_run in block)
        orders.add(tuple(sides))
    assert len(orders) > 2
    assert len({dut_run.place for dut_run in dut_runs}) == 60
    assert any(one.sizes != other.sizes for one, other in pairwise(dut_runs[::6]))


def test_a_block_that_lacks_a_turn_does_not_count():
    def rate(dut_run: DutRun, figure: Figure, size: int) -> float:
        if dut_run.block == 3 and dut_run.side is Side.SECOND and dut_run.turn <= 3:
            raise NotMeasured("the generator fell short")
        if dut_run.block == 7 and dut_run.turn <= 3 and size == 128:
            # Of all sides the same is missing, but not at the same time.
            raise NotMeasured("a cable was out")
        if dut_run.block == 5 and dut_run.side is Side.FIRST and dut_run.turn <= 3 and size == 64:
            return 0.0
        return 1e6

    found = compare(SETTINGS, bench(rate))
    blocks = {verdict.size: len(verdict.ratio.samples) for verdict in found.verdicts}
    assert blocks == {size: 8 if size in (64, 128) else 9 for size in RFC_SIZES}
    assert Counter(failure.reason for failure in found.failures) == {
        "the generator fell short": 7,
        "a cable was out": 3,
        "it is 0, which has no ratio": 1,
    }


def test_a_device_that_does_not_start_leaves_nothing_to_judge():
    @contextlib.contextmanager
    def start(dut_run: DutRun) -> Iterator[Measure]:
        if dut_run.device == "rust":
            raise NotMeasured("rust does not start")
        yield lambda figure, size: DutFigure(value=1e6)

    found = compare(SETTINGS, start)
    assert verdicts(found) == {Verdict.INCONCLUSIVE}
    assert len(found.failures) == 20 * 7


@pytest.mark.parametrize(
    ("able", "expected", "bounds"),
    [
        ((10e6, 5e6), Verdict.GENERATOR_LIMIT, (True, True)),
        ((4.02e6, 3.99e6), Verdict.GENERATOR_LIMIT, (True, False)),
        ((5e6, 3e6), Verdict.FASTER, (True, False)),
        ((3e6, 5e6), Verdict.SLOWER, (False, True)),
        ((3e6, 3e6), Verdict.EQUIVALENT, (False, False)),
    ],
)
def test_of_a_device_that_the_generator_cannot_saturate_only_a_lower_bound_is_known(able, expected, bounds):
    offered, (a, b) = 4e6, able

    def measure(dut_run: DutRun) -> DutFigure:
        fps = b if dut_run.device == "rust" else a
        return DutFigure(value=min(fps, offered), at_least=fps >= offered)

    @contextlib.contextmanager
    def start(dut_run: DutRun) -> Iterator[Measure]:
        yield lambda figure, size: measure(dut_run)

    found = compare(SETTINGS, start)
    assert verdicts(found) == {expected}
    assert {(one.a_at_least, one.b_at_least) for one in found.verdicts} == {bounds}
    assert ("the generator was the limit" in found.sentence) is (expected is Verdict.GENERATOR_LIMIT)


def test_too_few_blocks_for_so_many_sizes_are_refused():
    assert (least_blocks(1), least_blocks(7), least_blocks(26)) == (6, 9, 11)
    CompareSettings(a="c", b="rust", sizes=ARTICLE_SIZES, blocks=11)
    with pytest.raises(ValidationError, match="10 blocks cannot tell any difference at 26 sizes: give at least 11"):
        CompareSettings(a="c", b="rust", sizes=ARTICLE_SIZES)
    with pytest.raises(ValidationError, match="a and b are both 'c': give two devices"):
        CompareSettings(a="c", b="c")
    with pytest.raises(ValidationError, match="sizes has one twice"):
        CompareSettings(a="c", b="rust", sizes=(64, 64))


def test_holm_s_correction_decides():
    """At 64 bytes B is better in eight of nine blocks: enough alone, not beside a second size."""

    def rate(dut_run: DutRun, figure: Figure, size: int) -> float:
        if dut_run.device == "c":
            return 1e6
        if size == 64:
            return 1e6 / 1.05 if dut_run.block == 5 else 1e6 * (1 + dut_run.block / 100)
        return 1e6 * (1.05 if dut_run.block % 2 else 0.95)

    alone = CompareSettings(a="c", b="rust", sizes=(64,), blocks=9)
    (found,) = compare(alone, bench(rate)).verdicts
    # Of nine ranks the fifth is against it: 20 of 512 arrangements are no likelier.
    assert found.corrected_p == found.ratio.p == pytest.approx(20 / 512)
    assert found.verdict is Verdict.SLOWER
    both = CompareSettings(a="c", b="rust", sizes=(64, 128), blocks=9)
    found, _ = compare(both, bench(rate)).verdicts
    assert found.corrected_p == pytest.approx(2 * 20 / 512)
    assert found.verdict is Verdict.INCONCLUSIVE


def test_a_comparison_comes_back_from_json():
    found = compare(SETTINGS, noisy(lambda size: 1.02))
    assert Comparison.model_validate_json(found.model_dump_json()) == found
