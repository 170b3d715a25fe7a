# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The embedded generator with programs of choice, and with stand-ins for them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import stand_in

from testbed.campaign.devices.l2fwd import L2fwd
from testbed.campaign.devices.program_host import LocalHost
from testbed.campaign.embedded.generator import EmbeddedGenerator
from testbed.campaign.embedded.rings import Rings
from testbed.campaign.embedded.setup import EmbeddedSetup
from testbed.campaign.traffic_generator import Pauses
from testbed.run.lcores import plan_lcores
from testbed.run.programs import Program, find_program

# Longest and counts of a program's gaps.
SOME_GAPS = {"longest_s": 0.002, "above_100us": 7, "above_1ms": 2, "above_3ms": 0, "above_10ms": 0}


def setup(raw: Path, forwarder: Program, generator: Program, hugepages: bool = False) -> EmbeddedSetup:
    return EmbeddedSetup(
        device=forwarder.name,
        kind=L2fwd(forwarder, (), LocalHost()),
        generator=generator,
        sizes=(64,),
        directions=1,
        lcores=plan_lcores(),
        hugepages=hugepages,
        pauses=Pauses(before_s=2, residual_s=0.5, settle_s=0),
        raw=raw,
    )


def maker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., EmbeddedGenerator]:
    """Makes a generator of stand-ins that behave as asked."""
    folder = stand_in.install(tmp_path / "bin")

    def make(rings: Rings | None = None, bursts: bool = True, **wishes: object) -> EmbeddedGenerator:
        monkeypatch.setenv("STAND_IN", json.dumps({"l2fwd-c": {"every": 0.02}} | wishes))
        programs = [find_program(name, [folder]) for name in ("l2fwd-c", "generator")]
        made = replace(setup(tmp_path / "raw", *programs), rings=rings or Rings(), bursts=bursts)
        return EmbeddedGenerator(made)

    return make
