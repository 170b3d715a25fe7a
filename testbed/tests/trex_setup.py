# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""TRex as a generator on the stand-in (`trex_stand_in`), for tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import trex_stand_in

from testbed.campaign.traffic_generator import Pauses
from testbed.campaign.trex.generator import TrexGenerator
from testbed.campaign.trex.settings import Trex
from testbed.campaign.trex.setup import TrexSetup
from testbed.campaign.trial import TrialPlan

PLAN = TrialPlan(size=64, load_fps=1000, duration_s=0.2)
Make = Callable[..., TrexGenerator]


def maker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes a generator on a stand-in that behaves as asked; what is left of it is ended afterwards."""
    home = trex_stand_in.install(tmp_path / "trex")

    def build(settings: dict | None = None, setup: dict | None = None, **wishes: object) -> TrexGenerator:
        monkeypatch.setenv("TREX_STAND_IN", json.dumps({"runs": True, "rate": 1e5} | wishes))
        words = {"kind": "trex", "warm_up_s": 0.2} | (settings or {})
        logs = tmp_path / "logs"
        logs.mkdir(exist_ok=True)
        fields = {
            "device": "l2fwd-c",
            "settings": Trex.model_validate(words),
            "home": home,
            "joined": None,
            "sizes": (64,),
            "flows": (1,),
            "directions": 1,
            "pauses": Pauses(before_s=0, residual_s=0, settle_s=0),
            "logs": logs,
        }
        return TrexGenerator(TrexSetup(**fields | (setup or {})))

    return build
