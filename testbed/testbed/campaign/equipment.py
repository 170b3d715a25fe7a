# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The test equipment of a campaign: what `real_equipment.py` starts, or a test's stand-ins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from testbed.campaign.method import Method
from testbed.campaign.points import Point
from testbed.campaign.scenario import Measurement, Scenario
from testbed.campaign.traffic_generator import Generator
from testbed.run.environment import Environment


@dataclass(frozen=True)
class Equipment:
    """What a campaign measures with."""

    methods: Mapping[Measurement, Method]
    # Starts a generator with the device of this name, for this many directions; logs go to the folder.
    start: Callable[[Scenario, str, int, Path], Generator]
    environment: Callable[[Scenario], Environment]
    expected_s: Callable[[Scenario, Point, Measurement], float | None]
    # Of a throughput that pauses of the machine bound.
    expected_between_pauses_s: Callable[[Scenario, Point], float] = lambda scenario, point: 0.0
