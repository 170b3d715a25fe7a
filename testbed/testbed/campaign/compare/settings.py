# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`comparison.json`: the settings of a comparison, from which it can be resumed."""

from __future__ import annotations

import uuid
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from testbed.campaign.compare.schedule import CompareSettings, DutRun, schedule, size_by_size
from testbed.campaign.scenario import Scenario
from testbed.campaign.sizes import Size
from testbed.run.results_folder import read_record

SETTINGS = "comparison.json"


class ComparisonSettings(BaseModel):
    """`comparison.json`: the settings of a comparison."""

    model_config = ConfigDict(extra="forbid")

    schema_version: int = 1
    comparison: str = Field(default_factory=lambda: uuid.uuid4().hex)
    command: str
    scenario: Scenario
    compare: CompareSettings
    bin_dirs: list[Path] = Field(default_factory=list)
    programs: dict[str, str] = Field(default_factory=dict, description="SHA-256 of each program, by name")
    runs: list[datetime] = Field(default_factory=list, description="when it was begun, and resumed")
    testbeds: dict[Size, str] = Field(
        default_factory=dict, description="of a comparison over several testbeds, which of them measured which size"
    )

    def dut_runs(self, spread: bool) -> list[DutRun]:
        """All DUT runs; over several testbeds size by size."""
        return list((size_by_size if spread else schedule)(self.compare))


def read_comparison_settings(folder: Path) -> ComparisonSettings:
    """Reads `comparison.json`.

    Raises `ResultsError`.
    """
    return read_record(folder / SETTINGS, ComparisonSettings, "the settings of a comparison", "a comparison")


def is_comparison(folder: Path) -> bool:
    """Whether a folder is that of a comparison."""
    return (folder / SETTINGS).exists()
