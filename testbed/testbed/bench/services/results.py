# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`services/RESULTS.md`, made of the raw data in `services/results/`."""

from __future__ import annotations

from pathlib import Path

from testbed.bench.quoted import claim_table, claims_of, run_table
from testbed.bench.services import results_text as text
from testbed.bench.services.articles import article_tables
from testbed.bench.services.contestants import SERVICES
from testbed.bench.services.loss_record import LossRecord, loss_table
from testbed.bench.services.record import ServicesRecord
from testbed.bench.services.sources import Sources
from testbed.bench.services.sources import table as source_table
from testbed.bench.services.tables import findings, matrix_tables, overhead_table, ramp_table, telling
from testbed.bench.sockets.tables import (
    churn_table,
    cost_table,
    latency_table,
    message_table,
    rate_table,
)
from testbed.page.tables import Table, markdown_table
from testbed.run.results_folder import read_record, write_atomically

PAGE = Path("services", "RESULTS.md")
FOLDER = Path("services", "results")


def renew_page(root: Path) -> Path:
    """Writes the page and returns its path.

    Raises `ResultsError`.
    """
    write_atomically(root / PAGE, results_page(root))
    return root / PAGE


def results_page(root: Path) -> str:
    """The page, from the files below `root`.

    Raises `ResultsError` for raw data that cannot be read.
    """
    folder = root / FOLDER
    runs = {
        service: read_record(folder / f"{service}.json.xz", ServicesRecord, "a record of 'bench services'", "a run")
        for service in SERVICES
    }
    claims = claims_of(runs, telling)
    blocks = [text.INTRODUCTION.format(rows=len(claims)), text.ANSWERS]
    blocks += ["## The runs", markdown_table(run_table(runs))]
    blocks.append("```sh\n" + "\n".join(f"{run.command}    # {name}" for name, run in runs.items()) + "\n```")
    for service, run in runs.items():
        blocks += [text.TITLES[service], "\n".join(f"- {sentence}" for sentence in findings(run))]
        blocks += _section(text.MATRICES, matrix_tables(run))
        blocks += ["### Pairs", text.PAIRS, markdown_table(claim_table([one for one in claims if one.run == service]))]
        blocks += _section(text.OVERHEAD, [overhead_table(run.latencies), ramp_table(run.latencies)])
        blocks += _section(text.RATES, [rate_table(run.measurements), message_table(run.measurements)])
        blocks += _section(text.COSTS, [cost_table(run.costs)])
        blocks += _section(text.LATENCIES, [latency_table(run.latencies)])
        blocks += _section(text.CHURN, [churn_table(run.churn)])
        lost = read_record(folder / f"{service}-loss.json.xz", LossRecord, "a record of '--loss'", "a run")
        blocks += _section(text.LOSS.format(**lost.in_words()), [loss_table(lost)])
        blocks += _section(text.ARTICLES[service], article_tables(run))
    sources = read_record(folder / "sources.json", Sources, "a record of '--sources'", "a count")
    blocks += [text.SOURCES, markdown_table(source_table(sources.programs)), text.DEFECTS]
    return "\n\n".join(blocks) + "\n"


def _section(words: str, tables: list[Table]) -> list[str]:
    """Words and the tables that have rows; nothing without any."""
    filled = [table for table in tables if table.rows]
    titled = [f"{table.title}:\n\n{markdown_table(table)}" for table in filled]
    return [words, *titled] if filled else []
