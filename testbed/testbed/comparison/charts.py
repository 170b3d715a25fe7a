# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The chart of a comparison: each pair with its interval, the noise floor below."""

from __future__ import annotations

from matplotlib.axes import Axes

from testbed.comparison.pair_verdict import EQUIVALENCE
from testbed.comparison.record import Pair
from testbed.page.charts import MUTED, SERIES, TEXT, draw

PAIR_TITLE = "Ratio A / B (right of 1: A is faster)"


def pair_chart(pairs: list[Pair], floors: list[Pair]) -> str | None:
    """Median, interval and samples of each pair, the noise floor below."""
    rows = [*((pair, SERIES[0]) for pair in pairs), *((pair, MUTED) for pair in floors)]
    if not rows:
        return None

    def paint(axes: Axes) -> None:
        axes.axvspan(1 - EQUIVALENCE, 1 + EQUIVALENCE, color=MUTED, alpha=0.18, linewidth=0)
        axes.axvline(1.0, color=TEXT, linewidth=1.2)
        labels = []
        for place, (pair, colour) in zip(range(len(rows), 0, -1), rows, strict=True):
            ratio = pair.ratio
            axes.plot(
                ratio.samples,
                [place - 0.22] * len(ratio.samples),
                linestyle="none",
                marker="|",
                markersize=6,
                color=colour,
                alpha=0.7,
            )
            if ratio.ci95:
                axes.plot(ratio.ci95, [place, place], color=colour, linewidth=3, solid_capstyle="butt")
            axes.plot([ratio.median], [place], linestyle="none", marker="o", markersize=7, color=colour)
            end = f"on {pair.wire}" if len({entry.wire for entry, _ in rows}) > 1 else ""
            labels.append(f"{pair.a} /\n{pair.b}" + (f"\n{end}" if end else ""))
        axes.set_yticks(list(range(len(rows), 0, -1)), labels)
        axes.tick_params(axis="y", labelsize=9.5)
        axes.set_ylim(0.4, len(rows) + 0.6)
        reach = max(abs(value - 1) for pair, _ in rows for value in _extent(pair))
        reach = max(1.5 * EQUIVALENCE, 1.1 * reach)
        axes.set_xlim(1 - reach, 1 + reach)
        axes.locator_params(axis="x", nbins=5)
        axes.grid(axis="x")

    return draw("pairs", 0.7 + 0.72 * len(rows), paint, PAIR_TITLE)


def _extent(pair: Pair) -> list[float]:
    """What must be seen of a pair: median and interval, and samples that are not far out."""
    ratio = pair.ratio
    ends = [ratio.median, *(ratio.ci95 or (ratio.median, ratio.median))]
    reach = 2 * max(abs(end - 1) for end in ends) + EQUIVALENCE
    return [*ends, *(sample for sample in ratio.samples if abs(sample - 1) <= reach)]
