# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The charts along a sweep."""

from __future__ import annotations

from matplotlib.axes import Axes

from testbed.bench.record import OverloadRecord
from testbed.comparison.condition import SWEEPS
from testbed.comparison.pair_verdict import EQUIVALENCE
from testbed.comparison.record import Measurement, Pair
from testbed.page.charts import MUTED, SERIES, TEXT, draw

_MARKERS = ("D", "o", "s", "^", "v", "P")


def sweep_charts(record: OverloadRecord, wire: str, name: str) -> list[tuple[str, str]]:
    """(title, chart) of the ratios and of the rates along one sweep."""
    key, _, label = SWEEPS[name]
    pairs = [pair for pair in record.pairs if pair.sweep == name and pair.wire == wire]
    pairs = [pair for pair in pairs if pair.a == pairs[0].a]
    measurements = [m for m in record.measurements if m.sweep == name and m.condition.wire == wire and m.figures]
    if not measurements:
        return []

    def values_of(chosen: list[Pair] | list[Measurement]) -> list[int]:
        return [getattr(entry.condition, key) for entry in chosen]

    places = {value: index for index, value in enumerate(sorted(set(values_of(measurements))))}

    def ticks(axes: Axes) -> None:
        axes.set_xticks(list(places.values()), [f"{value:,d}" for value in places])
        axes.set_xlabel(label)
        axes.grid(axis="y")

    def paint_ratios(axes: Axes) -> None:
        axes.axhspan(1 - EQUIVALENCE, 1 + EQUIVALENCE, color=MUTED, alpha=0.18, linewidth=0)
        axes.axhline(1.0, color=TEXT, linewidth=1.2)
        for number, other in enumerate(dict.fromkeys(pair.b for pair in pairs)):
            mine = [pair for pair in pairs if pair.b == other]
            colour = SERIES[(number + 1) % len(SERIES)]
            # Side by side, so that equal ones are all seen.
            at = [places[value] + 0.06 * number for value in values_of(mine)]
            medians = [pair.ratio.median for pair in mine]
            ends = [pair.ratio.ci95 or (pair.ratio.median, pair.ratio.median) for pair in mine]
            reach = [[m - low, high - m] for m, (low, high) in zip(medians, ends, strict=True)]
            axes.errorbar(
                at,
                medians,
                yerr=list(zip(*reach, strict=True)),
                marker=_MARKERS[(number + 1) % len(_MARKERS)],
                color=colour,
                capsize=3,
                label=f"{mine[0].a} / {other}",
            )
        ticks(axes)
        axes.set_ylabel("ratio, 95 % interval")
        axes.legend(frameon=False, fontsize=9.5)

    def paint_rates(axes: Axes) -> None:
        labels = list(dict.fromkeys(figures.label for m in measurements for figures in m.figures[:-1]))
        for number, contestant in enumerate(labels):
            points = [
                (places[getattr(m.condition, key)], _rate(figures, record.per_cpu_second) / 1e6)
                for m in measurements
                for figures in m.figures
                if figures.label == contestant
            ]
            axes.plot(
                *zip(*points, strict=True),
                marker=_MARKERS[number % len(_MARKERS)],
                color=SERIES[number % len(SERIES)],
                label=contestant,
            )
        axes.set_ylim(0, 1.1 * axes.get_ylim()[1])
        ticks(axes)
        axes.set_ylabel("million frames / s" + (" of CPU" if record.per_cpu_second else ""))
        axes.legend(frameon=False, fontsize=9.5)

    identity = f"sweep-{name}-{wire}".replace(",", "-").replace(":", "-").replace(".", "-")
    charts = []
    if pairs:
        title = f"Ratio along the {name}"
        charts.append((title, draw(f"{identity}-ratio", 3.6, paint_ratios, title)))
    title = f"Rates along the {name}"
    return [*charts, (title, draw(f"{identity}-rate", 3.6, paint_rates, title))]


def _rate(figures: object, per_cpu_second: bool) -> float:
    return getattr(figures, "rate_per_cpu_pps" if per_cpu_second else "rate_pps")
