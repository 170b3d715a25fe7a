# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""From the slices of a block to its sample: which of them count, and the ratio of two programs."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy

from testbed.comparison.record import Block, Run
from testbed.run.cpu_share import OWN_CPU_SHARE

# Above this share of its length a slice's length is not known well enough.
CLOCK_ERROR_SHARE = 0.01
# With less CPU time than this share of a slice, a rate per second of it is not known well enough: the kernel's time is
# known to 10 ms, and a server that waits for its client has next to none.
LEAST_CPU_SHARE = 0.1
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
    return ratio_of(log_rates(block, per_cpu_second), a, b)


def ratio_of(log_rates: Mapping[str, float], a: str, b: str) -> float | None:
    """Rate of A / rate of B; None if either is missing."""
    return math.exp(log_rates[a] - log_rates[b]) if a in log_rates and b in log_rates else None


def log_rates(block: Block, per_cpu_second: bool) -> dict[str, float]:
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
        if per_cpu_second:
            kept = kept & (numpy.asarray(run.slices.cpu_seconds) >= LEAST_CPU_SHARE * numpy.asarray(run.slices.seconds))
        if kept.any():
            times = run.slices.cpu_seconds if per_cpu_second else run.slices.seconds
            rates = numpy.asarray(run.slices.tx_packets)[kept] / numpy.asarray(times)[kept]
            values[run.label], turns[run.label] = numpy.log(rates), numpy.asarray(run.slices.round)[kept]
    by_round = dict.fromkeys((int(turn) for each in turns.values() for turn in each), 0.0)
    by_label = dict.fromkeys(values, 0.0)
    for _ in range(_POLISHES):
        before = (dict(by_label), dict(by_round))
        for label in values:
            by_label[label] = float(numpy.median(values[label] - [by_round[int(turn)] for turn in turns[label]]))
        for turn in by_round:
            rest = [values[label][turns[label] == turn] - by_label[label] for label in values]
            by_round[turn] = float(numpy.median(numpy.concatenate(rest)))
        if (by_label, by_round) == before:
            break
    return by_label
