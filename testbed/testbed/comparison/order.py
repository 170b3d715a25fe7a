# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""In which order programs take turns, so that a machine that slows down or speeds up steadily favours none."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def rounds(names: Sequence[T], count: int, chance: random.Random) -> list[list[T]]:
    """Each round has every name twice: in random order, then in the reverse (ABBA for two).

    Within a round all names have the same mean place.
    """
    order = []
    for _ in range(count):
        first = list(names)
        chance.shuffle(first)
        order.append([*first, *first[::-1]])
    return order


def balanced_order(names: Sequence[str], count: int, seed: int) -> list[list[str]]:
    """So many orders: random in every odd one, turned round in the next (ABBA or BAAB for two)."""
    turns = rounds(names, -(-count // 2), random.Random(seed))
    half = len(names)
    return [order for turn in turns for order in (turn[:half], turn[half:])][:count]
