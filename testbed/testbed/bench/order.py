# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""In which order the instances of a block run."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def rounds(names: Sequence[T], count: int, chance: random.Random) -> list[list[T]]:
    """Each round has every name twice: in random order, then in the reverse (ABBA for two).

    Within a round all names have the same mean place, so a machine that slows down or speeds up steadily favours none.
    """
    order = []
    for _ in range(count):
        first = list(names)
        chance.shuffle(first)
        order.append([*first, *first[::-1]])
    return order
