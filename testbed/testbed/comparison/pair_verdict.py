# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the samples of a pair say, as a verdict and in words."""

from __future__ import annotations

from enum import StrEnum

from testbed.comparison.statistics import PairRatio

# Where there are too few blocks for one.
NO_INTERVAL = "no interval"
# Inside this distance of 1 two programs count as equally fast.
EQUIVALENCE = 0.01
# The range of n samples holds the median with a probability of 1 - 2^(1-n): with fewer than these, there is no interval
# of 95 %, and nothing is judged.
LEAST_JUDGED = 6
# A difference needs the test's word too, which can be corrected for the number of comparisons.
MOST_P = 0.05


class Verdict(StrEnum):
    """Of the first of a pair against the second."""

    FASTER = "faster"
    EQUIVALENT = "equivalent"
    SLOWER = "slower"
    INCONCLUSIVE = "inconclusive"
    # The generator could offer no more than a device forwarded, so that its figure is a lower bound.
    GENERATOR_LIMIT = "generator was the limit"


def judge(ratio: PairRatio | None, floor: PairRatio | None = None, *, disturbed: bool = False) -> Verdict:
    """Equivalent if the interval lies within 1 % of 1.

    Else faster or slower if it lies on one side of 1, p is below 0.05, and the median lies outside the interval of a
    program against itself (`floor`). Inconclusive if other programs disturbed most of the blocks (`disturbed`).
    """
    if disturbed or ratio is None or ratio.ci95 is None or len(ratio.samples) < LEAST_JUDGED:
        return Verdict.INCONCLUSIVE
    low, high = ratio.ci95
    if low >= 1 - EQUIVALENCE and high <= 1 + EQUIVALENCE:
        return Verdict.EQUIVALENT
    if ratio.p is None or ratio.p >= MOST_P:
        return Verdict.INCONCLUSIVE
    least, most = floor.ci95 if floor and floor.ci95 else (1.0, 1.0)
    if low > 1 and ratio.median > most:
        return Verdict.FASTER
    if high < 1 and ratio.median < least:
        return Verdict.SLOWER
    return Verdict.INCONCLUSIVE


def in_words(verdict: Verdict, a: str, b: str, better: str = "faster", worse: str = "slower") -> str:
    """'l2fwd-rs is faster than l2fwd-c'."""
    return {
        Verdict.FASTER: f"{a} is {better} than {b}",
        Verdict.EQUIVALENT: f"{a} and {b} are equal within {100 * EQUIVALENCE:g} %",
        Verdict.SLOWER: f"{a} is {worse} than {b}",
        Verdict.INCONCLUSIVE: f"{a} against {b} is inconclusive",
        Verdict.GENERATOR_LIMIT: f"{a} and {b} cannot be compared, since the generator was the limit,",
    }[verdict]


def headline(
    a: str,
    b: str,
    ratio: PairRatio,
    floor: PairRatio | None,
    verdict: Verdict,
    *,
    disturbed: bool = False,
    does: str = "forwards",
) -> str:
    """The answer in one sentence, with everything that it rests on.

    'l2fwd-rs forwards 1.031 times as much as l2fwd-c (95 % interval 1.022 to 1.040; noise floor 0.995 to 1.004):
    l2fwd-rs is faster than l2fwd-c.'
    """
    basis = [f"95 % interval {interval_text(ratio)}"] if ratio.ci95 else []
    basis += [f"noise floor {interval_text(floor)}"] if floor and floor.ci95 else []
    found = f"{a} {does} {ratio.median:.3f} times as much as {b}" + (f" ({'; '.join(basis)})" if basis else "")
    if disturbed:
        return (
            f"{found}: no verdict, since other programs used the CPUs during most blocks; repeat it on a quiet machine."
        )
    return f"{found}: {_conclusion(a, b, ratio, verdict)}."


def interval_text(ratio: PairRatio, digits: int = 3) -> str | None:
    """'0.998 to 1.003'; None without an interval."""
    return f"{ratio.ci95[0]:.{digits}f} to {ratio.ci95[1]:.{digits}f}" if ratio.ci95 else None


def ratio_text(ratio: PairRatio, digits: int = 2) -> str:
    """'1.02 (0.99 to 1.05)'."""
    return f"{ratio.median:.{digits}f} ({interval_text(ratio, digits) or NO_INTERVAL})"


def _conclusion(a: str, b: str, ratio: PairRatio, verdict: Verdict) -> str:
    count = len(ratio.samples)
    if verdict is Verdict.EQUIVALENT:
        return f"equal within {100 * EQUIVALENCE:g} %"
    if verdict is not Verdict.INCONCLUSIVE:
        return in_words(verdict, a, b)
    if ratio.ci95 is None or count < LEAST_JUDGED:
        return f"no verdict from {count} block{'' if count == 1 else 's'}, since it takes {LEAST_JUDGED}"
    low, high = ratio.ci95
    if low <= 1 <= high:
        return f"no difference found, and any is smaller than {100 * max(1 - low, high - 1):.1f} %"
    return "inconclusive, since the difference does not stand out from the noise"
