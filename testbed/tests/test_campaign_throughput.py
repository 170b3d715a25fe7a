# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The search finds the simulated device's throughput."""

from __future__ import annotations

import pytest
from campaign_models import Tape, any_model

from testbed.campaign.grade import FULL_LENGTH, MAXIMUM_RATE, MEANT, Grade
from testbed.campaign.measurements.throughput import FASTEST, NO_LOSS, Goal, ThroughputSettings, measure_throughput
from testbed.campaign.presets import PRESETS
from testbed.campaign.simulated import DeviceModel, SimulatedGenerator
from testbed.campaign.trial import Stream, line_rate_fps
from testbed.campaign.validity import NotMeasured, Trials

MODELS = range(60)


def test_bounds_enclose_the_known_value_for_any_device():
    for number in MODELS:
        model = any_model(number)
        size, directions = [64, 512, 1518][number % 3], 1 + number % 2
        known = model.throughput(size, directions)
        found = measure_throughput(Trials(SimulatedGenerator(model)), Stream(size=size, directions=directions))
        # A buffer takes up so much of an overload of 60 s; and a load is a whole number of frames.
        absorbed = (model.buffer_frames + 1) / 60
        assert found.throughput_fps <= known + absorbed, f"model {number}"
        upper = found.goals[0].upper
        if upper is None:
            assert found.throughput_fps == line_rate_fps(size, model.line_rate_bps), f"model {number}"
        else:
            assert upper.load_fps > known, f"model {number}"
            assert upper.load_fps - found.throughput_fps <= 0.005 * upper.load_fps, f"model {number}"
        assert found.graded.grade is Grade.UNCONDITIONAL, f"model {number}: {found.graded.missing}"


def test_a_device_at_line_rate_has_the_line_rate():
    line = line_rate_fps(1518, 25e9)
    found = measure_throughput(Trials(SimulatedGenerator(DeviceModel(throughput_fps={1518: line}))), Stream(size=1518))
    assert found.throughput_fps == line
    assert found.at_max
    assert found.goals[0].upper is None
    assert found.wire_bps(found.throughput_fps) == pytest.approx(25e9)
    assert found.graded.grade is Grade.UNCONDITIONAL


@pytest.mark.parametrize(
    ("able_fps", "grade", "missing"),
    [
        (3e6, Grade.CONDITIONAL, [MAXIMUM_RATE]),
        # Nobody knows what the device could do if the generator could do more.
        (8e6, Grade.NON_COMPLIANT, [FASTEST, MAXIMUM_RATE]),
    ],
)
def test_a_generator_slower_than_the_medium_is_told(able_fps, grade, missing):
    device = SimulatedGenerator(DeviceModel(throughput_fps={64: able_fps}))
    found = measure_throughput(Trials(Tape(device, max_fps_by_size={64: 5e6})), Stream(size=64))
    assert found.throughput_fps == pytest.approx(min(able_fps, 5e6), rel=0.005)
    assert found.graded.grade is grade
    assert [finding.clause for finding in found.graded.missing] == missing


@pytest.mark.parametrize(("unsent", "found_fps"), [(0.003, 2e6), (50e-6, 5e6)])
def test_a_rate_that_was_not_offered_is_not_proven(unsent, found_fps):
    """Above 2 Mpps the generator sends a little too few; a clock that is 50 ppm slow is no such matter."""

    def short(result):
        if result.plan.load_fps <= 2e6:
            return result
        missing = round(unsent * result.sent)
        return result.model_copy(update={"sent": result.sent - missing, "received": result.received - missing})

    device = SimulatedGenerator(DeviceModel(throughput_fps={64: 5e6}))
    found = measure_throughput(Trials(Tape(device, change=short)), Stream(size=64))
    assert found.throughput_fps == pytest.approx(found_fps, rel=0.006)
    # No trial there lost a frame: it is no bound of the device.
    assert (found.goals[0].upper is None, found.generator_was_limit) == (found_fps == 2e6, found_fps == 2e6)


def test_a_trial_that_is_short_of_frames_once_is_made_again():
    """The first trial at each rate, as after a pause."""
    seen: set[float] = set()

    def short(result):
        if result.plan.load_fps in seen:
            return result
        seen.add(result.plan.load_fps)
        missing = round(0.0005 * result.sent)
        return result.model_copy(update={"sent": result.sent - missing, "received": result.received - missing})

    device = SimulatedGenerator(DeviceModel(throughput_fps={64: 5e6}))
    found = measure_throughput(Trials(Tape(device, change=short)), Stream(size=64))
    assert found.throughput_fps == pytest.approx(5e6, rel=0.006)


def test_a_rate_that_the_generator_does_not_keep_is_no_bound_of_the_device():
    """Above 1.024 Mpps it offers 2 % less."""

    def short(result):
        too_fast = result.plan.load_fps > 1.024e6
        return result.model_copy(update={"offered_fps": result.offered_fps * 0.98}) if too_fast else result

    device = SimulatedGenerator(DeviceModel(throughput_fps={64: 5e6}))
    found = measure_throughput(Trials(Tape(device, change=short)), Stream(size=64))
    assert found.throughput_fps == pytest.approx(1.024e6, rel=0.01)
    assert found.goals[0].upper is None
    assert found.goals[0].not_offered_fps == pytest.approx(1.024e6, rel=0.01)
    assert found.generator_was_limit
    assert "the generator kept no higher one" in found.headline
    assert FASTEST in [finding.clause for finding in found.graded.missing]


def test_no_throughput_where_the_generator_keeps_next_to_nothing():
    """As when other programs have its CPU throughout: the lowest rates would be a bound of no use."""

    def starved(result):
        too_fast = result.plan.load_fps > 2e4
        return result.model_copy(update={"offered_fps": result.offered_fps * 0.98}) if too_fast else result

    device = SimulatedGenerator(DeviceModel(throughput_fps={64: 5e6}))
    words = r"kept no rate above \d+ of 5000000 frames/s: .*wrong load"
    with pytest.raises(NotMeasured, match=words):
        measure_throughput(Trials(Tape(device, change=starved, max_fps_by_size={64: 5e6})), Stream(size=64))


def test_a_generator_whose_clock_is_too_slow_at_every_rate_leaves_the_throughput_unknown():
    """Each trial lacks 0.1 % of its frames: none of them is invalid, and none proves its rate."""

    def short(result):
        sent = round(0.999 * result.plan.intended_frames)
        return result.model_copy(update={"sent": sent, "received": sent, "lost": 0, "lost_at": {}})

    device = SimulatedGenerator(DeviceModel(throughput_fps={64: 5e6}))
    found = measure_throughput(Trials(Tape(device, change=short)), Stream(size=64))
    assert (found.throughput_fps, found.goals[0].lower, found.goals[0].upper) == (0.0, None, None)


def test_a_device_slower_than_what_the_generator_keeps_has_its_own_bound():
    device = SimulatedGenerator(DeviceModel(throughput_fps={64: 0.8e6}, stalls=1, stall_s=1e-3))
    found = measure_throughput(Trials(device), Stream(size=64))
    assert found.throughput_fps == pytest.approx(0.8e6, rel=0.01)
    assert not found.generator_was_limit
    assert found.goals[0].upper is not None


def test_a_medium_without_a_known_rate_is_told():
    device = SimulatedGenerator(DeviceModel(throughput_fps={64: 3e6}))
    tape = Tape(device, max_fps_by_size={64: 5e6}, line_rate_bps=None)
    found = measure_throughput(Trials(tape), Stream(size=64))
    assert [str(finding) for finding in found.graded.missing] == [
        "RFC 2544, section 20 (SHOULD): required: the highest rate is the theoretical one of the medium; done here: "
        "the medium has no known rate"
    ]


def test_a_device_that_forwards_next_to_nothing_has_no_throughput():
    model = DeviceModel(throughput_fps={64: 10.0}, buffer_frames=1)
    found = measure_throughput(Trials(SimulatedGenerator(model)), Stream(size=64))
    assert found.throughput_fps == 0
    assert found.goals[0].lower is None
    assert found.graded.grade is Grade.NON_COMPLIANT


def test_noisy_devices_within_the_goal():
    goal_width, noise = 0.005, 0.004
    settings = PRESETS["csit"].throughput
    for number in MODELS:
        model = any_model(number, noise)
        found = measure_throughput(Trials(SimulatedGenerator(model)), Stream(size=64), settings)
        known = model.throughput(64)
        line = line_rate_fps(64, model.line_rate_bps)
        # Of a load within one deviation below the known value most trials succeed, of one above most fail. Buffers
        # are emptied in a second.
        allowed = (goal_width + 1.5 * noise) * known + model.buffer_frames + 1
        without_loss, half_percent = (goal.lower.load_fps for goal in found.goals)
        assert abs(without_loss - min(known, line)) <= allowed, f"model {number}"
        assert without_loss <= half_percent <= (known + model.buffer_frames) * 1.005 * (1 + goal_width + 1.5 * noise)


def test_a_goal_with_loss_finds_the_rate_that_loses_so_much():
    settings = PRESETS["csit"].throughput
    for number in MODELS:
        model = any_model(number).model_copy(update={"buffer_frames": 1, "collapse": 0.0})
        found = measure_throughput(Trials(SimulatedGenerator(model)), Stream(size=64), settings)
        for goal in found.goals:
            rate = model.throughput(64) / (1 - goal.goal.loss_ratio)
            if goal.upper is not None:
                assert goal.lower.load_fps * (1 - 1e-4) <= rate <= goal.upper.load_fps * (1 + 1e-4), f"model {number}"


def test_a_search_without_full_trials_is_conditional_and_says_which_clause():
    model = DeviceModel(throughput_fps={64: 5e6})
    goal = Goal(final_trial_s=10, duration_sum_s=10)
    found = measure_throughput(Trials(SimulatedGenerator(model)), Stream(size=64), ThroughputSettings(goals=(goal,)))
    assert found.graded.grade is Grade.CONDITIONAL
    assert [finding.clause for finding in found.graded.missing] == [FULL_LENGTH]


def test_a_rate_with_loss_is_no_throughput():
    model = DeviceModel(throughput_fps={64: 5e6})
    goal = Goal(loss_ratio=0.01)
    found = measure_throughput(Trials(SimulatedGenerator(model)), Stream(size=64), ThroughputSettings(goals=(goal,)))
    assert found.throughput_fps > 5e6
    assert found.graded.grade is Grade.NON_COMPLIANT
    assert NO_LOSS in [finding.clause for finding in found.graded.missing]


def test_a_quick_look_is_never_rfc_2544():
    model = DeviceModel(throughput_fps={64: 5e6})
    found = measure_throughput(Trials(SimulatedGenerator(model)), Stream(size=64), PRESETS["quick"].throughput)
    assert found.graded.grade is Grade.NON_COMPLIANT
    assert found.graded.missing[0].clause == MEANT


def test_the_rate_can_be_tried_again():
    tape = Tape(SimulatedGenerator(DeviceModel(throughput_fps={64: 10e6})))
    found = measure_throughput(Trials(tape), Stream(size=64), ThroughputSettings(confirmations=3))
    last = [(result.plan.load_fps, result.plan.duration_s) for result in tape.results[-3:]]
    assert last == [(found.throughput_fps, 60)] * 3
    assert found.goals[0].lower.trials >= 4


def test_the_rfc_goal_takes_few_trials():
    generator = SimulatedGenerator(DeviceModel(throughput_fps={64: 1e6}, line_rate_bps=1e9))
    found = measure_throughput(Trials(generator), Stream(size=64))
    assert found.trials <= 12
    # Two full trials are what the RFC asks for.
    assert generator.clock_s <= 120 + 12 * 9 + 60


def test_a_generator_that_falls_short_costs_trials_but_no_throughput():
    model = DeviceModel(throughput_fps={64: 5e6}, shortfalls=0.2, seed=3)
    tape = Tape(SimulatedGenerator(model))
    found = measure_throughput(Trials(tape), Stream(size=64))
    assert found.invalid_trials > 0
    assert found.trials == len(tape.results)
    assert found.throughput_fps == pytest.approx(5e6, rel=0.005)
    assert found.graded.grade is Grade.UNCONDITIONAL


def test_a_generator_that_always_falls_short_ends_the_search():
    model = DeviceModel(throughput_fps={64: 5e6}, shortfalls=1)
    with pytest.raises(NotMeasured, match=r"6 trials of 64 bytes at .* were invalid.*wrong load"):
        measure_throughput(Trials(SimulatedGenerator(model)), Stream(size=64))
