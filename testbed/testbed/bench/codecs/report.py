# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`report.html` of `bench codecs`: one file that needs nothing else."""

from __future__ import annotations

from pathlib import Path

from testbed import __version__
from testbed.bench.codecs.count import count_table
from testbed.bench.codecs.record import CodecsRecord
from testbed.bench.codecs.tables import of_languages, rate_table, telling
from testbed.comparison.pair_verdict import Verdict, interval_text
from testbed.comparison.tables import pair_table
from testbed.page.skeleton import page_templates
from testbed.run.results_folder import write_atomically

_TILES = 4


def write_report(folder: Path, record: CodecsRecord) -> Path:
    """Writes it and returns its path.

    Raises `ResultsError`.
    """
    path = folder / "report.html"
    write_atomically(path, render(record))
    return path


def render(record: CodecsRecord) -> str:
    """The page."""
    # Imported here: matplotlib takes a second, which the command line's own errors need not.
    from testbed.bench.codecs.charts import time_charts

    return (
        page_templates()
        .get_template("codecs.html")
        .render(
            record=record,
            version=__version__,
            tiles=_tiles(record),
            findings=_findings(record),
            charts=time_charts([one for one in of_languages(record.pairs) if one.a.startswith("capnp")]),
            counts=count_table(record.counts),
            rates=rate_table(record.measurements),
            pairs=pair_table(telling(record.pairs), ""),
            floors=pair_table(record.noise_floor, ""),
        )
    )


def _tiles(record: CodecsRecord) -> list[tuple[str, str, str]]:
    """(label, figure, detail) of the first conditions."""
    found = [one for one in of_languages(record.pairs) if one.a.startswith("capnp")]
    return [
        (
            f"{pair.a} / {pair.b}, {pair.describe()}",
            f"{pair.ratio.median:.2f}",
            f"{pair.verdict}; {interval_text(pair.ratio, 2) or 'no interval'}",
        )
        for pair in found[:_TILES]
    ]


def _findings(record: CodecsRecord) -> list[str]:
    """What the verdicts say of Cap'n Proto in the two languages."""
    found = [one for one in of_languages(record.pairs) if one.a.startswith("capnp")]
    sentences = []
    for verdict in (Verdict.FASTER, Verdict.EQUIVALENT, Verdict.SLOWER, Verdict.INCONCLUSIVE):
        of_verdict = [one.describe() for one in found if one.verdict is verdict]
        if of_verdict:
            sentences.append(
                f"capnp-rust against capnp-cpp is {verdict} in {len(of_verdict)} of {len(found)} conditions"
            )
    return sentences
