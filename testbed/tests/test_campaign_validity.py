# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What makes a trial invalid, and what happens then."""

from __future__ import annotations

import pytest
from campaign_models import Tape

from testbed.campaign.measurements.result import burst, continuous
from testbed.campaign.measurements.throughput import Goal, ThroughputSettings, measure_throughput
from testbed.campaign.simulated import DeviceModel, SimulatedGenerator
from testbed.campaign.trial import (
    Gaps,
    Pacing,
    Place,
    ResetKind,
    ResetPlan,
    ResetResult,
    StepPlan,
    StepResult,
    Stream,
    TrialPlan,
    TrialResult,
)
from testbed.campaign.validity import CHECKS, Disturbed, NotMeasured, Rules, Trials, judged, own_stall

STREAM = Stream(size=64)
PLAN = continuous(STREAM, 1e6, 10)
BURST = burst(STREAM, 1e6, 5000)


def result(plan: TrialPlan = PLAN, **fields) -> TrialResult:
    """A faultless trial with 100 frames lost in the device, but for the fields given."""
    sent = fields.get("sent", plan.intended_frames)
    lost = fields.get("lost", 100)
    base = {
        "plan": plan,
        "sent": sent,
        "received": sent - lost,
        "lost": lost,
        "lost_at": {Place.IMISSED: lost},
        "offered_fps": plan.load_fps,
        "duration_s": plan.duration_s,
    }
    return TrialResult(**{**base, **fields})


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"sent": 0, "lost": 0, "lost_at": {}}, "the generator sent nothing"),
        ({"sent": 9_900_000}, "wrong number of frames: 9900000 were sent instead of 10000000"),
        ({"sent": 10_100_000}, "wrong number of frames: 10100000 were sent instead of 10000000"),
        ({"offered_fps": 990_000}, "wrong load: 990000 frames/s were offered instead of 1000000"),
        ({"offered_fps": 1_010_000}, "wrong load: 1010000 frames/s were offered instead of 1000000"),
        ({"duration_s": 9.7}, "wrong duration: 9.700 s instead of 10 s"),
        ({"duration_s": 10.3}, "wrong duration: 10.300 s instead of 10 s"),
        ({"lost": -5, "lost_at": {}}, "surplus frames: 10000005 came back of 10000000 that were sent"),
        ({"lost": 100, "received": 9_999_901}, "accounts that disagree: 100 frames lost, but 99 did not come back"),
        ({"lost_at": {}}, "accounts that disagree: 100 frames lost, of them 0 at named places"),
        ({"lost_at": {Place.IMISSED: 99}}, "accounts that disagree: 100 frames lost, of them 99 at named places"),
        ({"lost_at": {Place.IMISSED: 101, Place.TX_QUEUE: -1}}, "surplus frames: 1 at 'tx_queue'"),
        (
            {"lost_at": {Place.IMISSED: 40, Place.GENERATOR: 60}},
            "loss that is not the device's: 60 frames at 'generator'",
        ),
        (
            {"lost_at": {Place.IMISSED: 40, Place.RECEIVER: 60}},
            "loss that is not the device's: 60 frames at 'receiver'",
        ),
        (
            {"pacing": Pacing(worst_lag_s=0.002, caught_up=4000)},
            "the generator was 2 ms late, and sent 4000 frames at up to twice the rate to catch up: 2000 were due at "
            "once, more than the 1024 that a queue holds",
        ),
        ({"raw": {CHECKS: {"foreign": 10_001}}}, "frames came back that were not sent: 10001"),
        ({"raw": {CHECKS: {"duplicated": 1}}}, "frames came back more than once: 1"),
        ({"raw": {CHECKS: {"corrupted": 2}}}, "frames came back changed: 2"),
        ({"raw": {CHECKS: {"wrong_mac": 2}}}, "frames came back with wrong MAC addresses: 2"),
        ({"raw": {CHECKS: {"wrong_length": 2}}}, "frames came back longer or shorter: 2"),
        ({"raw": {CHECKS: {"queue_full": 7}}}, "times the generator's queue was full: 7"),
        ({"raw": {CHECKS: {"links_down": ["1"]}}}, "links were down: ['1']"),
    ],
)
def test_each_fault_of_a_trial_has_its_reason(fields, reason):
    found = judged(result(**fields))
    assert not found.valid
    assert found.reasons == [reason]


def test_several_faults_have_several_reasons_and_are_told_once():
    once = judged(result(sent=9_000_000, duration_s=9))
    assert len(once.reasons) == 2
    assert judged(once) == once


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"lost": 0, "lost_at": {}},
        {"lost_at": {Place.IMISSED: 40, Place.NO_MBUFS: 30, Place.TX_QUEUE: 20, Place.DEVICE: 10}},
        {"sent": 9_990_000, "offered_fps": 999_000, "duration_s": 10.1},
        {"raw": {CHECKS: {"foreign": 3, "reordered": 12}}},
        {"pacing": Pacing(worst_lag_s=0.001, caught_up=2000)},
        {"pacing": Pacing()},
    ],
)
def test_a_trial_within_the_tolerances_counts(fields):
    found = judged(result(**fields))
    assert found.valid, found.reasons


def test_a_burst_is_sent_whole_and_may_take_as_long_as_it_takes():
    assert judged(result(BURST, duration_s=0.1)).valid
    found = judged(result(BURST, sent=4999))
    assert found.reasons == ["wrong number of frames: 4999 were sent instead of 5000"]


STEPS = StepPlan(size=64, loads_fps=(1000.0, 500.0), durations_s=(10.0, 5.0))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"sent": [9000, 2500]}, "wrong number of frames: 9000 were sent instead of 10000 at load 1"),
        ({"sent": [10_000]}, "accounts that disagree: 2 loads, but 1 counts"),
        ({"lost": [100, -1]}, "accounts that disagree: -1 of 2500 frames lost at load 2"),
        ({"lost": [10_001, 0]}, "accounts that disagree: 10001 of 10000 frames lost at load 1"),
        ({"last_loss_s": 5.5}, "a last loss that was not in the trial: after 5.5 s"),
    ],
)
def test_each_fault_of_a_change_of_load_has_its_reason(fields, reason):
    base = {"plan": STEPS, "sent": [10_000, 2500], "lost": [100, 10], "last_loss_s": 0.5}
    assert judged(StepResult(**base)).valid
    assert judged(StepResult(**{**base, **fields})).reasons == [reason]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"sent": 0, "lost": 0}, "the generator sent nothing"),
        ({"lost": -2}, "surplus frames: 2 more came back than were sent"),
        ({"lost": 1001}, "accounts that disagree: 1001 of 1000 frames lost"),
        ({"gap_s": None}, "no frame came back after the reset"),
    ],
)
def test_each_fault_of_a_reset_has_its_reason(fields, reason):
    plan = ResetPlan(size=64, kind=ResetKind.PORT, load_fps=100, patience_s=10)
    base = {"plan": plan, "sent": 1000, "lost": 100, "gap_s": 1.0}
    assert judged(ResetResult(**base)).valid
    assert judged(ResetResult(**{**base, **fields})).reasons == [reason]


def generator(change=lambda result: result) -> Tape:
    return Tape(SimulatedGenerator(DeviceModel(throughput_fps={64: 2e6})), change=change)


def test_invalid_trials_are_repeated_and_counted():
    spoiled = []

    def spoil(found):
        spoiled.append(found)
        return found.model_copy(update={"offered_fps": 1.0}) if len(spoiled) < 3 else found

    told = []
    trials = Trials(generator(spoil), on_invalid=told.append)
    assert trials.run(PLAN).valid
    assert (trials.valid, trials.invalid, len(told)) == (1, 2, 2)


def test_after_some_attempts_the_measurement_is_given_up():
    tape = generator(lambda found: found.invalidated(["the cable is out"]))
    with pytest.raises(NotMeasured, match=r"5 trials of 64 bytes at 1,000,000 frames/s .* the cable is out"):
        Trials(tape, Rules(attempts=5)).run(PLAN)
    assert len(tape.results) == 5


def test_a_late_generator_spoils_a_trial_whatever_it_lost():
    late = {"pacing": Pacing(worst_lag_s=0.002, caught_up=4000)}
    reasons = judged(result(**late)).reasons
    assert judged(result(lost=0, lost_at={}, **late)).reasons == reasons
    # At a change of load, the higher one counts.
    pacing = Pacing(worst_lag_s=2, caught_up=4000)
    step = StepResult(plan=STEPS, sent=[10_000, 2500], lost=[100, 10], last_loss_s=0.5, pacing=pacing)
    assert "2000 were due at once" in judged(step).reasons[0]


def test_what_is_lost_behind_a_pause_of_the_generator_is_not_the_devices():
    """In three of ten trials the generator pauses for 1 ms, and then sends at twice the rate for as long.

    A device of 5 Mpps with a buffer of 1,024 frames then loses some at all rates above 3 Mpps.
    """
    model = DeviceModel(throughput_fps={64: 5e6}, stalls=0.3, stall_s=1e-3)
    trials = Trials(SimulatedGenerator(model))
    found = measure_throughput(trials, STREAM, ThroughputSettings(goals=(Goal(final_trial_s=1, duration_sum_s=1),)))
    assert found.throughput_fps == pytest.approx(5e6, rel=0.01)
    assert trials.invalid > 0


PAUSED = Gaps(longest_s=0.003, above_100us=1, above_1ms=1)


@pytest.mark.parametrize("who", ["generator", "device"])
def test_a_gap_longer_than_the_rings_hold_disturbs_a_trial_whatever_it_lost(who):
    gaps = {f"{who}_gaps": PAUSED, "ring_frames": 2048}
    reason = (
        f"disturbed: the {who} paused for 3 ms, in which 3000 frames were due, more than the 2048 that a queue holds"
    )
    assert judged(result(**gaps)).reasons == [reason]
    assert judged(result(lost=0, lost_at={}, **gaps)).reasons == [reason]
    # Rings that hold more, and a load of fewer frames.
    assert judged(result(**{**gaps, "ring_frames": 4096})).valid
    assert judged(result(continuous(STREAM, 5e5, 10), **gaps)).valid
    assert judged(result(burst(STREAM, 1e6, 2000), **gaps)).valid
    # A queue of unknown length tells nothing.
    assert judged(result(**{**gaps, "ring_frames": None})).valid
    # The rule is that of resets too.
    plan = ResetPlan(size=64, kind=ResetKind.PORT, load_fps=1e6, patience_s=10)
    assert judged(ResetResult(plan=plan, sent=1000, lost=100, gap_s=1.0, **gaps)).reasons == [reason]


@pytest.mark.parametrize(
    ("taken_s", "own"),
    [
        # Of 3 ms, more than the 1,024 frames of a queue were due without what others took.
        (0.0, True),
        (0.0019, True),
        (0.002, False),
        (0.1, False),
        # The kernel does not count it.
        (None, False),
    ],
)
def test_a_stall_of_the_device_itself_disturbs_no_trial(taken_s, own):
    gaps = {"device_gaps": PAUSED, "ring_frames": 1024, "device_taken_s": taken_s}
    found = judged(result(**gaps))
    assert found.valid is own
    assert own_stall(found, found.ring_frames) is own
    # A pause of the generator is none of it.
    assert "the generator paused" in judged(result(**gaps, generator_gaps=PAUSED)).reasons[0]


def test_a_device_that_stalls_has_the_throughput_that_its_queue_allows():
    """It stalls for 3 ms 50 times a second, and nobody else has its CPU: it loses frames above 0.34 Mpps."""
    stalling = {"buffer_frames": 1024, "pauses_per_s": 50.0, "pause_s": 3e-3}
    model = DeviceModel(throughput_fps={64: 5e6}, line_rate_bps=7e9, **stalling)
    tape = Tape(SimulatedGenerator(model), change=lambda found: found.model_copy(update={"device_taken_s": 0.0}))
    trials = Trials(tape)
    found = measure_throughput(trials, STREAM, ONE_SECOND)
    assert (found.pauses, trials.invalid) == (None, 0)
    assert found.throughput_fps == pytest.approx(1024 / 3e-3, rel=0.2)


def test_a_late_generator_may_have_as_many_frames_due_as_its_rings_hold():
    late = {"pacing": Pacing(worst_lag_s=0.002, caught_up=4000)}
    assert judged(result(**late, ring_frames=4096)).valid
    assert "more than the 256 that a queue holds" in judged(result(**late, ring_frames=256)).reasons[0]


def paused(pauses_per_s: float, pause_s: float, buffer_frames: int) -> Trials:
    """A device of 5 Mpps on a machine that pauses."""
    pauses = {"buffer_frames": buffer_frames, "pauses_per_s": pauses_per_s, "pause_s": pause_s}
    # Line rate is 10.4 Mpps.
    return Trials(SimulatedGenerator(DeviceModel(throughput_fps={64: 5e6}, line_rate_bps=7e9, **pauses)))


ONE_SECOND = ThroughputSettings(goals=(Goal(final_trial_s=1, duration_sum_s=1),))


def test_trials_disturbed_by_pauses_are_repeated_until_the_true_rate_is_found():
    trials = paused(1.0, 3e-3, 1024)
    assert measure_throughput(trials, STREAM, ONE_SECOND).throughput_fps == pytest.approx(5e6, rel=0.01)
    assert trials.invalid > 0
    # Rings that hold what comes in a pause need no repetition.
    deep = paused(1.0, 3e-3, 32_768)
    assert measure_throughput(deep, STREAM, ONE_SECOND).throughput_fps == pytest.approx(5e6, rel=0.01)
    assert deep.invalid == 0


def test_pauses_in_every_trial_leave_the_highest_rate_that_the_rings_hold():
    """20 pauses of 3 ms a second: 1,024 frames are due in one at 341,333 frames/s."""
    trials = paused(20.0, 3e-3, 1024)
    with pytest.raises(Disturbed, match=r"6 trials of 64 bytes .* disturbed: the device paused for 3 ms"):
        trials.run(continuous(STREAM, 1e6, 1))
    assert trials.run(continuous(STREAM, 340e3, 1)).lost == 0


def test_spare_attempts_of_earlier_trials_help_a_later_one():
    """Two of three trials do not count: of a search's some 20, one will hardly count within 6 attempts."""
    settings = ThroughputSettings(goals=(Goal(final_trial_s=1, duration_sum_s=1),))
    for seed in range(20):
        model = DeviceModel(throughput_fps={64: 5e6}, shortfalls=0.67, seed=seed)
        trials = Trials(SimulatedGenerator(model), Rules(attempts=6))
        try:
            found = measure_throughput(trials, STREAM, settings)
        except NotMeasured:
            # The first ones have nothing to spare yet.
            assert trials.valid <= 2
            continue
        assert found.throughput_fps == pytest.approx(5e6, rel=0.01)
        assert trials.valid + trials.invalid <= 6 * trials.valid


def test_attempts_are_bounded_however_many_are_left():
    tape = generator(lambda found: found if found.plan == PLAN else found.invalidated(["the cable is out"]))
    trials = Trials(tape, Rules(attempts=3))
    for _ in range(50):
        trials.run(PLAN)
    with pytest.raises(NotMeasured, match=r"9 trials of 64 bytes at 500,000 frames/s"):
        trials.run(continuous(STREAM, 5e5, 10))


def test_loss_of_the_wire_can_be_taken_for_none_of_the_device_s():
    found = result(lost_at={Place.WIRE: 100})
    assert judged(found).valid
    assert not judged(found, Rules(not_the_device=frozenset({Place.WIRE}))).valid
