# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""From slices to figures and pairs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy

from testbed.bench.blocks import again
from testbed.bench.record import Block, Figures, Lost, Measurement, Pair, Run
from testbed.bench.verdict import PairRatio, judge, pair_ratio

# Below this share of its CPU a program that never sleeps was held up by others: its slice does not count.
OWN_CPU_SHARE = 0.9
# Above this share of its length a slice's length is not known well enough.
CLOCK_ERROR_SHARE = 0.01
# If others held up more of a block's rounds than this leaves, none is left out, and the block is marked.
LEAST_ROUNDS_SHARE = 1 / 3


def shares(run: Run) -> list[float]:
    """CPU time / time of each slice; the lesser of forwarder and generator."""
    own = [cpu / seconds for cpu, seconds in zip(run.slices.cpu_seconds, run.slices.seconds, strict=True)]
    if not run.slices.generator_cpu_seconds:
        return own
    pairs = zip(own, run.slices.generator_cpu_seconds, run.slices.seconds, strict=True)
    return [min(share, cpu / seconds) for share, cpu, seconds in pairs]


def exact_rounds(run: Run) -> set[int]:
    """The rounds whose length is known well enough."""
    slices = run.slices
    readings = zip(slices.round, slices.clock_error_s, slices.seconds, strict=True)
    return set(slices.round) - {turn for turn, error, seconds in readings if error > CLOCK_ERROR_SHARE * seconds}


def undisturbed_rounds(run: Run) -> set[int]:
    """Those of them in which it had its CPU to itself."""
    disturbed = {turn for turn, share in zip(run.slices.round, shares(run), strict=True) if share < OWN_CPU_SHARE}
    return exact_rounds(run) - disturbed


def is_disturbed(block: Block) -> bool:
    """Whether others left too few rounds of some instance to go by."""
    return any(len(undisturbed_rounds(run)) < LEAST_ROUNDS_SHARE * len(set(run.slices.round)) for run in block.runs)


def block_ratio(block: Block, a: str, b: str, per_cpu_second: bool) -> float | None:
    """Rate of A / rate of B in this block: the median over rounds, whose slices lie next to each other in time."""
    if block.reasons:
        return None
    runs = {run.label: run for run in block.runs}
    if a not in runs or b not in runs:
        return None
    one, other = runs[a], runs[b]
    common = exact_rounds(one) & exact_rounds(other)
    kept = undisturbed_rounds(one) & undisturbed_rounds(other)
    if per_cpu_second or len(kept) < LEAST_ROUNDS_SHARE * len(common):
        kept = common
    ratios = []
    for turn in sorted(kept):
        rates = [_rate(run, turn, per_cpu_second) for run in (one, other)]
        if all(rates):
            ratios.append(rates[0] / rates[1])
    return float(numpy.median(ratios)) if ratios else None


def _rate(run: Run, turn: int, per_cpu_second: bool) -> float:
    """Forwarded frames a second in the slices of one round."""
    slices = run.slices
    times = slices.cpu_seconds if per_cpu_second else slices.seconds
    places = [index for index, number in enumerate(slices.round) if number == turn]
    time = sum(times[index] for index in places)
    return sum(slices.tx_packets[index] for index in places) / time if time > 0 else 0.0


def pairs(measurement: Measurement, per_cpu_second: bool) -> tuple[list[Pair], list[Pair]]:
    """All pairs of contestants, and the pair of the first with itself."""
    labels = measurement.labels
    if not labels:
        return [], []
    names = [label for label in labels if label != again(labels[0])]
    floor = _pair(measurement, labels[0], again(labels[0]), per_cpu_second)
    itself = floor.ratio if floor else None
    compared = [_pair(measurement, a, b, per_cpu_second, itself) for a, b in itertools.combinations(names, 2)]
    return [pair for pair in compared if pair], [floor] if floor else []


def _pair(
    measurement: Measurement, a: str, b: str, per_cpu_second: bool, floor: PairRatio | None = None
) -> Pair | None:
    found = (block_ratio(block, a, b, per_cpu_second) for block in measurement.blocks)
    ratio = pair_ratio([sample for sample in found if sample is not None])
    if ratio is None:
        return None
    condition = measurement.condition
    return Pair(
        a=a,
        b=b,
        wire=condition.wire,
        condition=condition,
        sweep=measurement.sweep,
        ratio=ratio,
        verdict=judge(ratio, floor),
    )


def figures(measurement: Measurement, tsc_hz: int | None) -> list[Figures]:
    """What describes each contestant."""
    valid = [block for block in measurement.blocks if not block.reasons]
    found = []
    for label in measurement.labels:
        runs = [run for block in valid for run in block.runs if run.label == label and run.slices.round]
        if runs:
            found.append(_figures(label, runs, tsc_hz))
    return found


def _figures(label: str, runs: Sequence[Run], tsc_hz: int | None) -> Figures:
    def median(figure: Callable[[Run], float | None]) -> float | None:
        values = [value for value in map(figure, runs) if value is not None]
        return float(numpy.median(values)) if values else None

    def known(figure: Callable[[Run], float | None]) -> float:
        return median(figure) or 0.0

    def generator_share(run: Run) -> float | None:
        cpu = run.slices.generator_cpu_seconds
        return sum(cpu) / sum(run.slices.seconds) if cpu else None

    def total(place: str) -> int | None:
        counts = [getattr(run.lost, place) for run in runs]
        return None if any(count is None for count in counts) else max(0, sum(counts))

    per_cpu = known(lambda run: sum(run.slices.tx_packets) / max(sum(run.slices.cpu_seconds), 1e-9))
    return Figures(
        label=label,
        blocks=len(runs),
        rate_pps=known(lambda run: sum(run.slices.tx_packets) / sum(run.slices.seconds)),
        rate_per_cpu_pps=per_cpu,
        cpu_share=known(lambda run: sum(run.slices.cpu_seconds) / sum(run.slices.seconds)),
        generator_cpu_share=median(generator_share),
        cycles_per_packet=tsc_hz / per_cpu if tsc_hz and per_cpu else None,
        rx_burst_avg=median(lambda run: run.rx_burst_avg),
        empty_poll_share=median(lambda run: run.empty_poll_share),
        lost=Lost(**{place: total(place) for place in Lost.model_fields}),
        rss_kb=round(known(lambda run: run.rss_kb)),
        hugepages_kb=round(known(lambda run: run.hugepages_kb)),
        start_s=known(lambda run: run.start_s),
    )
