# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`report.html` of `bench parsing`: one file that needs nothing else."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from testbed import __version__
from testbed.page.skeleton import page_templates
from testbed.parsing import comparison_tables as tables
from testbed.parsing import conclusion
from testbed.parsing.comparison import HOT, INSTRUCTIONS, Quantity
from testbed.parsing.matrix_tables import matrix_tables, variant_table
from testbed.parsing.plan import briefly, left_out
from testbed.parsing.record import LTO_FAT, LTO_OFF, ParsingRecord, Workload, read_record
from testbed.run.results_folder import write_atomically


def write_report(folder: Path) -> Path:
    """Writes it from `summary.json` and returns its path.

    Raises `ResultsError`.
    """
    path = folder / "report.html"
    write_atomically(path, render(read_record(folder)))
    return path


def render(record: ParsingRecord) -> str:
    """The page."""
    # Imported here: matplotlib takes a second, which the command line's own errors need not.
    from testbed.parsing import charts

    return (
        page_templates()
        .get_template("parsing.html")
        .render(
            record=record,
            version=__version__,
            tiles=conclusion.tiles(record),
            answers=conclusion.conclusion(record),
            confidence=f"{100 * confidence(record):.0f} %",
            workloads=[
                {
                    "table": tables.workload_table(record, workload),
                    "charts": charts.workload_charts(record, workload),
                    "loop": tables.loop_text(record, workload),
                    "command": command(record, workload),
                }
                for workload in record.workloads
            ],
            lto=_lto_part(record),
            code=[content for one in record.workloads if (content := tables.code_table(record, one)).rows],
            gate=tables.gate_table(record),
            behaviour=[content for one in record.workloads if (content := tables.behaviour_table(record, one)).rows],
            cases=tables.first_cases(record),
            ease=tables.ease_table(record),
            crates=tables.crate_table(record),
            has_alone=any(library.alone for library in record.libraries),
            variants=variant_table(record),
            has_build_times=any(build.seconds is not None for build in record.builds),
            matrices=matrix_tables(record),
            left_out=left_out(record),
            briefly=briefly(record),
            tools=tables.tools(record),
        )
    )


def _lto_part(record: ParsingRecord) -> dict[str, Any] | None:
    """The article's figures and their like: of time, or of instructions where no time was measured."""
    from testbed.parsing import charts

    quantity = shown_quantity(record)
    each = [charts.lto_chart(record, library, quantity) for library in record.libraries]
    every = [
        charts.all_chart(record, variant, workload, quantity)
        for workload in record.workloads
        for variant in (LTO_FAT, LTO_OFF)
    ]
    found = {
        "each": [chart for chart in each if chart],
        "all": [chart for chart in every if chart],
        "command": command(record),
    }
    return found if found["each"] or found["all"] else None


def shown_quantity(record: ParsingRecord) -> Quantity:
    """Time where frames are hot, as in the article; instructions if the record has no such times."""
    return HOT if any(HOT.of(kernel) is not None for _, kernel in record.cells()) else INSTRUCTIONS


def confidence(record: ParsingRecord) -> float:
    """Of the intervals of times."""
    return next((timing.confidence for _, kernel in record.cells() for timing in kernel.timings), 0.95)


def command(record: ParsingRecord, workload: Workload | None = None) -> str:
    """What measures one workload of a record again, and nothing that does not belong to it."""
    words = ["./x", "bench", "parsing", "--no-alone"]
    words += ["--quick"] if record.quick else []
    words += [] if record.times else ["--no-times"]
    words += ["--workload", workload] if workload else []
    return shlex.join(words)
