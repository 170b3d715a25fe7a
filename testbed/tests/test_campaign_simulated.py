# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The simulated device does what its model says."""

from __future__ import annotations

import math

import pytest
from pydantic import ValidationError

from testbed.campaign.grade import Grade
from testbed.campaign.measurements.back_to_back import measure_back_to_back
from testbed.campaign.measurements.throughput import measure_throughput
from testbed.campaign.simulated import DeviceModel, SimulatedGenerator
from testbed.campaign.traffic_generator import Capabilities, Generator, GeneratorError, NotCapable, Pauses
from testbed.campaign.trial import (
    Place,
    ResetKind,
    ResetPlan,
    StepPlan,
    Stream,
    TrialPlan,
    TrialResult,
    line_rate_fps,
)
from testbed.campaign.validity import Trials

MODEL = DeviceModel(throughput_fps={64: 10e6, 512: 5e6}, buffer_frames=1000, collapse=0.2, recovery_s=0.3)


def trial(load_fps: float, duration_s: float = 1.0, **more: object) -> TrialResult:
    plan = TrialPlan(size=64, load_fps=load_fps, duration_s=duration_s, **more)
    return SimulatedGenerator(MODEL).run(plan)


def test_it_is_a_generator() -> None:
    assert isinstance(SimulatedGenerator(MODEL), Generator)


def test_line_rate_counts_preamble_and_gap() -> None:
    assert line_rate_fps(64, 25e9) == pytest.approx(37_202_381, abs=1)


def test_nothing_is_lost_up_to_the_throughput_and_what_the_buffer_holds() -> None:
    assert trial(10e6).lost == 0
    assert trial(10e6, 1.0).valid
    # The buffer takes what comes beyond for a while.
    assert trial(10e6 + 500).lost == 0
    assert trial(10e6 + 5000, 1.0).lost > 3000
    assert trial(10e6 + 500, 60.0).lost > 0


def test_overload_loses_the_excess_at_a_named_place_and_collapses() -> None:
    line = line_rate_fps(64, 25e9)
    result = trial(line, 1.0)
    assert result.received == pytest.approx(10e6 * 0.8 + 1000, rel=1e-6)
    assert result.lost_at == {Place.IMISSED: result.lost}
    assert result.received + result.lost == result.sent
    assert MODEL.forwarding_rate(64, line) == pytest.approx(8e6)


def test_both_directions_are_counted_together_and_loaded_each() -> None:
    one, two = trial(9e6), trial(9e6, directions=2)
    assert (two.sent, two.received) == (2 * one.sent, 2 * one.received)
    assert two.forwarded_fps == one.forwarded_fps
    shared = SimulatedGenerator(MODEL.model_copy(update={"bidirectional_share": 0.5}))
    assert shared.run(TrialPlan(size=64, load_fps=6e6, duration_s=1, directions=2)).lost > 0


def test_bursts_survive_up_to_the_known_length() -> None:
    line = line_rate_fps(64, 25e9)
    longest = MODEL.back_to_back_frames(64)
    fits = TrialPlan(size=64, load_fps=line, duration_s=1, kind="burst", burst_frames=math.floor(longest))
    over = fits.model_copy(update={"burst_frames": math.ceil(longest) + 2})
    generator = SimulatedGenerator(MODEL)
    assert generator.run(fits).lost == 0
    assert generator.run(over).lost > 0
    # What RFC 9004 corrects to is the buffer itself.
    assert longest / line * (1 - MODEL.forwarding_rate(64, line) / line) == pytest.approx(1000 / line)


def test_latency_is_the_distribution_and_grows_by_the_full_buffer() -> None:
    calm = trial(5e6, latency=True).latency
    assert calm is not None
    assert calm.avg == 6000
    assert calm.p50 == pytest.approx(5000 + 1000 * math.log(2))
    assert calm.min < calm.p50 < calm.p90 < calm.p99 < calm.p99_9 < calm.p99_99 < calm.max
    busy = trial(12e6, latency=True).latency
    assert busy is not None
    assert busy.avg > 100_000
    assert trial(5e6).latency is None


def test_recovery_takes_the_known_time() -> None:
    plan = StepPlan(size=64, loads_fps=(11e6, 5e6), durations_s=(60, 30))
    result = SimulatedGenerator(MODEL).step(plan)
    assert result.last_loss_s == 0.3
    assert result.lost[0] > 0
    assert result.lost[1] > 0
    calm = SimulatedGenerator(MODEL).step(plan.model_copy(update={"loads_fps": (9e6, 5e6)}))
    assert (calm.last_loss_s, calm.lost) == (0, [0, 0])


def test_a_reset_leaves_its_gap() -> None:
    plan = ResetPlan(size=64, load_fps=1e6, kind=ResetKind.PROCESS, patience_s=30)
    result = SimulatedGenerator(MODEL).reset(plan)
    assert (result.gap_s, result.lost) == (1.5, 1_500_000)
    impatient = SimulatedGenerator(MODEL).reset(plan.model_copy(update={"patience_s": 1}))
    assert not impatient.valid
    with pytest.raises(NotCapable, match="host"):
        SimulatedGenerator(MODEL).reset(plan.model_copy(update={"kind": ResetKind.HOST}))


def test_chance_is_the_seed_the_plan_and_its_number() -> None:
    noisy = MODEL.model_copy(update={"noise": 0.05, "seed": 3})
    plan = TrialPlan(size=64, load_fps=10.2e6, duration_s=1)
    first = SimulatedGenerator(noisy)
    losses = [first.run(plan).lost for _ in range(6)]
    assert len(set(losses)) > 1
    # Resumed after three: the journal's trials are only told of.
    resumed = SimulatedGenerator(noisy)
    for _ in range(3):
        resumed.replayed(plan)
    assert [resumed.run(plan).lost for _ in range(3)] == losses[3:]
    other = SimulatedGenerator(noisy.model_copy(update={"seed": 4}))
    assert [other.run(plan).lost for _ in range(6)] != losses


def test_a_generator_that_falls_short_makes_the_trial_invalid() -> None:
    short = SimulatedGenerator(MODEL.model_copy(update={"shortfalls": 1.0}))
    result = short.run(TrialPlan(size=64, load_fps=1e6, duration_s=1))
    assert not result.valid
    assert "900000" in result.reasons[0]
    assert "instead of" in trial(1e9).reasons[0]


def test_time_is_virtual_and_includes_the_pauses() -> None:
    generator = SimulatedGenerator(MODEL, Pauses(before_s=1, residual_s=2, settle_s=3))
    generator.run(TrialPlan(size=64, load_fps=1e6, duration_s=3600))
    assert generator.clock_s == 3606


def test_results_survive_json_and_must_make_sense() -> None:
    result = trial(12e6, latency=True)
    assert TrialResult.model_validate_json(result.model_dump_json()) == result
    with pytest.raises(ValidationError, match="reasons"):
        TrialResult.model_validate({**result.model_dump(), "valid": False})
    with pytest.raises(ValidationError, match="burst_frames"):
        TrialPlan(size=64, load_fps=1, duration_s=1, kind="burst")
    with pytest.raises(ValidationError, match="line_rate_bps"):
        DeviceModel(throughput_fps={64: 40e6})


def test_the_highest_load_is_the_least_limit() -> None:
    known = Capabilities(generator="g", version="1", line_rate_bps=25e9, max_fps_by_size={64: 8e6, 128: 1e9})
    assert known.max_fps(64) == 8e6
    assert known.max_fps(128) == line_rate_fps(128, 25e9)
    with pytest.raises(GeneratorError, match="line_rate_bps in the scenario"):
        Capabilities(generator="g", version="1").max_fps(64)


def test_a_mixture_takes_what_its_frames_take() -> None:
    model = DeviceModel(throughput_fps={64: 10e6, 512: 5e6}, line_rate_bps=100e9)
    # Three of 100 ns, one of 200 ns.
    assert model.throughput("imix:3ad") == pytest.approx(4 / (3 * 100e-9 + 200e-9))
    # Unless its own figure is known, or the line carries less.
    assert model.model_copy(update={"throughput_fps": {64: 10e6, "imix:3ad": 7e6}}).throughput("imix:3ad") == 7e6
    slow = model.model_copy(update={"line_rate_bps": 1e9})
    assert slow.throughput("imix:3ad") == pytest.approx(1e9 / 8 / ((3 * 64 + 512) / 4 + 20))


def test_the_search_finds_the_rate_of_a_mixture() -> None:
    model = DeviceModel(throughput_fps={64: 10e6, 512: 5e6})
    found = measure_throughput(Trials(SimulatedGenerator(model)), Stream(size="imix:3ad"))
    assert found.throughput_fps == pytest.approx(8e6, rel=0.006)
    assert found.bps(found.throughput_fps) == pytest.approx(found.throughput_fps * 8 * 176)
    assert found.wire_bps(found.throughput_fps) == pytest.approx(found.throughput_fps * 8 * 196)
    assert found.line_rate_fps == pytest.approx(25e9 / 8 / 196)
    assert found.graded.grade is Grade.NON_COMPLIANT


def test_a_burst_has_one_size() -> None:
    with pytest.raises(NotCapable, match=r"RFC 9004, section 3.* and no mixture"):
        measure_back_to_back(Trials(SimulatedGenerator(MODEL)), Stream(size="imix"), 1e6)
