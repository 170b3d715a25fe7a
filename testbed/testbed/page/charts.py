# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""How a chart is drawn: SVG inside the page that takes its colours from the page's style."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence

import matplotlib
import matplotlib.ticker
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure

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
TEXT, MUTED, _GRID, _C, RUST, KEPT, LOST_1, LOST_2, LOST_3, CARD, *SERIES = _STAND_INS
COLOURS = {"C": _C, "Rust": RUST}
_STYLE = {
    "svg.fonttype": "none",  # text stays text: it can be searched, selected and read aloud
    "font.family": "sans-serif",
    "font.size": 11.5,
    "text.parse_math": False,  # a $ in a name is one
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
# Narrow enough that the text stays legible when the picture is as wide as a phone.
_WIDTH = 4.9


def label_logarithm(axis: Axis, values: Sequence[float]) -> None:
    """Labels a logarithmic axis with plain numbers, on which 6 and 1,900 are both seen."""
    span = max(values) / min(values)
    subs = (1, 2, 5) if span < 30 else (1, 3) if span < 250 else (1,)
    axis.set_major_locator(matplotlib.ticker.LogLocator(subs=subs))
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:,g}"))
    axis.set_minor_locator(matplotlib.ticker.NullLocator())


def draw(name: str, height: float, paint: Callable[[Axes], None], label: str) -> str:
    """The SVG of what `paint` puts on the axes; `name` is unique on the page, `height` in inches."""
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        paint(figure.add_subplot())
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _for_page(text.getvalue(), name, label)


def _for_page(svg: str, name: str, label: str) -> str:
    """Makes a stand-alone SVG file a part of a page: no prologue, size or font; ids of its own, colours by name."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'(href="#|url\(#)([^")]+)', rf"\1{name}-\2", svg)
    svg = re.sub(r" font-family: [^;\"]*;?", "", svg)
    for stand_in, colour in _STAND_INS.items():
        svg = svg.replace(stand_in, colour)
    return _compact(svg).replace("<svg ", f'<svg class="chart" role="img" aria-label="{label}" ', 1)


def _compact(svg: str) -> str:
    """The same picture in half the bytes: without ids, groups and rotations that have no effect, to 0.01 points."""
    named = set(re.findall(r"#([^\")]+)", svg))
    svg = re.sub(r' id="([^"]+)"', lambda found: found[0] if found[1] in named else "", svg)
    svg = re.sub(r' transform="rotate\(-0 [^"]*"|<!--.*?-->|<(g|defs)/>', "", svg, flags=re.DOTALL)
    # What is drawn, not what is written.
    svg = re.sub(r"<[^>]*>", lambda found: re.sub(r"(\d+\.\d\d)\d+", r"\1", found[0]), svg)
    svg = re.sub(r' d="([^"]*)"', lambda found: f' d="{" ".join(found[1].split())}"', svg)
    groups = 1
    while groups:
        svg, groups = re.subn(r"<g>((?:(?!</?g\b).)*)</g>", r"\1", svg, flags=re.DOTALL)
    return re.sub(r"\n\s+", "\n", svg)
