# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`report.html` of a comparison: one file that needs nothing else."""

from __future__ import annotations

from pathlib import Path

from testbed import __version__
from testbed.bench.record import OverloadRecord, read_record
from testbed.comparison import tables
from testbed.page.skeleton import page_templates
from testbed.run.results_folder import write_atomically

# More tiles than these are no summary.
_MOST_TILES = 6


def write_report(folder: Path) -> Path:
    """Writes it from `summary.json` and returns its path.

    Raises `ResultsError`.
    """
    path = folder / "report.html"
    write_atomically(path, render(read_record(folder / "summary.json")))
    return path


def render(record: OverloadRecord) -> str:
    """The page."""
    # Imported here: matplotlib takes a second, which the command line's own errors need not.
    from testbed.bench.charts import sweep_charts
    from testbed.comparison.charts import PAIR_TITLE, pair_chart

    single = [pair for pair in record.pairs if pair.sweep is None]
    single_floors = [pair for pair in record.noise_floor if pair.sweep is None]
    swept = dict.fromkeys((m.condition.wire, m.sweep) for m in record.measurements if m.sweep)
    chart = pair_chart(single, single_floors)
    return (
        page_templates()
        .get_template("overload.html")
        .render(
            record=record,
            version=__version__,
            tiles=_tiles(record),
            # The table has the others.
            findings=[tables.finding(pair, single_floors) for pair in single if pair.a == single[0].a],
            pair_chart=(PAIR_TITLE, chart) if chart else None,
            pairs=tables.pair_table(record.pairs, ""),
            floors=tables.pair_table(record.noise_floor, ""),
            sweeps=[(f"Sweep of {name} on {wire}", sweep_charts(record, wire, name)) for wire, name in swept],
            figures=[tables.figure_table(measurement) for measurement in record.measurements if measurement.figures],
            remarks=tables.remarks(record.measurements, record.per_cpu_second),
        )
    )


def _tiles(record: OverloadRecord) -> list[tuple[str, str, str]]:
    """(label, figure, detail) of the pairs with the first contestant."""
    pairs = [pair for pair in record.pairs if pair.a == record.pairs[0].a and pair.sweep is None]
    several = len({pair.wire for pair in pairs}) > 1
    return [tables.pair_tile(pair, 3, pair.wire if several else "") for pair in pairs[:_MOST_TILES]]
