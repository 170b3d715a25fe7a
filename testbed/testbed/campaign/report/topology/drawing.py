# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A topology as a picture: the generator above, the device below, and a line for each wire between their ports.

Of several pairs of ports, which are all alike, the first is drawn; the words beside it say how many there are.
"""

from __future__ import annotations

import html
import textwrap
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from testbed.campaign.report.topology.layout import End, Topology
from testbed.page.charts import CARD, MUTED, SERIES, TEXT, draw

# In points, as the width of the charts has them.
_WIDTH, _LINE, _PAD, _PORT, _POINTS = 345.0, 14.0, 9.0, 18.0, 72.0
_TITLE_SIZE, _TEXT_SIZE = 11.5, 10.5
# Letters in a line of a box, in its title, and in what is said of the wires, for one wire and for two.
_LETTERS, _TITLE_LETTERS, _WIRE_LETTERS = 52, 38, {1: 40, 2: 24}
# Ports that are drawn.
_MOST = 2
# Where the wires are, as shares of the width; what is said of them is beside the one, or between the two.
_PLACES = {1: (0.18,), 2: (0.18, 0.82)}
_ARROWS_APART = 5.0
_THERE, _BACK = SERIES[1], SERIES[0]


@dataclass(frozen=True)
class _Box:
    """The lines of an end."""

    title: list[str]
    lines: list[str]

    @property
    def height(self) -> float:
        return _LINE * (len(self.title) + len(self.lines)) + 2 * _PAD + _PORT


def topology_chart(topology: Topology, name: str) -> tuple[str, str]:
    """Caption and drawing; `name` is unique on the page."""
    above, below, said = _box(topology.generator), _box(topology.device), _said(topology)
    gap = max(_LINE * len(said) + 2 * _PAD, 60.0)
    height = above.height + gap + below.height

    def paint(axes: Axes) -> None:
        axes.set_axis_off()
        axes.set_xlim(0, _WIDTH)
        axes.set_ylim(0, height)
        _paint_end(axes, above, topology.generator, height - above.height, ports_at_top=False)
        _paint_end(axes, below, topology.device, 0.0, ports_at_top=True)
        _paint_wires(axes, topology, said, below.height, gap)
        # The page has another font than matplotlib, which would make room for its own.
        for text in axes.texts:
            text.set_in_layout(False)

    label = html.escape(f"Topology, {topology.in_words}", quote=True)
    return f"Topology: {topology.title}", draw(name, height / _POINTS, paint, label)


def _box(end: End) -> _Box:
    lines = [part for line in end.lines for part in textwrap.wrap(line, _LETTERS)]
    return _Box(textwrap.wrap(end.name, _TITLE_LETTERS), lines)


def _said(topology: Topology) -> list[tuple[str, str]]:
    """Of the wires and of the frames on them: lines, each with its colour."""
    kinds = dict.fromkeys(wire.kind for wire in topology.wires)
    speed = [topology.speed] if topology.speed else []
    lines = [*((kind, TEXT) for kind in kinds), *((line, MUTED) for line in (*speed, *topology.frames.split("; ")))]
    letters = _WIRE_LETTERS[min(len(topology.wires), _MOST)]
    return [(part, colour) for line, colour in lines for part in textwrap.wrap(line, letters)]


def _paint_end(axes: Axes, box: _Box, end: End, bottom: float, *, ports_at_top: bool) -> None:
    axes.add_patch(Rectangle((1, bottom + 1), _WIDTH - 2, box.height - 2, facecolor=CARD, edgecolor=MUTED))
    top = bottom + box.height - _PAD - (_PORT if ports_at_top else 0)
    for number, line in enumerate([*box.title, *box.lines]):
        of_title = number < len(box.title)
        words = {"fontsize": _TITLE_SIZE, "weight": "bold"} if of_title else {"fontsize": _TEXT_SIZE, "color": MUTED}
        axes.text(_PAD, top - _LINE * number, line, va="top", **words)
    place = bottom + box.height - _PORT if ports_at_top else bottom
    ports = end.ports[:_MOST]
    for share, port in zip(_PLACES[len(ports)], ports, strict=True):
        width = 2 * min(share, 1 - share) * _WIDTH - 8
        axes.add_patch(
            Rectangle((share * _WIDTH - width / 2, place + 1), width, _PORT - 2, facecolor=CARD, edgecolor=TEXT)
        )
        axes.text(share * _WIDTH, place + _PORT / 2, port, ha="center", va="center", fontsize=_TEXT_SIZE - 0.5)


def _paint_wires(axes: Axes, topology: Topology, said: list[tuple[str, str]], bottom: float, gap: float) -> None:
    wires = topology.wires[:_MOST]
    places = [share * _WIDTH for share in _PLACES[len(wires)]]
    for x, wire in zip(places, wires, strict=True):
        ways = [way for way, there in ((True, wire.there), (False, wire.back)) if there]
        for number, there in enumerate(ways):
            at = x + _ARROWS_APART * (2 * number - len(ways) + 1)
            ends = (at, bottom + gap), (at, bottom)
            start, end = ends if there else ends[::-1]
            arrow = {"arrowstyle": "-|>", "color": _THERE if there else _BACK, "shrinkA": 1, "shrinkB": 1, "lw": 1.6}
            axes.annotate("", xy=end, xytext=start, arrowprops=arrow)
    one = len(places) == 1
    x, align = (places[0] + 4 * _ARROWS_APART, "left") if one else (_WIDTH / 2, "center")
    top = bottom + gap / 2 + _LINE * len(said) / 2
    for number, (line, colour) in enumerate(said):
        axes.text(x, top - _LINE * number, line, ha=align, va="top", fontsize=_TEXT_SIZE, color=colour)
