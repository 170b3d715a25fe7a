# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The charts of `bench codecs`, in the form of the article: relative time by case and mode, as bars."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from testbed.comparison.record import Pair
from testbed.page.charts import SERIES, TEXT, draw

TITLE = "{case}: CPU time of a round, {a} / {b} (below 1: {a} is faster)"


def time_charts(pairs: Sequence[Pair]) -> list[tuple[str, str]]:
    """(title, chart) of each case: one pair of libraries, a bar for each condition, with its 95 % interval."""
    cases = dict.fromkeys(pair.condition.case for pair in pairs)
    return [_chart([pair for pair in pairs if pair.condition.case == case]) for case in cases]


def _chart(pairs: Sequence[Pair]) -> tuple[str, str]:
    first = pairs[0]
    title = TITLE.format(case=first.condition.case, a=first.a, b=first.b)
    places = list(range(len(pairs), 0, -1))

    def paint(axes: Axes) -> None:
        for place, pair in zip(places, pairs, strict=True):
            # Rates become times.
            axes.barh(place, 1 / pair.ratio.median, height=0.6, color=SERIES[0], alpha=0.85)
            if pair.ratio.ci95:
                low, high = pair.ratio.ci95
                axes.plot([1 / high, 1 / low], [place, place], color=TEXT, linewidth=1.6)
        axes.axvline(1.0, color=TEXT, linewidth=1.2)
        axes.set_yticks(places, [pair.describe().partition(", ")[2] for pair in pairs])
        axes.tick_params(axis="y", labelsize=9.5)
        axes.set_ylim(0.4, len(pairs) + 0.6)
        axes.set_xlim(left=0)
        axes.grid(axis="x")

    return title, draw(f"codecs-{first.condition.case}", 0.9 + 0.36 * len(pairs), paint, title)
