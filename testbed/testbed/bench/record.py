# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What `summary.json` of `bench overload` holds."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import Field

from testbed.comparison.record import Measurement, Pair
from testbed.run import results_folder
from testbed.run.environment import Environment
from testbed.run.results_folder import Record, Status, write_atomically

SCHEMA_VERSION = 1


class OverloadRecord(Record):
    """`summary.json`."""

    schema_version: int = SCHEMA_VERSION
    kind: Literal["bench-overload"] = "bench-overload"
    status: Status
    reason: str | None = None
    started: datetime
    finished: datetime | None = None
    command: str
    quick: bool
    hugepages: bool
    per_cpu_second: bool
    blocks: int
    rounds: int
    slice_ms: float
    seed: int
    lcores: dict[str, int]
    tsc_hz: int | None = None
    environment: Environment
    pairs: list[Pair] = Field(default_factory=list)
    noise_floor: list[Pair] = Field(default_factory=list, description="the first contestant against itself")
    measurements: list[Measurement] = Field(default_factory=list)


def write_record(path: Path, record: Record) -> None:
    """Writes the record of a comparison; the raw samples make lines of their own too long to indent."""
    write_atomically(path, record.model_dump_json() + "\n")


def read_record(path: Path) -> OverloadRecord:
    """Reads it; the file may be compressed (`.json.xz`).

    Raises `ResultsError`.
    """
    return results_folder.read_record(path, OverloadRecord, "a record of 'bench overload'", "a run", SCHEMA_VERSION)
