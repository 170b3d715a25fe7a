# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Whole campaigns and comparisons of simulated devices, for tests of what is made of their folders."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from campaign_models import Tape
from rich.console import Console

from testbed.campaign.campaign import Campaign
from testbed.campaign.campaign_settings import CampaignSettings
from testbed.campaign.compare.run import ComparisonRun
from testbed.campaign.compare.schedule import CompareSettings
from testbed.campaign.compare.settings import ComparisonSettings
from testbed.campaign.real_equipment import Programs, real_equipment
from testbed.campaign.scenario import Scenario
from testbed.campaign.scenario_file import parse_scenario

EQUIPMENT = real_equipment(Programs({}, None))
COMMAND = "./x testbed rfc2544 --scenario folders.yaml"
# Two devices that differ at 64 bytes and not at 1,518, on a line of 25 Gbit/s.
TEXT = """\
name: folders
generator: {kind: simulated}
devices:
  - name: l2fwd-c
    model: &c
      throughput_fps: {64: 12.4e+6, 512: 5.1e+6, 1518: 2.031e+6}
      latency_base_ns: 5000
      noise: 0.002
      shortfalls: 0.05
      seed: 3
  - name: l2fwd-rs
    model:
      <<: *c
      throughput_fps: {64: 11.0e+6, 512: 4.9e+6, 1518: 2.031e+6}
      collapse: 0.1
      latency_base_ns: 6000
      seed: 4
frames: {sizes: [64, 512, 1518]}
tests: [throughput, latency, frame_loss, back_to_back, recovery, reset, forwarding_rate, soak]
preset: quick
"""


def console() -> Console:
    return Console(file=io.StringIO(), width=200)


def scenario(text: str = TEXT) -> Scenario:
    return parse_scenario(text, "folders.yaml")


def begin_campaign(parent: Path, text: str = TEXT, able: dict[str, Any] | None = None, **settings: Any) -> Campaign:
    """A campaign that has not run yet; `able` is what its generators can do otherwise than the simulated one."""

    def start(*arguments: Any) -> Tape:
        return Tape(EQUIPMENT.start(*arguments), **(able or {}))

    told = CampaignSettings(**{"kind": "rfc2544", "command": COMMAND, "scenario": scenario(text), **settings})
    return Campaign.create(parent, told, text, replace(EQUIPMENT, start=start))


def run_campaign(parent: Path, text: str = TEXT, able: dict[str, Any] | None = None, **settings: Any) -> Path:
    campaign = begin_campaign(parent, text, able, **settings)
    campaign.run(console())
    return campaign.folder


def begin_comparison(parent: Path, text: str = TEXT, **told: Any) -> ComparisonRun:
    compared = CompareSettings(a="l2fwd-c", b="l2fwd-rs", **{"sizes": (64, 1518), "blocks": 7, **told})
    settings = ComparisonSettings(command="./x testbed compare", scenario=scenario(text), compare=compared)
    return ComparisonRun.create(parent, settings, text, EQUIPMENT)


def run_comparison(parent: Path, text: str = TEXT, **told: Any) -> Path:
    comparison = begin_comparison(parent, text, **told)
    comparison.run(console())
    return comparison.folder


def change_json(path: Path, **fields: Any) -> None:
    """Changes fields at the top of a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))
