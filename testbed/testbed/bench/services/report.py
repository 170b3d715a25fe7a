# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`report.html` of `bench services`: one file that needs nothing else."""

from __future__ import annotations

from pathlib import Path

from testbed import __version__
from testbed.bench.services.articles import article_tables
from testbed.bench.services.record import ServicesRecord
from testbed.bench.services.tables import (
    findings,
    matrix_tables,
    of_twins,
    overhead_table,
    ramp_table,
    remarks,
    stack_of,
    telling,
)
from testbed.bench.sockets import tables as races
from testbed.comparison.tables import pair_table, pair_tile
from testbed.page.skeleton import page_templates
from testbed.run.results_folder import write_atomically


def write_report(folder: Path, record: ServicesRecord) -> Path:
    """Writes it and returns its path.

    Raises `ResultsError`.
    """
    path = folder / "report.html"
    write_atomically(path, render(record))
    return path


def render(record: ServicesRecord) -> str:
    """The page."""
    # Imported here: matplotlib takes a second, which the command line's own errors need not.
    from testbed.bench.services.charts import ramp_charts, rate_charts

    measured = [
        races.rate_table(record.measurements),
        races.message_table(record.measurements),
        races.cost_table(record.costs),
        races.latency_table(record.latencies),
        ramp_table(record.latencies),
        races.churn_table(record.churn),
    ]
    return (
        page_templates()
        .get_template("services.html")
        .render(
            record=record,
            version=__version__,
            tiles=_tiles(record),
            findings=findings(record),
            charts=rate_charts(record),
            matrices=matrix_tables(record),
            overhead=overhead_table(record.latencies),
            ramp=ramp_charts(record.latencies),
            articles=article_tables(record),
            pairs=pair_table(telling(record.pairs), ""),
            floors=pair_table(record.noise_floor, ""),
            measured=[table for table in measured if table.rows],
            remarks=[*remarks(record), *races.remarks(record.measurements), *record.missing],
        )
    )


def _tiles(record: ServicesRecord) -> list[tuple[str, str, str]]:
    """(label, figure, detail) of the twins, under the first condition."""
    twins = sorted(of_twins(record), key=lambda pair: stack_of(pair.a) == stack_of(pair.b))
    return [pair_tile(pair, 2) for pair in twins]
