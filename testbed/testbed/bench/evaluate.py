# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""From slices to figures and pairs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy

from testbed.bench.blocks import again
from testbed.bench.record import Block, Figures, Lost, Measurement, Pair, Run
from testbed.bench.verdict import PairRatio, judge, pair_ratio

# Below this share of its CPU a program that never sleeps was held up by others: its slice does not count.
OWN_CPU_SHARE = 0.9
# Above this share of its length a slice's length is not known well enough.
CLOCK_ERROR_SHARE = 0.01
# If others leave less than this share of an instance's slices, none is left out, and the block is marked.
LEAST_SLICES_SHARE = 1 / 3
# It settles within a few.
_POLISHES = 10


def shares(run: Run) -> list[float]:
    """CPU time / time of each slice; the lesser of forwarder and generator."""
    own = [cpu / seconds for cpu, seconds in zip(run.slices.cpu_seconds, run.slices.seconds, strict=True)]
    if not run.slices.generator_cpu_seconds:
        return own
    pairs = zip(own, run.slices.generator_cpu_seconds, run.slices.seconds, strict=True)
    return [min(share, cpu / seconds) for share, cpu, seconds in pairs]


def exact(run: Run) -> numpy.ndarray:
    """Which slices have a length that is known well enough, and some CPU time."""
    slices = run.slices
    seconds, error = numpy.asarray(slices.seconds), numpy.asarray(slices.clock_error_s)
    return (error <= CLOCK_ERROR_SHARE * seconds) & (numpy.asarray(slices.tx_packets) > 0)


def undisturbed(run: Run) -> numpy.ndarray:
    """Which of them had the CPU to themselves."""
    return exact(run) & (numpy.asarray(shares(run)) >= OWN_CPU_SHARE)


def is_disturbed(block: Block) -> bool:
    """Whether others left too few slices of some instance to go by."""
    return any(undisturbed(run).sum() < LEAST_SLICES_SHARE * len(run.slices.round) for run in block.runs)


def block_ratio(block: Block, a: str, b: str, per_cpu_second: bool) -> float | None:
    """Rate of A / rate of B in this block."""
    found = _log_rates(block, per_cpu_second)
    return math.exp(found[a] - found[b]) if a in found and b in found else None


def _log_rates(block: Block, per_cpu_second: bool) -> dict[str, float]:
    """The logarithm of each instance's rate: the median of its slices, freed from what each round did to all alike.

    This is Tukey's median polish of rounds and instances. Rounds take up what the machine does over seconds; medians
    take no notice of single slices that others held up.
    """
    if block.reasons:
        return {}
    keep_all = per_cpu_second or is_disturbed(block)
    values, turns = {}, {}
    for run in block.runs:
        kept = exact(run) if keep_all else undisturbed(run)
        if kept.any():
            times = run.slices.cpu_seconds if per_cpu_second else run.slices.seconds
            rates = numpy.asarray(run.slices.tx_packets)[kept] / numpy.asarray(times)[kept]
            values[run.label], turns[run.label] = numpy.log(rates), numpy.asarray(run.slices.round)[kept]
    by_round = dict.fromkeys((int(turn) for each in turns.values() for turn in each), 0.0)
    by_label = dict.fromkeys(values, 0.0)
    for _ in range(_POLISHES):
        for label in values:
            by_label[label] = float(numpy.median(values[label] - [by_round[int(turn)] for turn in turns[label]]))
        for turn in by_round:
            rest = [values[label][turns[label] == turn] - by_label[label] for label in values]
            by_round[turn] = float(numpy.median(numpy.concatenate(rest)))
    return by_label


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
