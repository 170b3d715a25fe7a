# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The demo's charts, and how any chart is drawn: SVG inside the page that takes its colours from the page's style."""

from __future__ import annotations

import io
import re
from collections.abc import Callable

import matplotlib.ticker
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from testbed.results import OverloadAct, OverloadTrial
from testbed.statistics import spread

# matplotlib wants real colours, the page wants variables that follow light, dark and print: these stand-ins are
# replaced in the finished SVG.
_STAND_INS = {
    "#010101": "currentColor",
    "#020202": "var(--muted)",
    "#030303": "var(--grid)",
    "#0404c0": "var(--c)",
    "#c00404": "var(--rust)",
    "#050505": "var(--kept)",
    "#060606": "var(--lost-1)",
    "#070707": "var(--lost-2)",
    "#080808": "var(--lost-3)",
    "#090909": "var(--card)",
    "#0a0a0a": "var(--series-1)",
    "#0b0b0b": "var(--series-2)",
    "#0c0c0c": "var(--series-3)",
    "#0d0d0d": "var(--series-4)",
    "#0e0e0e": "var(--series-5)",
    "#0f0f0f": "var(--series-6)",
}
TEXT, MUTED, _GRID, _C, _RUST, _KEPT, _LOST_1, _LOST_2, _LOST_3, CARD, *SERIES = _STAND_INS
COLOURS = {"C": _C, "Rust": _RUST}
_MARKERS = {"C": "o", "Rust": "D"}

_STYLE = {
    "svg.fonttype": "none",  # text stays text: it can be searched, selected and read aloud
    "font.family": "sans-serif",
    "font.size": 11.5,
    "text.color": TEXT,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "grid.color": _GRID,
    "grid.linewidth": 0.8,
    "axes.axisbelow": True,
}
RATE_TITLE = "Forwarded rate of each round"
RATIO_TITLE = "Forwarded frames, Rust / C"
DROPS_TITLE = "Where the frames that were sent ended"

# Narrow enough that the text stays legible when the picture is as wide as a phone.
_WIDTH = 4.9


def draw(name: str, height: float, paint: Callable[[Axes], None], label: str) -> str:
    """The SVG of what `paint` puts on the axes; `name` is unique on the page, `height` in inches."""
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        paint(figure.add_subplot())
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _for_page(text.getvalue(), name, label)


def _for_page(svg: str, name: str, label: str) -> str:
    """Makes a stand-alone SVG file a part of a page: no prologue, no fixed size, ids of its own, colours by name."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = svg.replace("<svg ", f'<svg class="chart" role="img" aria-label="{label}" ', 1)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'(href="#|url\(#)([^")]+)', rf"\1{name}-\2", svg)
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    for stand_in, colour in _STAND_INS.items():
        svg = svg.replace(stand_in, colour)
    return svg


def rate_chart(act: OverloadAct) -> str | None:
    """Forwarded rate of each round, with median and range of each language."""
    valid = [trial for trial in act.trials if trial.valid and trial.forwarded_pps]
    if not valid:
        return None
    languages = sorted({trial.language for trial in valid})

    def paint(axes: Axes) -> None:
        numbers = range(1, act.rounds + 1)
        for place, language in enumerate(languages):
            mine = [trial for trial in valid if trial.language == language]
            rates = [(trial.forwarded_pps or 0) / 1e6 for trial in mine]
            colour = COLOURS[language]
            found = spread(rates)
            assert found is not None
            axes.axhspan(found.low, found.high, color=colour, alpha=0.12, linewidth=0)
            axes.axhline(found.median, color=colour, linewidth=1.2, linestyle=(0, (5, 3)))
            # Side by side, so that two equal figures are both seen.
            offset = 0.12 * (place - (len(languages) - 1) / 2)
            axes.plot(
                [trial.round + offset for trial in mine],
                rates,
                linestyle="none",
                marker=_MARKERS[language],
                markersize=7,
                color=colour,
                label=f"{language}, median {found.median:.3f}",
            )
        axes.set_xticks(list(numbers) if act.rounds <= 15 else [])
        axes.set_xlim(0.5, act.rounds + 0.5)
        axes.set_ylim(0, 1.12 * max((trial.forwarded_pps or 0) / 1e6 for trial in valid))
        axes.set_xlabel("round")
        axes.set_ylabel("forwarded, million frames/s")
        axes.grid(axis="y")
        axes.legend(frameon=False, loc="lower center", ncols=2, handletextpad=0.3)

    return draw("rate", 3.6, paint, RATE_TITLE)


def ratio_chart(act: OverloadAct) -> str | None:
    """The ratio of each round, their median, and the bootstrap interval."""
    ratio = act.ratio
    if ratio is None:
        return None

    def paint(axes: Axes) -> None:
        rows = len(ratio.ratios)
        axes.axvline(1.0, color=TEXT, linewidth=1.2)
        places = list(range(rows, 0, -1))
        axes.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(5))
        axes.plot(ratio.ratios, places, linestyle="none", marker="D", markersize=7, color=_RUST)
        labels = [f"round {number}" for number in ratio.rounds]
        if ratio.interval:
            low, high = ratio.interval.low, ratio.interval.high
            axes.plot([low, high], [0, 0], color=MUTED, linewidth=3, solid_capstyle="butt")
            axes.plot([ratio.mean], [0], linestyle="none", marker="o", markersize=7, color=MUTED)
            places, labels = [*places, 0], [*labels, f"mean, {100 * ratio.interval.confidence:.0f} %"]
        axes.set_yticks(places, labels)
        axes.set_ylim(min(places) - 0.6, rows + 0.6)
        far = max([abs(value - 1) for value in ratio.ratios] + [0.02]) * 1.35
        axes.set_xlim(max(0.0, 1 - far), 1 + far)
        axes.set_xlabel("Rust / C (right of 1: Rust forwarded more)")
        axes.grid(axis="x")

    return draw("ratio", 1.2 + 0.36 * (len(ratio.ratios) + 1), paint, RATIO_TITLE)


_PLACES: list[tuple[str, str, Callable[[OverloadTrial], int]]] = [
    ("came back", _KEPT, lambda trial: trial.generator.received),
    ("dropped: forwarder's TX queue", _LOST_1, lambda trial: trial.drops.forwarder_tx_queue),
    ("lost before the forwarder", _LOST_2, lambda trial: trial.drops.wire_to_forwarder + trial.drops.forwarder_short),
    ("lost after the forwarder", _LOST_3, lambda trial: trial.drops.wire_to_generator),
]


def drops_chart(act: OverloadAct) -> str | None:
    """Where the sent frames ended, all valid rounds of a language together."""
    valid = [t for t in act.trials if t.valid and t.generator and t.generator.sent and t.drops]
    if not valid:
        return None
    languages = sorted({trial.language for trial in valid}, reverse=True)

    def paint(axes: Axes) -> None:
        left = [0.0] * len(languages)
        sent = [sum(t.generator.sent for t in valid if t.language == name) for name in languages]
        for label, colour, count in _PLACES:
            shares = [
                100.0 * sum(count(t) for t in valid if t.language == name) / whole
                for name, whole in zip(languages, sent, strict=True)
            ]
            low, high = min(shares), max(shares)
            text = f"{low:.2f} %" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} – {high:.2f} %"
            axes.barh(languages, shares, left=left, height=0.55, color=colour, label=f"{label}: {text}")
            left = [a + b for a, b in zip(left, shares, strict=True)]
        axes.set_xlim(0, 100)
        axes.set_xlabel("share of the frames that the generator sent, %")
        axes.grid(axis="x")
        axes.tick_params(axis="y", length=0)
        axes.figure.legend(frameon=False, loc="outside lower center", ncols=1, alignment="left")

    return draw("drops", 3.1, paint, DROPS_TITLE)
