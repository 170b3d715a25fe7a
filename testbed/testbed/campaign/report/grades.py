# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""How far the results are those of the RFCs: for each test the clauses that it does not meet."""

from __future__ import annotations

from testbed.campaign.folder import CampaignFolder
from testbed.campaign.grade import Clause, Graded
from testbed.campaign.measurements.latency import LatencyFound
from testbed.page.tables import Row, Table

GRADES_IN_WORDS = (
    "Unconditional: every clause is met. Conditional: every clause with MUST is met, but not every one with SHOULD. "
    "Non-compliant: a clause with MUST is not met. These words are those of RFC 2544, section 5. The tables list the "
    "clauses that are not met."
)


def grade_tables(record: CampaignFolder) -> list[Table]:
    """A table for each test: the clauses that it does not meet, a row each."""
    tables = []
    for test, graded in _graded(record).items():
        rows = [Row([clause.source, clause.text, seen]) for clause, seen in _not_met(graded).items()]
        title = f"{test}: {_grades_in_words(graded)}"
        tables.append(Table(title, ["Clause", "Required", "Done here"], rows, text_columns=3, ends_in_text=True))
    return tables


def wholly_met(record: CampaignFolder) -> list[str]:
    """The tests that meet every clause, for which there is no table."""
    return [f"{test}: {_grades_in_words(graded)}." for test, graded in _graded(record).items() if not _not_met(graded)]


def _graded(record: CampaignFolder) -> dict[str, list[Graded]]:
    """What is graded, by test."""
    grades: dict[str, list[Graded]] = {}
    if record.summary.frames is not None:
        grades["Choice of frames"] = [record.summary.frames]
    for finding in record.summary.findings:
        if finding.place in record.results:
            result = record.results[finding.place]
            test = finding.measurement.replace("_", " ").capitalize()
            grades.setdefault(test, []).append(result.graded)
            if isinstance(result, LatencyFound):
                grades.setdefault("Latency percentiles", []).append(result.percentiles)
    return grades


def _grades_in_words(graded: list[Graded]) -> str:
    return ", ".join(dict.fromkeys(str(one.grade) for one in graded))


def _not_met(graded: list[Graded]) -> dict[Clause, str]:
    """Each clause once, with what was observed; for several results, with the first, and how many others there are."""
    seen: dict[Clause, list[str]] = {}
    for finding in (finding for one in graded for finding in one.missing):
        seen.setdefault(finding.clause, []).append(finding.seen)
    found = {}
    for clause, all_seen in seen.items():
        different = list(dict.fromkeys(all_seen))
        more = f"; {len(different) - 1} other results differ" if len(different) > 1 else ""
        found[clause] = f"{different[0]}{more}"
    return found
