# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Table, charts and page of `bench handicaps`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.axes import Axes

from testbed import __version__
from testbed.bench.handicaps.record import HandicapRecord
from testbed.page.charts import MUTED, SERIES, TEXT, draw
from testbed.page.skeleton import page_templates
from testbed.page.tables import ABSENT, Row, Table
from testbed.run.results_folder import write_atomically
from testbed.wire.forwarder import IDLE_SHARE

TITLE = "Instructions per received packet, and rate / rate of the plain loop"
COMPONENTS = ("application", "library", "device")


def handicap_table(record: HandicapRecord) -> Table:
    """One row per handicap; rates with their intervals."""
    wires = list(record.blocks)
    columns = ["Handicap", "Application", "Library", "Device", "All", "All, to plain [%]"]
    for wire in wires:
        columns += [f"Rate on {wire}", "95 % interval"]
    plain = record.rows[0].instructions_per_packet["all"]
    rows = []
    for row in record.rows:
        costs = row.instructions_per_packet
        cells = [row.label, *(f"{costs[component]:.2f}" for component in (*COMPONENTS, "all"))]
        cells.append(f"{100 * (costs['all'] / plain - 1):+.1f}")
        for wire in wires:
            ratio = row.rates.get(wire)
            cells.append(f"{ratio.median:.3f}" if ratio else ABSENT)
            cells.append(f"{ratio.ci95[0]:.3f} to {ratio.ci95[1]:.3f}" if ratio and ratio.ci95 else ABSENT)
        rows.append(Row(cells))
    return Table(TITLE, columns, rows)


def remarks(record: HandicapRecord) -> list[str]:
    """Remarks for the reader."""
    found = []
    for wire, share in record.rows[0].empty_polls.items():
        if share > IDLE_SHARE:
            found.append(
                f"{wire}: not overloaded: {100 * share:.0f} % of the plain loop's polls were empty, "
                "so its rate is the limit of the generator"
            )
    for wire, blocks in record.blocks.items():
        found += [f"{wire}: block {block.number} is invalid: {reason}" for block in blocks for reason in block.reasons]
    return found


def charts(record: HandicapRecord) -> list[tuple[str, str]]:
    """(caption, chart) of the instructions, and of the rates on each wire that has some."""
    caption = "Instructions per received packet"
    found = [(caption, draw("instructions", 0.8 + 0.36 * len(record.rows), _instructions(record), caption))]
    for wire in record.blocks:
        if any(wire in row.rates for row in record.rows):
            caption = f"Rate / rate of the plain loop, {wire}"
            found.append((caption, draw(f"rate-{wire}", 0.8 + 0.36 * len(record.rows), _rates(record, wire), caption)))
    return found


def _instructions(record: HandicapRecord) -> Callable[[Axes], None]:
    def paint(axes: Axes) -> None:
        places = list(range(len(record.rows), 0, -1))
        left = [0.0] * len(record.rows)
        for component, colour in zip(COMPONENTS, SERIES, strict=False):
            widths = [row.instructions_per_packet[component] for row in record.rows]
            axes.barh(places, widths, left=left, color=colour, height=0.6, label=component)
            left = [start + width for start, width in zip(left, widths, strict=True)]
        axes.set_yticks(places, [row.label for row in record.rows])
        axes.tick_params(axis="y", labelsize=9.5)
        axes.legend(frameon=False, fontsize=9.5, ncols=3, loc="lower center", bbox_to_anchor=(0.3, 1.0))
        axes.grid(axis="x")

    return paint


def _rates(record: HandicapRecord, wire: str) -> Callable[[Axes], None]:
    def paint(axes: Axes) -> None:
        rows = [row for row in record.rows if wire in row.rates]
        places = list(range(len(rows), 0, -1))
        axes.axvline(1.0, color=TEXT, linewidth=1.2)
        for place, row in zip(places, rows, strict=True):
            ratio = row.rates[wire]
            if ratio.ci95:
                axes.plot(ratio.ci95, [place, place], color=MUTED, linewidth=3, solid_capstyle="butt")
            axes.plot([ratio.median], [place], linestyle="none", marker="o", markersize=7, color=SERIES[0])
        axes.set_yticks(places, [row.label for row in rows])
        axes.tick_params(axis="y", labelsize=9.5)
        axes.set_xlim(left=0)
        axes.grid(axis="x")

    return paint


def render(record: HandicapRecord) -> str:
    """The page."""
    return (
        page_templates()
        .get_template("handicaps.html")
        .render(
            record=record,
            content=handicap_table(record),
            charts=charts(record),
            remarks=remarks(record),
            version=__version__,
        )
    )


def write_report(folder: Path, record: HandicapRecord) -> Path:
    """Writes `report.html` and returns its path.

    Raises `ResultsError`.
    """
    path = folder / "report.html"
    write_atomically(path, render(record))
    return path
