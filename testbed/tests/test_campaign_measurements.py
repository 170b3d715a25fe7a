# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Latency, frame loss, back-to-back, recovery, reset, overload and soak find what the simulated device was given."""

from __future__ import annotations

import math

import pytest
from campaign_models import Tape, any_model
from pydantic import ValidationError

from testbed.campaign.grade import FRAMES_CHECKED, FULL_LENGTH, Grade
from testbed.campaign.measurements import back_to_back, forwarding_rate, frame_loss, latency, recovery, reset
from testbed.campaign.measurements.back_to_back import BackToBackSettings, measure_back_to_back
from testbed.campaign.measurements.forwarding_rate import measure_forwarding_rate
from testbed.campaign.measurements.frame_loss import FrameLossSettings, measure_frame_loss
from testbed.campaign.measurements.latency import LatencySettings, measure_latency
from testbed.campaign.measurements.recovery import RecoverySettings, measure_recovery
from testbed.campaign.measurements.reset import ResetSettings, measure_reset
from testbed.campaign.measurements.soak import SoakSettings, measure_soak
from testbed.campaign.measurements.throughput import measure_throughput
from testbed.campaign.simulated import DeviceModel, SimulatedGenerator
from testbed.campaign.traffic_generator import NotCapable, Pauses
from testbed.campaign.trial import Pacing, Place, ResetKind, Stream, line_rate_fps
from testbed.campaign.validity import NothingToMeasure, NotMeasured, Trials

MODELS = range(60)
SMALL = Stream(size=64)


def missing(result) -> list:
    return [finding.clause for finding in result.graded.missing]


def test_latency_is_the_model_s_for_any_device():
    for number in MODELS:
        model = any_model(number)
        found = measure_latency(Trials(SimulatedGenerator(model)), SMALL, 0.9 * model.throughput(64))
        base, rest = model.latency_base_ns, model.latency_rest_ns
        assert found.average_ns.mean == pytest.approx(base + rest)
        assert found.typical_ns.median == pytest.approx(base + rest * math.log(2))
        assert found.worst_ns.median == pytest.approx(base + rest * math.log(1000))
        assert found.ipdv_ns.mean == pytest.approx(rest)
        assert found.pdv_ns.median == pytest.approx(rest * math.log(1000))
        assert (len(found.repetitions), found.trials) == (20, 20 + 3 * 3)
        assert [at.average_ns.mean for at in found.ladder] == [pytest.approx(base + rest)] * 3
        assert found.lossy == 0
        # RFC 2544 wants one frame's, and these are all frames'.
        assert missing(found) == [latency.DEFINITION, latency.ONE_TAG]
        assert [finding.clause for finding in found.percentiles.missing] == [latency.SAYS_WHICH]


def test_frames_that_left_late_stand_beside_the_latency():
    """The generator stalls once in each stream of 120 s, and then sends at twice the rate for as long."""
    late = SimulatedGenerator(DeviceModel(throughput_fps={64: 1e6}, stalls=1, stall_s=5e-4))
    found = measure_latency(Trials(late), SMALL, 5e5)
    assert found.late_percent == pytest.approx(100 * 2 * 5e-4 / 120)
    silent = Tape(late, change=lambda result: result.model_copy(update={"pacing": Pacing()}))
    assert measure_latency(Trials(silent), SMALL, 5e5).late_percent is None


def test_what_the_generator_adds_to_latency_stands_beside_it():
    model = DeviceModel(throughput_fps={64: 1e6}, latency_base_ns=5000, latency_rest_ns=1000, generator_ns=2000)
    found = measure_latency(Trials(SimulatedGenerator(model)), SMALL, 5e5)
    assert found.average_ns.mean == pytest.approx(8000)
    assert (found.baseline.avg, found.baseline.p99_9) == (2000, 2000)
    assert found.headline.startswith("average 8.00 µs (8.00 to 8.00; generator alone: 2.00 µs); 99.9 %: ")
    # No call of a program is a bit on a wire (RFC 1242, section 3.8).
    (finding,) = [one for one in found.graded.missing if one.clause == latency.DEFINITION]
    assert found.definition in finding.seen


def test_noisy_latency_averages_out():
    model = any_model(1, noise=0.02)
    found = measure_latency(Trials(SimulatedGenerator(model)), SMALL, 0.5 * model.throughput(64))
    mean = model.latency_base_ns + model.latency_rest_ns
    error = 4 * 0.02 * model.latency_rest_ns / math.sqrt(20)
    assert abs(found.average_ns.mean - mean) < error
    assert 0 < found.average_ns.deviation < 2 * 0.02 * model.latency_rest_ns


def test_latency_counts_streams_with_loss_and_names_the_clauses():
    model = DeviceModel(throughput_fps={64: 1e6})
    settings = LatencySettings(repeats=3, stream_s=10, share=0.5)
    trials = Trials(SimulatedGenerator(model))
    found = measure_latency(trials, SMALL, 4e6, settings)
    assert found.lossy == 3
    assert found.graded.grade is Grade.NON_COMPLIANT
    assert missing(found) == [
        *(latency.AT_THROUGHPUT, latency.REPEATED, latency.DEFINITION),
        *(latency.STREAM_LENGTH, latency.ONE_TAG),
    ]
    lacking = [finding.clause for finding in found.percentiles.missing]
    # No frame comes after 60 s.
    assert lacking == [latency.MEDIANS, latency.SAYS_WHICH, latency.LONG_STREAM, latency.TAGGED]


def test_percentiles_of_few_frames_or_of_some_are_told():
    def stamped(count, **fields):
        def change(result):
            return result.model_copy(update={"latency": result.latency.model_copy(update={"count": count, **fields})})

        device = SimulatedGenerator(DeviceModel(throughput_fps={64: 1e6}))
        found = measure_latency(Trials(Tape(device, change=change)), SMALL, 1e6)
        return found, [finding.clause for finding in found.percentiles.missing]

    # Half of those of 120 s come after 60 s.
    assert stamped(1000)[1] == [latency.SAYS_WHICH, latency.DELAY_VARIATION]
    assert stamped(999)[1] == [latency.SAYS_WHICH, latency.TAGGED, latency.DELAY_VARIATION]
    without, lacking = stamped(10**9, p99_9=None)
    assert lacking == [latency.SAYS_WHICH, latency.PERCENTILES, latency.DELAY_VARIATION]
    assert without.worst_ns is without.pdv_ns is None


def test_latency_without_stamps_is_not_measured():
    model = DeviceModel(throughput_fps={64: 1e6})
    with pytest.raises(NotCapable, match="does not measure latency"):
        measure_latency(Trials(Tape(SimulatedGenerator(model), latency=False)), SMALL, 1e6)
    without = Tape(SimulatedGenerator(model), change=lambda result: result.model_copy(update={"latency": None}))
    with pytest.raises(NotMeasured, match="no latency came with 20 of 20"):
        measure_latency(Trials(without), SMALL, 1e6)
    with pytest.raises(NotMeasured, match="no rate was without loss"):
        measure_latency(Trials(SimulatedGenerator(model)), SMALL, 0)


def test_loss_curve_is_the_model_s_for_any_device():
    for number in MODELS:
        model = any_model(number)
        found = measure_frame_loss(Trials(SimulatedGenerator(model)), SMALL)
        line = line_rate_fps(64, model.line_rate_bps)
        for point in found.points:
            assert point.load_fps == pytest.approx(line * point.percent / 100)
            served = model.forwarding_rate(64, point.load_fps)
            frames = round(point.load_fps * 60)
            lost = max(0, frames * (1 - served / point.load_fps) - model.buffer_frames)
            assert point.lost == pytest.approx(lost, abs=1.01), f"model {number} at {point.percent} %"
            assert point.loss_percent == pytest.approx(100 * point.lost / frames)
        assert [point.percent for point in found.points] == list(range(100, 100 - 10 * len(found.points), -10))
        ends = found.points[-1].lost == 0 and found.points[-2].lost == 0
        assert ends or len(found.points) == 10
        assert all(first.lost or second.lost for first, second in zip(found.points, found.points[1:-1], strict=False))
        assert found.graded.grade is (Grade.UNCONDITIONAL if ends else Grade.CONDITIONAL)


def test_a_device_at_line_rate_needs_two_trials_for_its_loss_curve():
    line = line_rate_fps(64, 25e9)
    found = measure_frame_loss(Trials(SimulatedGenerator(DeviceModel(throughput_fps={64: line}))), SMALL)
    assert [(point.percent, point.lost) for point in found.points] == [(100, 0), (90, 0)]
    assert found.graded.grade is Grade.UNCONDITIONAL


def test_coarse_steps_are_not_compliant():
    model = DeviceModel(throughput_fps={64: 20e6})
    found = measure_frame_loss(Trials(SimulatedGenerator(model)), SMALL, FrameLossSettings(trial_s=5, step_percent=20))
    assert [point.percent for point in found.points] == [100, 80, 60, 40, 20]
    assert found.graded.grade is Grade.NON_COMPLIANT
    assert missing(found) == [frame_loss.GRANULARITY, FULL_LENGTH]


def test_longest_burst_is_the_model_s_for_any_device():
    bounded = 0
    for number in MODELS:
        model = any_model(number)
        known, throughput = model.back_to_back_frames(64), model.throughput(64)
        line = line_rate_fps(64, model.line_rate_bps)
        settings = BackToBackSettings(repeats=3)
        found = measure_back_to_back(Trials(SimulatedGenerator(model)), SMALL, throughput, settings)
        assert found.below_line_rate
        if known > 30 * line:
            assert found.at_limit
            continue
        bounded += 1
        assert found.step_frames <= max(1, 0.005 * known * 1.01)
        assert set(found.frames.values) == {found.frames.mean}, f"model {number}: the repetitions differ"
        assert known - found.step_frames - 1 <= found.frames.mean <= known + 1, f"model {number}"
        assert not found.at_limit
        # Of what a device stores, it forwards nothing meanwhile: the time of its buffer at the medium's rate.
        truth, (low, high) = model.buffer_frames / line, found.corrected_buffer_bounds_s
        assert low - 2 / line <= truth <= high + 2 / line, f"model {number}"
        if found.corrected_buffer_s is not None:
            assert found.corrected_buffer_s == pytest.approx(truth, rel=0.25, abs=2 / line), f"model {number}"
        # A step of one frame is much of a burst of few.
        if model.collapse == 0 and known > 8 * found.step_frames:
            assert found.corrected_buffer_s == pytest.approx(truth, rel=0.006, abs=2 / line), f"model {number}"
        assert missing(found) == [back_to_back.REPEATED]
    assert bounded > 40


@pytest.mark.parametrize(("share", "collapse"), [(0.999, 0.0), (0.999, 0.2), (0.97, 0.3)])
def test_a_buffer_time_that_the_bounds_do_not_determine_is_withheld(share: float, collapse: float):
    """Close to line rate the throughput's bounds are too wide; a device that collapses forwards less in a burst."""
    line = line_rate_fps(64, 25e9)
    model = DeviceModel(throughput_fps={64: share * line}, buffer_frames=18_750, collapse=collapse)
    trials = Trials(SimulatedGenerator(model))
    throughput = measure_throughput(trials, SMALL)
    found = measure_back_to_back(
        trials, SMALL, throughput.throughput_fps, BackToBackSettings(repeats=3), above_fps=throughput.above_fps
    )
    assert found.corrected_buffer_s is None
    low, high = found.corrected_buffer_bounds_s
    assert low <= 18_750 / line <= high
    assert "buffer unknown, between" in found.headline


def test_fifty_repetitions_take_two_trials_each_after_the_first():
    generator = SimulatedGenerator(DeviceModel(throughput_fps={64: 8e6}, buffer_frames=4096))
    found = measure_back_to_back(Trials(generator), SMALL, 8e6)
    assert len(found.frames.values) == 50
    assert found.trials <= 20 + 2 * 49
    assert found.graded.grade is Grade.UNCONDITIONAL


def test_a_device_at_line_rate_has_no_longest_burst():
    line = line_rate_fps(64, 25e9)
    trials = Trials(SimulatedGenerator(DeviceModel(throughput_fps={64: line})))
    with pytest.raises(NothingToMeasure, match="loses nothing at the highest rate that is offered"):
        measure_back_to_back(trials, SMALL, line)
    assert trials.valid == 0


def test_a_burst_as_long_as_the_limit_is_no_result_of_the_rfc():
    model = DeviceModel(throughput_fps={64: 8e6}, buffer_frames=10_000_000)
    settings = BackToBackSettings(limit_s=0.01, most_limit_s=0.04)
    found = measure_back_to_back(Trials(SimulatedGenerator(model)), SMALL, 8e6, settings, above_fps=8.1e6)
    assert found.at_limit
    # Raised until it is the highest, and not repeated.
    assert found.trials == 4
    assert found.headline.startswith("at least 1488095 frames")
    assert missing(found) == [back_to_back.WITHIN_LIMIT, back_to_back.REPEATED]


@pytest.mark.parametrize("above_fps", [None, line_rate_fps(64, 25e9)])
def test_no_burst_is_long_enough_where_the_throughput_is_only_a_lower_bound(above_fps):
    """The search refused the highest rate, since the generator once sent too few frames, or since some were lost by
    chance; the device loses none."""
    model = DeviceModel(throughput_fps={64: 8e6}, buffer_frames=10_000_000)
    settings = BackToBackSettings(limit_s=0.01, most_limit_s=0.04)
    with pytest.raises(NothingToMeasure, match="loses nothing at the highest rate"):
        measure_back_to_back(Trials(SimulatedGenerator(model)), SMALL, 8e6, settings, above_fps=above_fps)


def test_a_limit_that_is_too_low_is_raised():
    model = DeviceModel(throughput_fps={64: 8e6}, buffer_frames=1_000_000)
    found = measure_back_to_back(Trials(SimulatedGenerator(model)), SMALL, 8e6, BackToBackSettings(limit_s=0.01))
    assert found.limit_frames == pytest.approx(0.04 * line_rate_fps(64, 25e9), rel=1e-5)
    assert found.frames.mean == pytest.approx(model.back_to_back_frames(64), rel=0.005)
    assert found.graded.grade is Grade.UNCONDITIONAL


@pytest.mark.parametrize(
    ("residual_s", "settle_s", "drain_s", "longest_s", "met"),
    [
        (2, 0, 0.0, 2.0, True),
        (1, 0.9, 0.0, 2.0, False),
        (2, 0.5, 0.6, 2.0, False),
        # Longer bursts need a longer wait.
        (2, 0, 0.0, 4.0, False),
        (2, 5, 0.5, 30.0, True),
    ],
)
def test_buffers_need_time_to_empty(residual_s, settle_s, drain_s, longest_s, met):
    pauses = Pauses(residual_s=residual_s, settle_s=settle_s)
    assert back_to_back._emptied(pauses, drain_s, longest_s).met is met


@pytest.mark.parametrize(("buffer_frames", "met"), [(400_000, True), (600_000, False)])
def test_a_buffer_that_takes_long_to_empty_is_told(buffer_frames, met):
    """It is emptied at the throughput's rate, here in 0.4 or 0.6 s, of which 0.5 s are there beside the 2 s."""
    model = DeviceModel(throughput_fps={64: 1e6}, buffer_frames=buffer_frames)
    trials = Trials(SimulatedGenerator(model, Pauses(settle_s=0.5)))
    found = measure_back_to_back(trials, SMALL, 1e6, BackToBackSettings(repeats=2))
    assert (back_to_back.EMPTIED not in missing(found)) is met


def test_a_burst_that_differs_from_time_to_time_is_followed():
    """Bounds that a repetition assumes wrongly are moved until they hold."""

    class Wandering:
        """A device whose longest burst is another one in each repetition."""

        def __init__(self) -> None:
            self.longest = 1000
            self.trials = 0

        def passes(self, count: int) -> bool:
            self.trials += 1
            return count <= self.longest

    device = Wandering()
    bursts = back_to_back._Bursts(None, SMALL, 1.0, 10_000)
    bursts.passes = device.passes
    for longest in [1000, 1001, 999, 0, 1, 9_999, 10_000, 5000, 987, 1013, 1020, 980]:
        device.longest = longest
        for step in [1, 3, 7]:
            device.trials = 0
            assert longest - step < bursts.again(1000, step) <= longest
            # Far away it takes the logarithm of the distance, twice.
            assert device.trials <= 4 + 2 * math.log2(2 + abs(longest - 1000) / step)


def test_recovery_is_the_model_s_for_any_device():
    for number in MODELS:
        model = any_model(number)
        throughput = model.throughput(64)
        line = line_rate_fps(64, model.line_rate_bps)
        found = measure_recovery(Trials(SimulatedGenerator(model)), SMALL, throughput)
        assert found.overload_fps == pytest.approx(min(1.1 * throughput, line))
        assert found.relief_fps == pytest.approx(found.overload_fps / 2)
        known = model.recovery_s if found.overloaded else 0.0
        assert found.recovery_s.mean == pytest.approx(known), f"model {number}"
        assert found.graded.grade is Grade.UNCONDITIONAL
        assert len(found.recovery_s.values) == 5


def test_a_device_that_does_not_recover_is_not_measured():
    model = DeviceModel(throughput_fps={64: 1e6}, recovery_s=1000)
    with pytest.raises(NotMeasured, match=r"still lost frames 16 s after.*most_relief_s"):
        measure_recovery(Trials(SimulatedGenerator(model)), SMALL, 1e6, RecoverySettings(most_relief_s=20, relief_s=4))


def test_a_short_overload_is_not_compliant():
    model = DeviceModel(throughput_fps={64: 1e6})
    settings = RecoverySettings(overload_s=10, repeats=1)
    found = measure_recovery(Trials(SimulatedGenerator(model)), SMALL, 1e6, settings)
    assert missing(found) == [recovery.OVERLOAD_LENGTH, recovery.REPEATED]


def test_reset_times_are_the_model_s_for_any_device():
    for number in MODELS:
        model = any_model(number)
        found = measure_reset(Trials(SimulatedGenerator(model)), SMALL, model.throughput(64))
        for time in found.times:
            assert time.gap_s.mean == pytest.approx(model.reset_gap_s[time.kind])
            assert time.by_loss_s.mean == pytest.approx(model.reset_gap_s[time.kind], rel=0.01)
        assert missing(found) == [reset.SYSTEM, reset.POWER, reset.KINDS]


def test_a_device_has_forwarded_for_a_while_before_it_is_reset():
    tape = Tape(SimulatedGenerator(DeviceModel(throughput_fps={64: 1e6})))
    found = measure_reset(Trials(tape), SMALL, 1e6, ResetSettings(repeats=2))
    kinds = [result.plan.kind for result in tape.results]
    assert kinds == [step for kind in (ResetKind.PROCESS, ResetKind.PORT) for step in ["continuous", kind] * 2]
    before = [result.plan for result in tape.results if result.plan.kind == "continuous"]
    assert {(plan.load_fps, plan.duration_s) for plan in before} == {(1e6, 15)}
    assert reset.FORWARDED_BEFORE not in missing(found)
    hurried = measure_reset(Trials(tape), SMALL, 1e6, ResetSettings(repeats=1, before_s=14))
    assert missing(hurried)[0] == reset.FORWARDED_BEFORE
    assert reset.REPEATED in missing(hurried)


def test_reset_times_by_loss_count_both_directions():
    trials = Trials(SimulatedGenerator(any_model(3)))
    found = measure_reset(trials, Stream(size=64, directions=2), 1e6)
    assert all(time.by_loss_s.mean == pytest.approx(time.gap_s.mean, rel=1e-3) for time in found.times)


def test_resets_that_the_generator_cannot_do_are_left_out_or_not_measured():
    trials = Trials(SimulatedGenerator(DeviceModel(throughput_fps={64: 1e6}, reset_gap_s={ResetKind.PORT: 0.3})))
    found = measure_reset(trials, Stream(size=128), 1e6)
    assert [time.kind for time in found.times] == [ResetKind.PORT]
    assert found.left_out == [ResetKind.PROCESS]
    assert found.why_left_out == {ResetKind.PROCESS: "the generator 'simulated' knows no reset of the process"}
    assert missing(found) == [reset.SMALLEST_FRAMES, reset.SYSTEM, reset.POWER, reset.KINDS]
    with pytest.raises(NotCapable, match="knows no reset of the host"):
        measure_reset(trials, SMALL, 1e6, ResetSettings(kinds=(ResetKind.HOST,)))
    with pytest.raises(ValidationError, match="'port' stands there twice"):
        ResetSettings(kinds=("port", "process", "port"))


def test_bursts_and_changes_of_load_need_a_generator_that_does_them():
    able = SimulatedGenerator(DeviceModel(throughput_fps={64: 1e6}))
    with pytest.raises(NotCapable, match="does not send bursts"):
        measure_back_to_back(Trials(Tape(able, burst=False)), SMALL, 1e6)
    with pytest.raises(NotCapable, match="cannot change its rate"):
        measure_recovery(Trials(Tape(able, step=False)), SMALL, 1e6)


def test_a_device_that_does_not_come_back_is_not_measured():
    trials = Trials(SimulatedGenerator(DeviceModel(throughput_fps={64: 1e6}, reset_gap_s={ResetKind.PROCESS: 90})))
    with pytest.raises(NotMeasured, match="did not forward again within 60 s"):
        measure_reset(trials, SMALL, 1e6)


def test_forwarding_rate_is_the_model_s_for_any_device():
    for number in MODELS:
        model = any_model(number)
        found = measure_forwarding_rate(Trials(SimulatedGenerator(model)), SMALL)
        line = line_rate_fps(64, model.line_rate_bps)
        known = model.forwarding_rate(64, line)
        assert found.offered_fps.mean == pytest.approx(line)
        # Also with a deep buffer, which the device empties when the load is over: to the frame, in 30 s.
        assert found.forwarded_fps.mean == pytest.approx(known, abs=2 / 30), f"model {number}"
        assert found.sent == found.received + sum(found.lost_at.values())
        assert found.overloaded == (found.lost_at.get(Place.IMISSED, 0) > 0)
        assert found.graded.grade is Grade.UNCONDITIONAL


def test_the_highest_load_is_the_generator_s_even_if_the_medium_carries_more():
    device = SimulatedGenerator(DeviceModel(throughput_fps={64: 3e6}))
    slow = measure_forwarding_rate(Trials(Tape(device, max_fps_by_size={64: 5e6})), SMALL)
    assert (slow.max_fps, slow.offered_fps.mean) == (5e6, 5e6)
    assert slow.graded.grade is Grade.UNCONDITIONAL
    unsigned = measure_forwarding_rate(Trials(Tape(device, proves_frames=False)), SMALL)
    assert missing(unsigned) == [forwarding_rate.SIGNATURE, FRAMES_CHECKED]


@pytest.mark.parametrize(
    ("able_fps", "most_fps", "limit"),
    [(5e6, 4e6, True), (3e6, 4e6, False), (line_rate_fps(64, 25e9), line_rate_fps(64, 25e9), False)],
)
def test_the_generator_was_the_limit_where_neither_device_nor_medium_were(able_fps, most_fps, limit):
    trials = Trials(
        Tape(SimulatedGenerator(DeviceModel(throughput_fps={64: able_fps})), max_fps_by_size={64: most_fps})
    )
    assert measure_forwarding_rate(trials, SMALL).generator_was_limit is limit
    assert measure_throughput(trials, SMALL).generator_was_limit is limit


def test_soak_sees_loss_and_no_drift_where_there_is_none():
    model = any_model(2, noise=0.002)
    settings = SoakSettings(hours=1, trial_s=60, share=0.5)
    found = measure_soak(Trials(SimulatedGenerator(model)), SMALL, model.throughput(64), settings)
    assert (len(found.slices), found.lost, found.seconds, found.lossless_s) == (60, 0, 3600, 3600)
    assert {trend.figure for trend in found.trends} == {"forwarded_fps", "latency_avg_ns", "latency_p99_9_ns"}
    assert not found.drifts


def test_soak_sees_a_drift():
    slower = []

    def drifting(result):
        slower.append(result)
        factor = 1 + 0.001 * len(slower)
        shown = result.latency.model_copy(update={"avg": result.latency.avg * factor})
        return result.model_copy(update={"latency": shown})

    tape = Tape(SimulatedGenerator(any_model(2)), change=drifting)
    settings = SoakSettings(hours=1, trial_s=60, share=0.5)
    found = measure_soak(Trials(tape), SMALL, any_model(2).throughput(64), settings)
    trends = {trend.figure: trend for trend in found.trends}
    assert trends["latency_avg_ns"].drifts
    assert trends["latency_avg_ns"].change == pytest.approx(0.059, rel=0.01)
    assert not trends["forwarded_fps"].drifts


@pytest.mark.parametrize(
    ("figures", "relevant", "drifts"),
    [
        ([100 + step for step in range(20)], 0.1, True),
        ([100 + step for step in range(20)], 0.3, False),  # too small a change to matter
        ([100, 130] * 10, 0.1, False),  # up and down
        ([100, 90, 140, 95, 150, 105], 0.1, False),  # it may be chance
        ([100.0] * 20, 0.1, False),
    ],
)
def test_a_drift_is_a_trend_that_is_no_chance_and_matters(figures, relevant, drifts):
    values = iter(figures)

    def shown(result):
        latency = result.latency.model_copy(update={"avg": float(next(values))})
        return result.model_copy(update={"latency": latency})

    settings = SoakSettings(hours=len(figures) / 60, trial_s=60, relevant_change=relevant)
    model = DeviceModel(throughput_fps={64: 1e6})
    found = measure_soak(Trials(Tape(SimulatedGenerator(model), change=shown)), SMALL, 1e6, settings)
    assert len(found.slices) == len(figures)
    assert found.drifts == drifts


def test_a_short_soak_has_no_trend():
    model = any_model(2)
    settings = SoakSettings(hours=0.05, trial_s=60)
    found = measure_soak(Trials(SimulatedGenerator(model)), SMALL, model.throughput(64), settings)
    assert found.trends is None
    assert found.headline.endswith(" frames lost in 3 min, too short for a trend")
