# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What `summary.json` of `bench overload` holds."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from testbed.comparison.record import ComparisonRecord
from testbed.run import results_folder
from testbed.run.results_folder import Record, write_atomically

SCHEMA_VERSION = 1


class OverloadRecord(ComparisonRecord):
    """`summary.json`."""

    schema_version: int = SCHEMA_VERSION
    kind: Literal["bench-overload"] = "bench-overload"
    hugepages: bool
    tsc_hz: int | None = None


def write_record(path: Path, record: Record) -> None:
    """Writes the record of a comparison; the raw samples make lines of their own too long to indent."""
    write_atomically(path, record.model_dump_json() + "\n")


def read_record(path: Path) -> OverloadRecord:
    """Reads it; the file may be compressed (`.json.xz`).

    Raises `ResultsError`.
    """
    return results_folder.read_record(path, OverloadRecord, "a record of 'bench overload'", "a run", SCHEMA_VERSION)
