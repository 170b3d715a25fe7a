# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A comparison's order, samples, intervals and verdicts."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from testbed.comparison import slices
from testbed.comparison.condition import Condition
from testbed.comparison.figures import figures
from testbed.comparison.order import rounds
from testbed.comparison.pair_verdict import Verdict, judge
from testbed.comparison.pairs import pairs
from testbed.comparison.record import Block, Lost, Measurement, Run, Slices
from testbed.comparison.statistics import PairRatio, pair_ratio

NAMES = ["a", "b", "a (again)"]


def test_a_round_is_an_order_and_its_reverse():
    for order in rounds(NAMES, 50, random.Random(1)):
        assert sorted(order[:3]) == sorted(NAMES)
        assert order[3:] == order[2::-1]


def test_the_order_is_random_and_repeatable():
    one, again, other = (rounds(NAMES, 50, random.Random(seed)) for seed in (1, 1, 2))
    assert one == again != other
    assert {tuple(order[:3]) for order in one} == {tuple(order[:3]) for order in other}
    assert len({tuple(order[:3]) for order in one}) == 6


def ratio_of(low: float, median: float, high: float, p: float = 0.01) -> PairRatio:
    return PairRatio(median=median, ci95=(low, high), samples=[median] * 10, p=p)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.991, 1.009, Verdict.EQUIVALENT),
        (1.001, 1.009, Verdict.EQUIVALENT),
        (1.001, 1.02, Verdict.FASTER),
        (0.95, 0.999, Verdict.SLOWER),
        (0.98, 1.005, Verdict.INCONCLUSIVE),
        (0.98, 1.02, Verdict.INCONCLUSIVE),
    ],
)
def test_verdicts(low: float, high: float, verdict: Verdict):
    assert judge(ratio_of(low, (low + high) / 2, high)) is verdict


def test_no_difference_below_the_noise_floor_counts():
    ratio = ratio_of(1.02, 1.05, 1.08)
    assert judge(ratio, ratio_of(0.98, 1.0, 1.04)) is Verdict.FASTER
    assert judge(ratio, ratio_of(0.98, 1.0, 1.06)) is Verdict.INCONCLUSIVE
    assert judge(ratio_of(0.92, 0.95, 0.98), ratio_of(0.94, 1.0, 1.04)) is Verdict.INCONCLUSIVE
    assert judge(ratio_of(0.92, 0.93, 0.98), ratio_of(0.94, 1.0, 1.04)) is Verdict.SLOWER


def test_a_difference_needs_the_tests_word_too():
    assert judge(ratio_of(1.02, 1.05, 1.08, p=0.06)) is Verdict.INCONCLUSIVE
    assert judge(ratio_of(0.995, 1.0, 1.005, p=0.9)) is Verdict.EQUIVALENT


def test_too_few_samples_have_no_interval():
    assert pair_ratio([]) is None
    few = pair_ratio([1.1, 1.2])
    assert (few.ci95, few.p, judge(few)) == (None, None, Verdict.INCONCLUSIVE)


def test_no_verdict_of_few_samples():
    assert judge(pair_ratio([1.2] * 5)) is Verdict.INCONCLUSIVE
    assert judge(pair_ratio([1.2] * 6)) is Verdict.FASTER


def test_interval_and_test_of_samples():
    found = pair_ratio([1.1, 1.12, 1.09, 1.11, 1.1, 1.13, 1.08, 1.1, 1.11, 1.12])
    assert found.median == pytest.approx(1.105)
    low, high = found.ci95
    assert 1.08 <= low < found.median < high <= 1.13
    # All ten on one side: 2 / 2^10, or near it where ties forbid the exact test.
    assert found.p < 0.01
    assert pair_ratio([1.0] * 5).p == 1.0
    # The same samples, the same interval.
    assert pair_ratio(found.samples) == found


def run_of(label: str, rates: list[float], share: float = 1.0, generator_share: float | None = None) -> Run:
    """One round for each rate, with two slices of 0.1 s."""
    turns = [turn for turn in range(1, len(rates) + 1) for _ in range(2)]
    packets = [int(rates[turn - 1] * 0.1) for turn in turns]
    slices = Slices(
        round=turns,
        seconds=[0.1] * len(turns),
        rx_packets=packets,
        tx_packets=packets,
        cpu_seconds=[0.1 * share] * len(turns),
        generator_cpu_seconds=[] if generator_share is None else [0.1 * generator_share] * len(turns),
        clock_error_s=[0.0] * len(turns),
    )
    return Run(label=label, start_s=0.5, rss_kb=1024, hugepages_kb=2048, slices=slices)


def block_of(*runs: Run, number: int = 1) -> Block:
    return Block(number=number, runs=list(runs))


def test_a_block_takes_its_ratio_within_rounds():
    # The machine gets four times as fast; in each round a is 1.1 times b.
    block = block_of(run_of("a", [110e6, 220e6, 440e6]), run_of("b", [100e6, 200e6, 400e6]))
    assert slices.block_ratio(block, "a", "b", False) == pytest.approx(1.1)
    assert slices.block_ratio(block, "b", "a", False) == pytest.approx(1 / 1.1)


def test_slices_that_were_held_up_do_not_move_the_ratio():
    a, b = run_of("a", [110e6] * 5), run_of("b", [100e6] * 5)
    for index in (0, 5, 9):
        a.slices.tx_packets[index] //= 3
    assert slices.block_ratio(block_of(a, b), "a", "b", True) == pytest.approx(1.1)


def test_a_faster_machine_while_only_one_has_usable_slices_does_not_favour_it():
    # In the last round, when all run twice as fast, b has nothing to show.
    a, b, c = (run_of(name, [100e6, 100e6, 200e6]) for name in ("a", "b", "c"))
    b.slices.tx_packets[4] = b.slices.tx_packets[5] = 0
    assert slices.block_ratio(block_of(a, b, c), "a", "b", False) == pytest.approx(1.0)


def test_disturbed_slices_do_not_count():
    a, b = run_of("a", [100e6] * 6), run_of("b", [100e6] * 6)
    for index in range(8):
        a.slices.cpu_seconds[index] = 0.05
        a.slices.tx_packets[index] //= 2
    assert slices.block_ratio(block_of(a, b), "a", "b", False) == pytest.approx(1.0)
    assert not slices.is_disturbed(block_of(a, b))


@pytest.mark.parametrize("per_cpu_second", [False, True])
def test_a_slice_of_uncertain_length_does_not_count(per_cpu_second: bool):
    a, b = run_of("a", [100e6]), run_of("b", [100e6])
    a.slices.tx_packets[0] *= 3
    a.slices.clock_error_s[0] = 0.05
    assert slices.block_ratio(block_of(a, b), "a", "b", per_cpu_second) == pytest.approx(1.0)
    a.slices.clock_error_s[1] = 0.05
    assert slices.block_ratio(block_of(a, b), "a", "b", per_cpu_second) is None


def test_where_nearly_all_is_disturbed_all_counts_and_the_block_says_so():
    block = block_of(run_of("a", [50e6] * 6, share=0.5), run_of("b", [100e6] * 6))
    assert slices.block_ratio(block, "a", "b", False) == pytest.approx(0.5)
    assert slices.is_disturbed(block)
    # By CPU time they are equal.
    assert slices.block_ratio(block, "a", "b", True) == pytest.approx(1.0)


def test_a_slice_with_next_to_no_cpu_time_says_nothing_of_a_rate_by_it():
    """The kernel's CPU time is known to 10 ms, and may even seem negative."""
    waited, busy = run_of("a", [100e6] * 6), run_of("b", [100e6] * 6)
    waited.slices.cpu_seconds[2:4] = [-0.009, 0.0]
    assert slices.block_ratio(block_of(waited, busy), "a", "b", True) == pytest.approx(1.0)
    waited.slices.cpu_seconds = [0.0] * len(waited.slices.seconds)
    assert slices.block_ratio(block_of(waited, busy), "a", "b", True) is None


def test_a_starved_generator_disturbs_too():
    assert slices.is_disturbed(block_of(run_of("a", [1e6] * 3, generator_share=0.5)))
    assert not slices.is_disturbed(block_of(run_of("a", [1e6] * 3, generator_share=0.95)))


def measurement_of(blocks: list[Block]) -> Measurement:
    return Measurement(condition=Condition(), labels=["a", "b", "a (again)"], blocks=blocks)


def blocks_of(ratio: float, count: int = 10) -> list[Block]:
    chance = random.Random(3)
    return [
        block_of(
            run_of("a", [ratio * 100e6 * chance.uniform(0.999, 1.001)] * 4),
            run_of("b", [100e6] * 4),
            run_of("a (again)", [ratio * 100e6] * 4),
            number=number,
        )
        for number in range(1, count + 1)
    ]


@pytest.mark.parametrize(("disturbed", "verdict"), [(5, Verdict.FASTER), (6, Verdict.INCONCLUSIVE)])
def test_no_verdict_where_most_blocks_were_disturbed(disturbed: int, verdict: Verdict):
    blocks = blocks_of(1.1)
    for block in blocks[:disturbed]:
        for run in block.runs:
            run.slices.cpu_seconds = [share / 2 for share in run.slices.cpu_seconds]
    ((pair,), _) = pairs(measurement_of(blocks), per_cpu_second=False)
    assert (pair.verdict, pair.disturbed) == (verdict, disturbed == 6)
    # CPU time does not count what others had.
    assert not pairs(measurement_of(blocks), per_cpu_second=True)[0][0].disturbed


@pytest.mark.parametrize(
    ("ratio", "verdict"), [(1.2, Verdict.FASTER), (1.0, Verdict.EQUIVALENT), (0.9, Verdict.SLOWER)]
)
def test_pairs_and_noise_floor(ratio: float, verdict: Verdict):
    (pair,), (floor,) = pairs(measurement_of(blocks_of(ratio)), False)
    assert (pair.a, pair.b, pair.wire, pair.verdict) == ("a", "b", "net_null", verdict)
    assert pair.ratio.median == pytest.approx(ratio, rel=0.002)
    assert (floor.a, floor.b, floor.verdict) == ("a", "a (again)", Verdict.EQUIVALENT)


def test_an_invalid_block_counts_nowhere():
    blocks = blocks_of(1.0)
    blocks[0].reasons = ["it died"]
    (pair,), _ = pairs(measurement_of(blocks), False)
    assert len(pair.ratio.samples) == 9
    assert figures(measurement_of(blocks), None)[0].blocks == 9


def test_figures():
    block = block_of(run_of("a", [100e6] * 2, share=0.5), run_of("b", [50e6] * 2), run_of("a (again)", [1e6]))
    block.runs[0].lost = Lost(wire_to_forwarder=3, forwarder=-2, device_rx=1)
    first, second, _ = figures(measurement_of([block]), 2_000_000_000)
    assert first.rate_pps == pytest.approx(100e6)
    assert first.rate_per_cpu_pps == pytest.approx(200e6)
    assert first.cpu_share == pytest.approx(0.5)
    assert first.cycles_per_packet == pytest.approx(10.0)
    assert first.lost == Lost(wire_to_forwarder=3, device_rx=1, forwarder=0, wire_to_generator=None)
    assert (second.label, second.rx_burst_avg) == ("b", None)
    assert figures(measurement_of([block]), None)[0].cycles_per_packet is None


def test_nothing_measured_gives_nothing():
    empty = Measurement(condition=Condition(), labels=[])
    assert pairs(empty, False) == ([], [])
    assert figures(empty, None) == []
    assert pairs(measurement_of([]), False) == ([], [])


def test_the_source_of_the_plug_in_is_shipped():
    assert Path(slices.__file__).with_name("plugin.c").is_file()
