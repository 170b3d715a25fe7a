# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Mixtures of sizes with TRex, on the stand-in: proportions, counters of each size, and what cannot be told."""

from __future__ import annotations

from pathlib import Path

import pytest
from trex_setup import PLAN, Make, maker

from testbed.campaign.frame_format import frame_format
from testbed.campaign.scenario_error import ScenarioError
from testbed.campaign.scenario_file import parse_scenario
from testbed.campaign.traffic_generator import NotCapable
from testbed.campaign.trex.mixture import composition, tunable
from testbed.campaign.trial import ResetKind, ResetPlan, StepPlan, TrialPlan

# No virtual device, over which long frames with latency would be mixed up.
NIC = {"virtual": False, "driver": "net_i40e"}
MIXED = PLAN.model_copy(update={"size": "imix", "load_fps": 5000.0})


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    return maker(tmp_path, monkeypatch)


def test_the_frames_are_counted_out() -> None:
    assert tunable("imix:3afd") == "64x3+1280+512"
    assert composition("imix", 120) == {64: 70, 594: 40, 1518: 10}
    # The last round ends before its long frame.
    assert composition("imix:3afd", 9) == {64: 6, 512: 1, 1280: 2}


def test_a_trial_has_each_size_as_often_as_the_mixture_says(make: Make) -> None:
    generator = make(lost_of={"12": 5})
    result = generator.run(MIXED)
    assert result.valid, result.reasons
    assert (result.sent, result.lost, result.offered_fps, result.duration_s) == (1000, 5, 5000, 0.2)
    # 83 rounds of twelve, and four frames of the next.
    assert result.raw["sizes"] == {
        "64": {"sent": 584, "received": 584},
        "594": {"sent": 333, "received": 328},
        "1518": {"sent": 83, "received": 83},
    }
    generator.close()


def test_both_directions_count_together(make: Make) -> None:
    generator = make(setup={"directions": 2}, lost_of={"14": 2, "15": 1})
    result = generator.run(MIXED.model_copy(update={"directions": 2}))
    assert result.valid, result.reasons
    assert (result.sent, result.raw["sizes"]["1518"]) == (2000, {"sent": 166, "received": 163})
    generator.close()


def test_a_size_that_was_not_sent_as_often_makes_it_invalid(make: Make) -> None:
    generator = make(short_of={"12": 1})
    result = generator.run(MIXED)
    # So few that the number of all frames is still near enough.
    assert result.reasons == ["wrong mixture: 332 frames of 594 bytes were sent instead of 333"]
    generator.close()


def test_without_marks_sizes_are_not_told_apart(make: Make) -> None:
    generator = make({"flow_stats": False}, **NIC)
    result = generator.run(MIXED.model_copy(update={"latency": True, "duration_s": 2}))
    assert result.valid, result.reasons
    assert "sizes" not in result.raw
    generator.close()


def test_latency_frames_are_mixed_too_and_count(make: Make) -> None:
    generator = make(lost_of={"18": 4}, **NIC)
    result = generator.run(MIXED.model_copy(update={"latency": True, "duration_s": 2}))
    assert result.valid, result.reasons
    # 1,000 a second, beside 4,000 that are only counted.
    assert result.latency.count == 1996
    assert (result.sent, result.lost) == (10_000, 4)
    assert sum(one["sent"] for one in result.raw["sizes"].values()) == 10_000
    assert result.raw["sizes"]["594"]["sent"] - result.raw["sizes"]["594"]["received"] == 4
    generator.close()


def test_over_memif_long_frames_of_a_mixture_do_not_differ(make: Make) -> None:
    generator = make()
    for changes in ({"flows": 2}, {"latency": True}):
        with pytest.raises(NotCapable, match="only with frames of up to 132 bytes: over memif"):
            generator.run(MIXED.model_copy(update=changes))
    assert generator.run(MIXED.model_copy(update={"size": "imix:3ab", "flows": 2})).valid
    generator.close()


def test_its_highest_rate_is_found_out(make: Make) -> None:
    generator = make({"line_rate_bps": 20e6}, {"sizes": (64, "imix")})
    found = generator.capabilities()
    # 361.8 bytes on average, and 20 between frames.
    assert found.max_fps("imix") == pytest.approx(20e6 / 8 / (4342 / 12 + 20))
    generator.close()


def test_a_burst_of_it_has_its_length(make: Make) -> None:
    generator = make()
    plan = TrialPlan(size="imix", load_fps=2500, duration_s=0.01, kind="burst", burst_frames=25)
    result = generator.run(plan)
    assert result.valid, result.reasons
    assert {size: one["sent"] for size, one in result.raw["sizes"].items()} == {"64": 15, "594": 8, "1518": 2}
    generator.close()


def test_recovery_and_reset_have_mixtures(make: Make) -> None:
    generator = make(lost_of={"10": 70, "16": 5})
    plan = StepPlan(size="imix", loads_fps=(20_000, 10_000), durations_s=(0.1, 1.0))
    result = generator.step(plan)
    assert result.valid, result.reasons
    # Whole rounds of twelve.
    assert result.sent == [167 * 12, 833 * 12]
    assert result.lost == [70, 5]
    assert result.last_loss_s == result.raw["slices"][2]["end_s"] > 0
    assert all(one["sent"] % 12 == 0 for one in result.raw["slices"])
    with pytest.raises(NotCapable, match="not started by the testbed"):
        generator.reset(ResetPlan(size="imix", load_fps=1000, kind=ResetKind.PROCESS, patience_s=1))
    generator.close()


def test_a_scenario_names_mixtures_up_to_a_length() -> None:
    text = "name: s\ngenerator: {kind: trex}\ndevices: [{name: l2fwd-c}]\nframes:\n  sizes: [64, imix, 'imix:LONG']\n"
    told = frame_format(parse_scenario(text.replace("LONG", "255ag"), "s.yaml"))
    assert any(line.startswith("Of the mixture imix the frames have") and "not proven" in line for line in told)
    with pytest.raises(ScenarioError, match=r"s.yaml:5: frames.sizes.2: TRex has a stream .* 256 at most, not 257"):
        parse_scenario(text.replace("LONG", "256ag"), "s.yaml")
