# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`services/RESULTS.md`, made of the raw data in `services/results/`.

Ratios and intervals are computed from the slices again, and p is corrected over all rows of the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from testbed.bench.quoted import Claim, claim_table, claims_of, run_table
from testbed.bench.services import results_text as text
from testbed.bench.services.articles import article_tables
from testbed.bench.services.contestants import DPDK, KERNEL, LWIP, SERVICES
from testbed.bench.services.loss_run import LossRecord, loss_table
from testbed.bench.services.record import ServicesRecord
from testbed.bench.services.sources import Sources
from testbed.bench.services.sources import table as source_table
from testbed.bench.services.tables import STACKS, matrix_tables, overhead_table, ramp_table, remarks, telling
from testbed.bench.sockets.tables import churn_table, cost_table, latency_table, message_table, rate_table
from testbed.comparison.pair_verdict import ratio_text
from testbed.page.tables import ABSENT, Row, Table, markdown_table
from testbed.run.results_folder import read_record, write_atomically

PAGE = Path("services", "RESULTS.md")
FOLDER = Path("services", "results")
_SUFFIX = ".json.xz"
_LOSS = "-loss"


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
    files = {path.name.removesuffix(_SUFFIX): path for path in sorted((root / FOLDER).glob(f"*{_SUFFIX}"))}
    runs = {
        name: read_record(path, ServicesRecord, "a record of 'bench services'", "a run")
        for name, path in files.items()
        if not name.endswith(_LOSS)
    }
    lost = {
        name: read_record(path, LossRecord, "a record of 'bench services --loss'", "a run")
        for name, path in files.items()
        if name.endswith(_LOSS)
    }
    sources = read_record(root / FOLDER / "sources.json", Sources, "a record of 'bench services --sources'", "a count")
    claims = claims_of(runs, telling)
    commands = "\n".join(f"{run.command}    # {name}" for name, run in (runs | lost).items())
    blocks = [text.INTRODUCTION.format(rows=len(claims)), "## Does the language matter, does the stack?"]
    blocks += [text.ANSWERS, markdown_table(_answer_table(claims, runs)), "## The runs", text.RUNS]
    blocks += [markdown_table(run_table(runs)), f"```sh\n{commands}\n```"]
    for service in SERVICES:
        blocks.append(text.SERVICES[service])
        mine = {name: run for name, run in runs.items() if run.service == service}
        for run in mine.values():
            blocks += _tables(matrix_tables(run))
        blocks += ["### Pairs", text.PAIRS, markdown_table(claim_table([one for one in claims if one.run in mine]))]
        for run in mine.values():
            blocks += _tables([overhead_table(run.latencies), *_figures(run)])
            blocks += remarks(run) if overhead_table(run.latencies).rows else []
        for record in lost.values():
            if record.service == service:
                blocks += [*_tables([loss_table(record)]), f"{record.in_words()}."]
        for run in mine.values():
            blocks += _tables(article_tables(run))
        blocks.append(text.ARTICLES[service])
    blocks += [text.SOURCES, markdown_table(source_table(sources.programs)), text.DEFECTS]
    return "\n\n".join(blocks) + "\n"


# A and B, and what their ratio tells.
_ANSWERS = {
    (f"rust-{KERNEL}", f"c-{KERNEL}"): f"Rust / C, {STACKS[KERNEL]}",
    (f"rust-{DPDK}", f"c-{DPDK}"): f"Rust / C, {STACKS[DPDK]}",
    (f"rust-{DPDK}", f"rust-{KERNEL}"): f"{STACKS[DPDK]} / {STACKS[KERNEL]}, Rust",
    (f"c-{DPDK}", f"c-{KERNEL}"): f"{STACKS[DPDK]} / {STACKS[KERNEL]}, C",
    (f"c-{DPDK}", f"c-{LWIP}"): f"{STACKS[DPDK]} / lwIP, C",
}


def _answer_table(claims: Sequence[Claim], runs: Mapping[str, ServicesRecord]) -> Table:
    """One row a run and condition: the ratios of the twins and of the stacks, with their intervals."""
    found: dict[str, dict[tuple[str, str], str]] = {}
    for claim in claims:
        pair = claim.pair
        row = found.setdefault(f"{runs[claim.run].service}, {pair.describe()}", {})
        row[pair.a, pair.b] = ratio_text(pair.ratio)
    rows = [Row([name, *(cells.get(pair, ABSENT) for pair in _ANSWERS)]) for name, cells in found.items()]
    return Table("", ["Requests or bytes per second of CPU time", *_ANSWERS.values()], rows)


def _figures(run: ServicesRecord) -> list[Table]:
    """What describes each program."""
    return [
        rate_table(run.measurements),
        message_table(run.measurements),
        cost_table(run.costs),
        latency_table(run.latencies),
        ramp_table(run.latencies),
        churn_table(run.churn),
    ]


def _tables(tables: Sequence[Table]) -> list[str]:
    """Those that have rows, under their titles."""
    return [f"### {table.title}\n\n{markdown_table(table)}" for table in tables if table.rows]
