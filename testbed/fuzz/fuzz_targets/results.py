# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`summary.json` of a results folder, and what is made of it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from testbed.demo import report, tables
from testbed.demo.summary import read_summary, write_summary
from testbed.run.results_folder import ResultsError

_TEMPORARY = tempfile.TemporaryDirectory(prefix="fuzz-results-")
FOLDER = Path(_TEMPORARY.name)


def check(data: bytes) -> None:
    """A file is refused, or read; then it can be written, read again, and shown."""
    path = FOLDER / "summary.json"
    path.write_bytes(data)
    try:
        summary = read_summary(FOLDER)
    except ResultsError as error:
        assert str(path) in str(error)
        return
    write_summary(FOLDER, summary)
    assert read_summary(FOLDER) == summary
    report._cards(summary)
    if summary.overload:
        tables.overload_table(summary.overload).rich(80)
        tables.ratio_sentences(summary.overload)
        tables.remarks(summary.overload.trials)
    if summary.hosts:
        tables.hosts_table(summary.hosts).rich(80)
        tables.remarks(summary.hosts.trials)
    if summary.capture:
        tables.capture_table(summary.capture).rich(80)
