# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The noise floor: the first contestant against a second instance of itself, in the same blocks by the same arithmetic.

No smaller difference can be told.
"""

from __future__ import annotations

from testbed.comparison.pair_verdict import Verdict, interval_text
from testbed.comparison.record import Pair


def again(label: str) -> str:
    """The label of the second instance of the first contestant."""
    return f"{label} (again)"


def floor_in_words(pair: Pair) -> str:
    """What the comparison of a program with itself says about all others."""
    ratio = pair.ratio
    text = f"Noise floor on {pair.describe()}: {pair.a} against itself {ratio.median:.4f}"
    if ratio.ci95 is None:
        return f"{text}; too few blocks for an interval."
    text += f", 95 % interval {interval_text(ratio, 4)}, {100 * (ratio.ci95[1] - ratio.ci95[0]):.2f} % wide"
    if pair.verdict in (Verdict.FASTER, Verdict.SLOWER):
        text += ": the same program differs from itself, so differences of this size mean nothing here"
    return f"{text}."
