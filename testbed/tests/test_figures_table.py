# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""docs/figures.md has a row for every figure that a report shows, and each row names a test that exists."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from testbed.campaign.compare.schedule import Figure
from testbed.campaign.report import calibration, machine_pauses, overview, sections, tables, testbeds
from testbed.page.tables import Table

TESTS = Path(__file__).parent
# What says which row it is, and no figure.
HEADS = {"Frames", "Device", "Program", "Reset of the", "Testbed", "Measured", "Trial for drift"}


def documented() -> dict[str, list[list[str]]]:
    """The cells of each row, by section."""
    found: dict[str, list[list[str]]] = {}
    title = ""
    for line in (TESTS.parent / "docs" / "figures.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            title = line.removeprefix("## ")
        elif line.startswith("| ") and not line.startswith("| Figure | Definition |"):
            cells = re.split(r"(?<!\\)\|", line.strip("|"))
            found.setdefault(title, []).append([cell.strip().replace("\\|", "|") for cell in cells])
    return found


def shown(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """The columns of each table of a report, those included that a report without such figures leaves out."""
    for module in (calibration, overview, tables):
        monkeypatch.setattr(module, "without_empty_columns", lambda table: table)
    nothing = SimpleNamespace(
        found=lambda kind: [],
        settings=SimpleNamespace(compare=SimpleNamespace(a="A", b="B"), testbeds={}),
        summary=SimpleNamespace(drifts=[], findings=[]),
    )
    made: list[Table] = [
        make(nothing) for name, make in vars(tables).items() if name.endswith("_table") and name not in OTHERS
    ]
    made += [overview.overview_table(nothing), testbeds.testbeds_table(nothing)]
    made.append(calibration.calibration_table(SimpleNamespace(joined={})))
    made.append(machine_pauses.pauses_table(SimpleNamespace(trials=[]), []))
    made.append(sections._ratio_table(nothing, SimpleNamespace(verdicts=[]), Figure.THROUGHPUT))
    return {table.title: [column for column in table.columns if column not in HEADS] for table in made}


# A function of the page.
OTHERS = {"markdown_table"}


def test_every_figure_of_a_report_has_a_row(monkeypatch: pytest.MonkeyPatch):
    rows = {title: [cells[0] for cells in found] for title, found in documented().items()}
    assert rows == shown(monkeypatch), "docs/figures.md and the tables of a report differ"


def test_a_figure_without_a_row_is_missed(monkeypatch: pytest.MonkeyPatch):
    soak = tables.soak_table
    monkeypatch.setattr(tables, "soak_table", lambda record: Table("Soak", [*soak(record).columns, "New"]))
    rows = {title: [cells[0] for cells in found] for title, found in documented().items()}
    assert rows != shown(monkeypatch)


def test_every_row_is_full_and_names_a_test_that_exists():
    names = set(re.findall(r"^def (test_\w+)", "\n".join(one.read_text() for one in TESTS.glob("test_*.py")), re.M))
    for title, found in documented().items():
        for cells in found:
            assert len(cells) == 6, f"{title}: {cells}"
            assert all(cells), f"{title}: {cells}"
            assert cells[5].strip("`") in names, f"{title}, {cells[0]}: no test {cells[5]}"
