# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Table, charts and page of `bench scaling`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.axes import Axes

from testbed import __version__
from testbed.bench.scaling.evaluate import SWEEPS, Point, Scaling
from testbed.comparison.pair_verdict import interval_text
from testbed.page.charts import MUTED, SERIES, TEXT, draw
from testbed.page.skeleton import page_templates
from testbed.page.tables import ABSENT, Row, Table
from testbed.run.results_folder import write_atomically

COLUMNS = [
    "Program",
    "Lcores",
    "Ports",
    "Queues each",
    "Forwarded [Mpps]",
    "Cycles per packet",
    "Efficiency",
    "95 % interval",
    "Rounds",
]
_MARKERS = ("D", "o")


def sweep_tables(scaling: Scaling) -> list[Table]:
    """One for each sweep, also where all that it has is one lcore with one port and queue."""
    tables = []
    for sweep in SWEEPS:
        points = sorted(_of(scaling, sweep), key=lambda point: (point.at, point.program))
        tables.append(Table(f"Scaling: {sweep}", COLUMNS, [Row(_cells(point)) for point in points]))
    return tables


def _cells(point: Point) -> list[str]:
    cycles, efficiency = point.cycles_per_packet, point.efficiency
    return [
        point.program,
        str(point.lcores),
        str(point.ports),
        str(point.queues),
        f"{point.rate_pps / 1e6:.3f}",
        f"{cycles:.1f}" if cycles else ABSENT,
        f"{efficiency.median:.3f}" if efficiency else ABSENT,
        interval_text(efficiency) if efficiency else ABSENT,
        str(point.rounds),
    ]


def _of(scaling: Scaling, sweep: str) -> list[Point]:
    return [point for point in scaling.points if point.sweep == sweep]


def sweep_charts(scaling: Scaling, sweep: str) -> list[tuple[str, str]]:
    """(title, chart) of rate and efficiency; none where there is nothing to compare."""
    points = _of(scaling, sweep)
    if len({point.at for point in points}) < 2:
        return []
    identity = "".join(letter if letter.isalnum() else "-" for letter in sweep)
    charts = []
    for title, paint in (("Rate", _paint_rates), ("Efficiency", _paint_efficiency)):
        caption = f"{title}: {sweep}"
        charts.append((caption, draw(f"{identity}-{title}", 3.4, _painter(paint, points, SWEEPS[sweep]), caption)))
    return charts


def _painter(paint: Callable[[Axes, list[Point]], None], points: list[Point], label: str) -> Callable[[Axes], None]:
    def painter(axes: Axes) -> None:
        paint(axes, points)
        places = sorted({point.at for point in points})
        axes.set_xticks(places if len(places) < 10 else places[:: len(places) // 8])
        axes.set_xlabel(label)
        axes.grid(axis="y")
        axes.legend(frameon=False, fontsize=9.5)

    return painter


def _series(points: list[Point]) -> list[tuple[str, list[Point], str, str]]:
    """(program, its points, colour, marker)."""
    names = sorted({point.program for point in points})
    return [
        (name, sorted((p for p in points if p.program == name), key=lambda p: p.at), SERIES[place], _MARKERS[place % 2])
        for place, name in enumerate(names)
    ]


def _paint_rates(axes: Axes, points: list[Point]) -> None:
    for name, mine, colour, marker in _series(points):
        axes.plot([p.at for p in mine], [p.rate_pps / 1e6 for p in mine], marker=marker, color=colour, label=name)
    axes.set_ylim(0, 1.1 * max(point.rate_pps for point in points) / 1e6)
    axes.set_ylabel("million frames / s")


def _paint_efficiency(axes: Axes, points: list[Point]) -> None:
    axes.axhline(1.0, color=TEXT, linewidth=1.2)
    for name, mine, colour, marker in _series(points):
        shown = [(p.at, p.efficiency) for p in mine if p.efficiency]
        ends = [found.ci95 or (found.median, found.median) for _, found in shown]
        for (place, _), (low, high) in zip(shown, ends, strict=True):
            axes.plot([place, place], [low, high], color=MUTED, linewidth=2)
        at, medians = [place for place, _ in shown], [found.median for _, found in shown]
        axes.plot(at, medians, marker=marker, color=colour, label=name)
    axes.set_ylim(bottom=0)
    axes.set_ylabel("rate / (lcores x rate of one)")


def write_report(folder: Path, scaling: Scaling) -> Path:
    """Writes `report.html` and returns its path.

    Raises `ResultsError`.
    """
    path = folder / "report.html"
    write_atomically(path, render(scaling))
    return path


def render(scaling: Scaling) -> str:
    """The page."""
    sections = [
        (table, sweep_charts(scaling, sweep)) for sweep, table in zip(SWEEPS, sweep_tables(scaling), strict=True)
    ]
    template = page_templates().get_template("scaling.html")
    return template.render(record=scaling, machine=scaling.machine, sections=sections, version=__version__)
