# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`report.html` of `bench codecs`: one file that needs nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from testbed import __version__
from testbed.bench.codecs.count import count_table
from testbed.bench.codecs.record import CodecsRecord
from testbed.bench.codecs.tables import of_capnp, rate_table, telling
from testbed.comparison.pair_verdict import Verdict
from testbed.comparison.record import Pair
from testbed.comparison.tables import pair_table, pair_tile
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

    shown = of_capnp(record.pairs)
    return (
        page_templates()
        .get_template("codecs.html")
        .render(
            record=record,
            version=__version__,
            # Of the first conditions.
            tiles=[pair_tile(pair, 2, pair.describe()) for pair in shown[:_TILES]],
            findings=_findings(shown),
            charts=time_charts(shown),
            counts=count_table(record.counts),
            rates=rate_table(record.measurements),
            pairs=pair_table(telling(record.pairs), ""),
            floors=pair_table(record.noise_floor, ""),
        )
    )


def _findings(pairs: Sequence[Pair]) -> list[str]:
    """What the verdicts say of Cap'n Proto in the two languages."""
    counted = Counter(pair.verdict for pair in pairs)
    return [
        f"capnp-rust against capnp-cpp is {verdict} in {counted[verdict]} of {len(pairs)} conditions"
        for verdict in (Verdict.FASTER, Verdict.EQUIVALENT, Verdict.SLOWER, Verdict.INCONCLUSIVE)
        if counted[verdict]
    ]
