# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A loss by chance bounds no device whose trials are verified; a true one does, and costs its repetitions."""

from __future__ import annotations

from pathlib import Path

import pytest
from campaign_folders import run_campaign
from campaign_models import Tape

from testbed.campaign.expected_trials import estimate
from testbed.campaign.folder import read_folder
from testbed.campaign.measurements.back_to_back import BackToBackSettings, measure_back_to_back
from testbed.campaign.measurements.loss_verification import LossVerified
from testbed.campaign.measurements.throughput import NO_LOSS, Goal, Throughput, ThroughputSettings, measure_throughput
from testbed.campaign.presets import PRESETS, changed_settings
from testbed.campaign.report.document import make_report
from testbed.campaign.scenario import Measurement
from testbed.campaign.simulated import DeviceModel, SimulatedGenerator
from testbed.campaign.trial import Place, Stream
from testbed.campaign.validity import Trials

SMALL = Stream(size=64)
ABLE = 10e6
# One frame is lost in 30 % of the trials, whatever the load.
CLUMSY = DeviceModel(throughput_fps={64: ABLE}, mishaps=0.3, buffer_frames=64)
TRUE = DeviceModel(throughput_fps={64: ABLE}, buffer_frames=64)


def found(model: DeviceModel, repeats: int) -> tuple[Throughput, Tape]:
    tape = Tape(SimulatedGenerator(model))
    return measure_throughput(Trials(tape), SMALL, ThroughputSettings(loss_verification=repeats)), tape


def test_a_loss_by_chance_bounds_the_search_only_if_it_is_not_verified() -> None:
    alone, verified = [], []
    for seed in range(5):
        model = CLUMSY.model_copy(update={"seed": seed})
        alone.append(found(model, 0)[0].throughput_fps)
        verified.append(found(model, 5)[0].throughput_fps)
    assert min(alone) < 0.98 * ABLE
    assert verified == [pytest.approx(ABLE, rel=0.006)] * 5


def test_trials_that_lost_by_chance_are_kept_and_the_rate_is_not_called_free_of_loss() -> None:
    """The first trial at each load loses a frame; what comes after it does not."""
    seen = set()

    def once(result):
        load = result.plan.load_fps
        if load in seen or result.lost:
            return result
        seen.add(load)
        return result.model_copy(update={"received": result.received - 1, "lost": 1, "lost_at": {Place.IMISSED: 1}})

    tape = Tape(SimulatedGenerator(TRUE), change=once)
    result = measure_throughput(Trials(tape), SMALL, ThroughputSettings(loss_verification=1))
    assert result.throughput_fps == pytest.approx(ABLE, rel=0.006)
    lower = result.goals[0].lower
    # The last load is tried in one length only.
    assert lower.trials >= 2
    assert lower.lost == 1
    assert [one.seen for one in result.graded.missing if one.clause == NO_LOSS] == [
        f"1 of {lower.sent} frames lost in {lower.trials} trials"
    ]
    told = result.loss_verification
    assert told.repeats == 1
    assert told.by_chance == len({one.plan.load_fps for one in tape.results if one.lost == 1})
    assert result.trials == len(tape.results)


def test_a_true_loss_is_one_after_all_repetitions() -> None:
    alone, _ = found(TRUE, 0)
    verified, tape = found(TRUE, 2)
    assert verified.throughput_fps == alone.throughput_fps
    assert verified.goals[0].upper.load_fps == alone.goals[0].upper.load_fps
    told = verified.loss_verification
    assert (told.repeats, told.by_chance) == (2, 0)
    assert told.repeated > 0
    # Each trial with loss is there three times, one after the other.
    assert verified.trials == alone.trials + 2 * told.repeated
    lossy = [one.plan for one in tape.results if one.lost]
    assert lossy[0::3] == lossy[1::3] == lossy[2::3]
    assert alone.loss_verification is None


def test_what_the_least_tolerant_goal_allows_is_not_repeated() -> None:
    settings = ThroughputSettings(goals=(Goal(loss_ratio=0.01), Goal(loss_ratio=0.001)), loss_verification=1)
    tape = Tape(SimulatedGenerator(CLUMSY))
    result = measure_throughput(Trials(tape), SMALL, settings)
    tolerable = [one for one in tape.results if 0 < one.loss_ratio <= 0.001]
    assert tolerable
    # Of a true loss, each trial is there twice.
    assert 2 * result.loss_verification.repeated == len([one for one in tape.results if one.loss_ratio > 0.001])
    assert result.trials == len(tape.results)


def test_confirmations_are_not_verified() -> None:
    tape = Tape(SimulatedGenerator(CLUMSY))
    settings = ThroughputSettings(confirmations=20, loss_verification=5)
    result = measure_throughput(Trials(tape), SMALL, settings)
    last = tape.results[-20:]
    assert {one.plan.load_fps for one in last} == {result.throughput_fps}
    assert [one for one in last if one.lost]


def test_a_burst_that_lost_by_chance_is_repeated() -> None:
    # At line rate 64 frames of buffer fill in a burst of this length.
    known = TRUE.back_to_back_frames(64)
    for repeats, model in ((0, TRUE), (8, CLUMSY), (2, TRUE)):
        settings = BackToBackSettings(repeats=20, loss_verification=repeats)
        result = measure_back_to_back(Trials(SimulatedGenerator(model)), SMALL, ABLE, settings)
        assert result.frames.mean == pytest.approx(known, abs=2 * result.step_frames)
        assert (result.loss_verification is None) == (repeats == 0)
        if model is CLUMSY:
            assert result.loss_verification.by_chance > 0
    unverified = measure_back_to_back(Trials(SimulatedGenerator(CLUMSY)), SMALL, ABLE, BackToBackSettings(repeats=20))
    assert unverified.frames.least < known - 2 * unverified.step_frames


def test_the_time_plan_has_the_repetitions() -> None:
    changes = {"throughput": {"loss_verification": 2}}
    for number in range(5):
        model = TRUE.model_copy(update={"throughput_fps": {64: (number + 1) * 4e6}})
        settings = changed_settings(PRESETS["rfc2544"], changes)
        generator = SimulatedGenerator(model, settings.pauses)
        result = measure_throughput(Trials(generator), SMALL, settings.throughput)
        bounds = estimate(Measurement.THROUGHPUT, SMALL, settings, generator.capabilities())
        assert bounds.trials.least <= result.trials <= bounds.trials.most
        without = estimate(Measurement.THROUGHPUT, SMALL, PRESETS["rfc2544"], generator.capabilities())
        assert bounds.trials.expected > without.trials.expected


def test_the_report_says_what_was_repeated(tmp_path: Path) -> None:
    folder = run_campaign(
        tmp_path,
        """\
name: verified
generator: {kind: simulated}
devices: [{name: one, model: {throughput_fps: {64: 10.0e+6}, mishaps: 0.3, buffer_frames: 64}}]
frames: {sizes: [64]}
tests: [throughput, back_to_back]
preset: quick
settings: {throughput: {loss_verification: 5}, back_to_back: {loss_verification: 5}}
""",
    )
    record = read_folder(folder)
    report = make_report(record)
    results = {one.measurement: one.result["loss_verification"] for one in record.summary.findings}
    for title, test in (("Throughput", Measurement.THROUGHPUT), ("Back-to-back frames", Measurement.BACK_TO_BACK)):
        told = LossVerified.model_validate(results[test])
        section = next(one for one in report.sections if one.title == title)
        assert section.remarks == [
            f"one, 64 bytes: loss verification (RFC 9004, section 6.2) repeated {told.repeated} trials with loss up to "
            f"5 times: {told.by_chance} of them lost no more than allowed when repeated, and count so in the search."
        ]
