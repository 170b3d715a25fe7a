# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What `summary.json` of `bench handicaps` holds."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from testbed.comparison.record import Block
from testbed.comparison.statistics import PairRatio
from testbed.run.environment import Environment
from testbed.run.results_folder import Record

SCHEMA_VERSION = 1
KIND = "bench-handicaps"


class HandicapRow(Record):
    """What one handicap does."""

    label: str
    options: list[str]
    profile: str = Field(description="cargo's")
    instructions_per_packet: dict[str, float]
    rates: dict[str, PairRatio] = Field(default_factory=dict, description="by wire: rate / rate of the plain loop")
    empty_polls: dict[str, float] = Field(default_factory=dict, description="by wire: share of polls without a packet")


class HandicapRecord(Record):
    """`summary.json`."""

    schema_version: int = SCHEMA_VERSION
    kind: str = KIND
    started: datetime
    finished: datetime | None = None
    command: str
    versions: str
    quick: bool
    hugepages: bool
    per_cpu_second: bool
    seed: int
    environment: Environment
    rows: list[HandicapRow] = Field(default_factory=list)
    blocks: dict[str, list[Block]] = Field(default_factory=dict, description="by wire")
