# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What `summary.json` of `bench codecs` holds."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from testbed.comparison.condition import Condition
from testbed.comparison.record import ComparisonRecord
from testbed.run.results_folder import Record


class Count(Record):
    """What a round costs."""

    codec: str
    condition: Condition
    instructions: float = Field(description="of client and server, for each round")


class CodecsRecord(ComparisonRecord):
    """`summary.json`. A round is a frame that comes and goes."""

    kind: Literal["bench-codecs"] = "bench-codecs"
    # By the CPU time of both processes, where there are two.
    per_cpu_second: Literal[True] = True
    versions: str = Field(description="of the compilers and the libraries")
    codecs: dict[str, str] = Field(description="what each contestant is")
    counts: list[Count] = Field(default_factory=list)
