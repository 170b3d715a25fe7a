# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`campaign.json`: the settings of a campaign, from which it can be resumed."""

from __future__ import annotations

import uuid
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from testbed.campaign.scenario import Scenario
from testbed.run.results_folder import read_record

SETTINGS = "campaign.json"


class CampaignSettings(BaseModel):
    """`campaign.json`: the settings of a campaign, from which it can be resumed."""

    model_config = ConfigDict(extra="forbid")

    schema_version: int = 1
    campaign: str = Field(default_factory=lambda: uuid.uuid4().hex)
    kind: Literal["rfc2544", "overload"]
    command: str
    scenario: Scenario
    bin_dirs: list[Path] = Field(default_factory=list)
    # SHA-256 of each program, by name. A campaign is not resumed with other programs.
    programs: dict[str, str] = Field(default_factory=dict)
    # When it was begun, and resumed.
    runs: list[datetime] = Field(default_factory=list)
    # Of a campaign over several testbeds, which of them has measured which frames (`Point.frames`).
    testbeds: dict[str, str] = Field(default_factory=dict)
    # Those of the inventory that did not come, the last time.
    absent_testbeds: list[str] = Field(default_factory=list)
    # Those that were given nothing more, and why, the last time.
    broken_testbeds: dict[str, str] = Field(default_factory=dict)
    # How long the testbeds were there for the campaign, added up [s].
    testbed_s: float = 0.0


def read_campaign_settings(folder: Path) -> CampaignSettings:
    """Reads `campaign.json`.

    Raises `ResultsError`.
    """
    return read_record(folder / SETTINGS, CampaignSettings, "the settings of a campaign", "a campaign")
