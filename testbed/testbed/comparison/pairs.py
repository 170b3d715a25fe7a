# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""All pairs of a measurement, each with its verdict, and the noise floor that they are compared with."""

from __future__ import annotations

import itertools

from testbed.comparison.noise_floor import again
from testbed.comparison.pair_verdict import judge
from testbed.comparison.record import Measurement, Pair
from testbed.comparison.slices import is_disturbed, log_rates, ratio_of
from testbed.comparison.statistics import PairRatio, pair_ratio


def pairs(measurement: Measurement, per_cpu_second: bool) -> tuple[list[Pair], list[Pair]]:
    """All pairs of contestants, and the pair of the first with itself."""
    labels = measurement.labels
    if not labels:
        return [], []
    names = [label for label in labels if label != again(labels[0])]
    rates = [log_rates(block, per_cpu_second) for block in measurement.blocks]
    condition, disturbed = measurement.condition, not per_cpu_second and _mostly_disturbed(measurement)

    def pair(a: str, b: str, floor: PairRatio | None = None) -> Pair | None:
        found = (ratio_of(block, a, b) for block in rates)
        ratio = pair_ratio([sample for sample in found if sample is not None])
        if ratio is None:
            return None
        return Pair(
            a=a,
            b=b,
            wire=condition.wire,
            condition=condition,
            sweep=measurement.sweep,
            ratio=ratio,
            disturbed=disturbed,
            verdict=judge(ratio, floor, disturbed=disturbed),
        )

    floor = pair(labels[0], again(labels[0]))
    itself = floor.ratio if floor else None
    compared = [pair(a, b, itself) for a, b in itertools.combinations(names, 2)]
    return [one for one in compared if one], [floor] if floor else []


def _mostly_disturbed(measurement: Measurement) -> bool:
    valid = [block for block in measurement.blocks if not block.reasons]
    return 2 * sum(map(is_disturbed, valid)) > len(valid)
