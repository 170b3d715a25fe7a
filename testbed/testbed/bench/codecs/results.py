# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`codec-bench/RESULTS.md`, made of the raw data in `codec-bench/results/`, and of `counts.json` beside it.

Ratios and intervals are computed from the slices again, and p is corrected over all rows of the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from testbed.bench.codecs import results_text as text
from testbed.bench.codecs.contestants import BYTES, CASES, conditions
from testbed.bench.codecs.count import COUNTS, INSTRUCTIONS
from testbed.bench.codecs.record import CodecsRecord
from testbed.bench.codecs.tables import COST_COLUMNS, cost_cells, of_capnp, rate_table, telling, without_again
from testbed.bench.count.gate import read_figures
from testbed.bench.quoted import Claim, claim_table, claims_of, run_table
from testbed.comparison.pair_verdict import ratio_text
from testbed.comparison.record import Measurement
from testbed.page.tables import ABSENT, Row, Table, markdown_table
from testbed.run.results_folder import read_record, write_atomically

PAGE = Path("codec-bench", "RESULTS.md")
FOLDER = Path("codec-bench", "results")
_SUFFIX = ".json.xz"


def renew_page(root: Path) -> Path:
    """Writes the page and returns its path.

    Raises `ResultsError` and `FiguresError`.
    """
    write_atomically(root / PAGE, results_page(root))
    return root / PAGE


def results_page(root: Path) -> str:
    """The page, from the files below `root`.

    Raises `ResultsError` and `FiguresError` for data that cannot be read.
    """
    runs = {
        path.name.removesuffix(_SUFFIX): read_record(path, CodecsRecord, "a record of 'bench codecs'", "a run")
        for path in sorted((root / FOLDER).glob(f"*{_SUFFIX}"))
    }
    claims = claims_of(runs, telling)
    measurements = [one for run in runs.values() for one in run.measurements]
    commands = "\n".join(f"{run.command}    # {name}" for name, run in runs.items())
    blocks = [text.INTRODUCTION.format(rows=len(claims)), text.CHOICE]
    blocks += [f"### {case}\n\n{markdown_table(choice_table(measurements, case))}" for case in CASES]
    blocks += [text.LANGUAGES, markdown_table(language_table(claims)), text.SINCE]
    blocks += [text.RUNS, markdown_table(run_table(runs)), f"```sh\n{commands}\n```", text.COUNTS]
    blocks += [f"{key}:\n\n{markdown_table(counted)}" for key, counted in _counted(root).items()]
    blocks += [text.RATES, markdown_table(rate_table(measurements)), text.PAIRS, markdown_table(claim_table(claims))]
    return "\n\n".join(blocks) + "\n"


def choice_table(measurements: Sequence[Measurement], case: str) -> Table:
    """One row a library, by bytes in memory with buffers that are used again, from the fastest to the slowest."""
    found = [
        (one.rate_per_cpu_pps, measurement, one)
        for measurement in measurements
        if measurement.condition in conditions([case], [BYTES], [True])
        for one in without_again(measurement)
    ]
    found.sort(key=lambda each: -each[0])
    rows = [
        Row([one.label + ", packed" * measurement.condition.packed, *cost_cells(measurement, one)])
        for _, measurement, one in found
    ]
    return Table("", ["Library", *COST_COLUMNS], rows)


def language_table(claims: Sequence[Claim]) -> Table:
    """Cap'n Proto in Rust over C++, one row a way to pass messages, one column a case."""
    found: dict[str, dict[str, str]] = {}
    for pair in of_capnp([claim.pair for claim in claims]):
        case, _, way = pair.describe().partition(", ")
        found.setdefault(way, {})[case] = ratio_text(pair.ratio)
    rows = [Row([way, *(cells.get(case, ABSENT) for case in CASES)]) for way, cells in found.items()]
    return Table("", ["Rounds per second of CPU time, Rust / C++", *CASES], rows)


def _counted(root: Path) -> Mapping[str, Table]:
    """By versions: a row for each library and condition, a column for each case."""
    tables = {}
    for key, figures in read_figures(root / COUNTS).items():
        found: dict[str, dict[str, str]] = {}
        for name, row in figures.items():
            library, _, condition = name.partition(": ")
            case, _, way = condition.partition(", ")
            found.setdefault(f"{library}, {way}", {})[case] = f"{row[INSTRUCTIONS]:,.0f}"
        rows = [Row([name, *(cells.get(case, ABSENT) for case in CASES)]) for name, cells in found.items()]
        tables[key] = Table("", ["Instructions of a round", *CASES], rows)
    return tables
