# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""All pairs of a measurement, each with its verdict, and the noise floor that they are compared with."""

from __future__ import annotations

import itertools

from testbed.comparison.noise_floor import again
from testbed.comparison.pair_verdict import judge
from testbed.comparison.record import Measurement, Pair
from testbed.comparison.slices import block_ratio, is_disturbed
from testbed.comparison.statistics import PairRatio, pair_ratio


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
    disturbed = not per_cpu_second and _mostly_disturbed(measurement)
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


def _mostly_disturbed(measurement: Measurement) -> bool:
    valid = [block for block in measurement.blocks if not block.reasons]
    return 2 * sum(map(is_disturbed, valid)) > len(valid)
