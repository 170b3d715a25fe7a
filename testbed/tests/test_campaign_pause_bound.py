# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Where pauses of the machine bound the rate without loss: a sentence, and rates at which some loss is allowed."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest
from campaign_folders import EQUIPMENT, begin_campaign, console, run_campaign, scenario

from testbed.campaign.compare.dut_runs import DutRunner
from testbed.campaign.compare.schedule import CompareSettings, Figure, schedule
from testbed.campaign.folder import read_folder
from testbed.campaign.journal import Journal
from testbed.campaign.measurements.pause_bound import PauseBound, share_in_pauses
from testbed.campaign.measurements.throughput import NO_LOSS, Throughput, measure_throughput
from testbed.campaign.points import planned
from testbed.campaign.presets import PRESETS
from testbed.campaign.progress_view import View
from testbed.campaign.recorder import Watcher
from testbed.campaign.report.document import make_report, write_report
from testbed.campaign.scenario import Measurement
from testbed.campaign.simulated import DeviceModel, SimulatedGenerator
from testbed.campaign.timeplan import expected, expected_between_pauses, print_plan
from testbed.campaign.trial import Gaps, Pacing, Stream, TrialPlan, TrialResult
from testbed.campaign.validity import NotMeasured, Trials, judged
from testbed.run.results_folder import Status

# A device of 5 Mpps on a line of 10.4; a queue holds what is due in 1 ms at 1 Mpps.
MODEL = {"throughput_fps": {64: 5e6}, "line_rate_bps": 7e9, "buffer_frames": 1000}
# 0.25 % of the time, and in every trial of 2 s.
OFTEN = {"pauses_per_s": 2.5, "pause_s": 1e-3}
SENTENCE = r"this machine pauses 1 ms about \d times a second: no rate above 1 Mpps can be told free of loss"
TEXT = """\
name: pauses
generator: {kind: simulated}
devices:
  - name: l2fwd-c
    model: &c
      throughput_fps: {64: 5.0e+6}
      line_rate_bps: 7.0e+9
      buffer_frames: 1000
      pauses_per_s: 2.5
      pause_s: 1.0e-3
      seed: 3
  - {name: l2fwd-rs, model: {<<: *c, throughput_fps: {64: 4.0e+6}, seed: 4}}
frames: {sizes: [64]}
tests: [throughput, latency]
thresholds: [throughput ≥ 0.1 Mpps at 64 bytes for l2fwd-c]
preset: quick
"""


def found(**model: float) -> Throughput:
    trials = Trials(SimulatedGenerator(DeviceModel(**MODEL, **model)))
    return measure_throughput(trials, Stream(size=64), PRESETS["quick"].throughput)


def test_a_figure_that_pauses_do_not_allow_is_declined(tmp_path: Path) -> None:
    """At the throughput they are rare; then the machine pauses in each stream of the latency."""

    def start(given: object, device: str, directions: int, raw: Path) -> SimulatedGenerator:
        steady = EQUIPMENT.start(given, device, directions, raw)
        paused = SimulatedGenerator(steady.model.model_copy(update=OFTEN), name=device)

        class Paused(SimulatedGenerator):
            def run(self, plan: TrialPlan) -> TrialResult:
                return paused.run(plan) if plan.latency else super().run(plan)

        return Paused(steady.model.model_copy(update={"pauses_per_s": 0.0}), name=device)

    campaign = begin_campaign(tmp_path, TEXT)
    campaign._equipment = replace(EQUIPMENT, start=start)
    assert campaign.run(console()) is Status.PASSED
    found = [one for one in read_folder(campaign.folder).summary.findings if one.measurement is Measurement.LATENCY]
    assert {one.status for one in found} == {"skipped"}
    words = r"this machine pauses 1 ms about \d times a second: no trial at this load was undisturbed"
    assert all(re.fullmatch(words, one.reason) for one in found)


def test_a_rate_without_loss_that_pauses_bound_is_no_figure() -> None:
    result = found(**OFTEN)
    assert result.throughput_fps is None
    assert (result.above_fps, result.at_max, result.generator_was_limit) == (None, False, False)
    # A load for what relates to the throughput.
    assert result.load_fps == result.undisturbed_fps < 1.1e6
    (lossless,) = [one for one in result.graded.missing if one.clause == NO_LOSS]
    assert re.fullmatch(SENTENCE, lossless.seen)
    first, tenth, half = result.goals
    assert (first.lower, first.upper, first.not_offered_fps) == (None, None, None)
    # Pauses cost about 0.2 %: more than the one goal allows, and less than the other.
    assert (tenth.goal.loss_ratio, tenth.lower) == (0.001, None)
    assert half.goal.loss_ratio == 0.005
    assert half.lower.load_fps == pytest.approx(5e6, rel=0.03)
    told = f"{half.lower.load_fps / 1e6:.4f} Mpps with at most 0.5 % lost"
    assert re.fullmatch(f"not told: {SENTENCE}; {re.escape(told)}", result.headline)


def test_the_rate_with_some_loss_is_the_device_s_whatever_the_pauses() -> None:
    for seed in range(10):
        half = found(**OFTEN, seed=seed).goals[2]
        assert half.lower.load_fps == pytest.approx(5e6, rel=0.03)


def test_a_generator_that_is_late_pauses_too() -> None:
    result = found(stalls=1, stall_s=1e-3)
    assert str(result.pauses).startswith("this machine pauses 1 ms about")
    assert result.throughput_fps is None


def test_pauses_that_the_queues_hold_or_that_are_rare_bound_nothing() -> None:
    for pauses in ({}, {**OFTEN, "pause_s": 1e-4}, {**OFTEN, "pauses_per_s": 0.05}):
        result = found(**pauses)
        assert result.throughput_fps == pytest.approx(5e6, rel=0.03)
        assert len(result.goals) == 1


def test_pauses_that_cost_more_than_all_goals_allow_leave_no_figure() -> None:
    result = found(pauses_per_s=20, pause_s=1e-3)
    assert (result.throughput_fps, result.partial_drop) == (None, "")


def test_a_pause_is_told_by_its_length_and_how_often_it_comes() -> None:
    bound = PauseBound(pause_s=3e-3, per_s=1.1, ring_frames=1024)
    assert str(bound) == (
        "this machine pauses 3 ms about once a second: no rate above 0.34 Mpps can be told free of loss"
    )
    words = [bound.model_copy(update={"per_s": per_s}).pauses_in_words for per_s in (0.25, 7.0)]
    assert [one.partition("3 ms ")[2] for one in words] == ["about every 4 seconds", "about 7 times a second"]


def test_what_pauses_cost_is_at_most_the_gaps_less_what_the_queues_hold() -> None:
    plan = TrialPlan(size=64, load_fps=1e6, duration_s=1, pauses_as_loss=True)
    common = {"plan": plan, "sent": 10**6, "received": 10**6, "lost": 0, "offered_fps": 1e6, "duration_s": 1}
    gaps = Gaps(longest_s=5e-3, above_100us=2, above_1ms=2, above_3ms=1)
    paused = TrialResult(**common, generator_gaps=Gaps(), device_gaps=gaps, ring_frames=1000)
    # One of 5 ms, and one of 3 ms at most.
    assert share_in_pauses([paused]) == pytest.approx(4e-3 + 2e-3)
    late = TrialResult(**common, pacing=Pacing(worst_lag_s=5e-3), ring_frames=1000)
    assert share_in_pauses([late]) == pytest.approx(4e-3)
    # Where some loss is allowed, neither makes the trial invalid; where none is, both do.
    assert judged(paused).valid
    assert judged(late).valid
    strict = plan.model_copy(update={"pauses_as_loss": False})
    assert not any(judged(one.model_copy(update={"plan": strict})).valid for one in (paused, late))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_campaign(tmp_path_factory.mktemp("pauses"), TEXT)


def test_summary_csv_and_threshold_have_no_such_figure(folder: Path) -> None:
    record = read_folder(folder)
    throughputs = [one for one in record.summary.findings if one.measurement is Measurement.THROUGHPUT]
    assert [(one.status, one.result["throughput_fps"]) for one in throughputs] == [("done", None)] * 2
    rows = [row for row in csv.DictReader((folder / "summary.csv").open()) if row["measurement"] == "throughput"]
    assert not [row for row in rows if row["field"] == "throughput_fps" or row["field"].startswith("goals.0.lower")]
    assert {row["device"] for row in rows if row["field"] == "goals.2.lower.load_fps"} == {"l2fwd-c", "l2fwd-rs"}
    (judgement,) = record.summary.acceptance
    assert re.fullmatch(f"not told: {SENTENCE}", judgement.in_words())
    # What relates to the throughput is measured all the same, at one load.
    loads = {one.result["load_fps"] for one in record.summary.findings if one.measurement is Measurement.LATENCY}
    assert len(loads) == 1


def test_the_report_has_a_sentence_and_the_rates_with_some_loss(folder: Path) -> None:
    report = make_report(read_folder(folder))
    rates = r"l2fwd-rs forwards 0\.\d+ times as many frames as l2fwd-c in this run at 64 bytes: .* Mpps"
    instead = r"This goal of MLRsearch \(RFC 9971\) stands in place of RFC 2544's throughput"
    no_rate = f"No rate without loss is known: {SENTENCE}"
    assert re.fullmatch(rf"With at most 0\.5 % of loss, {rates}\. {instead}\. {no_rate}\.", report.verdict)
    by_size = next(section for section in report.sections if section.title == "By frame size")
    captions = [caption for caption, _ in by_size.charts]
    assert captions[0].startswith("Rate with at most 0.5 % of loss")
    assert not [caption for caption in captions if caption.startswith(("Throughput", "Difference"))]
    assert [line for line in by_size.text if re.fullmatch(f"At 64 bytes no throughput is drawn: {SENTENCE}.", line)]
    text = write_report(folder).with_name("report.md").read_text()
    assert "Not measured: throughput" not in text
    assert re.search(r"\| 64 bytes \| l2fwd-c \| unknown \| [45]\.\d+ Mpps with at most 0\.5 % lost \|", text)


def test_a_comparison_by_throughput_is_not_told(tmp_path: Path) -> None:
    settings = CompareSettings(a="l2fwd-c", b="l2fwd-rs", sizes=(64,), figures=(Figure.THROUGHPUT,), blocks=6)
    with Journal.create(tmp_path / "journal.jsonl", "pauses") as journal:
        runner = DutRunner(scenario(TEXT), settings, EQUIPMENT, journal, tmp_path, Watcher())
        with (
            runner.start(next(iter(schedule(settings))), "both/1way") as measure,
            pytest.raises(NotMeasured, match=f"not told: {SENTENCE}"),
        ):
            measure("first", Figure.THROUGHPUT, 64)


def test_the_plan_and_the_time_left_have_what_searches_take_where_pauses_bound_them(tmp_path: Path) -> None:
    """Two equal devices that pause: what the second takes is expected once the first has shown it."""
    text = TEXT.replace("tests: [throughput, latency]", "tests: [throughput]")
    told = scenario(text)
    (point, *_) = [point for point, _ in planned(told)]
    whole = expected_between_pauses(told, point)
    usual = expected(told, point, Measurement.THROUGHPUT)
    for seed in range(5):
        trials = found(**OFTEN, seed=seed).trials
        assert whole.trials.least <= trials <= whole.trials.most
        assert trials > 2 * usual.trials.expected
    output = console()
    print_plan(told, output)
    assert "If pauses of the machine bound each throughput: about " in output.file.getvalue()
    # A device that does not pause has no such line, nor has one that no generator reports on.
    steady = console()
    print_plan(scenario(text.replace("pauses_per_s: 2.5", "pauses_per_s: 0")), steady)
    assert "If pauses" not in steady.file.getvalue()

    left_s = []

    class Seen(View):
        def longer(self, place: str, seconds: float) -> None:
            before = self.left_s()
            super().longer(place, seconds)
            left_s.append((place, self.left_s() - before, seconds))

    campaign = begin_campaign(tmp_path, text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("testbed.campaign.campaign.View", Seen)
        campaign.run(console())
    more_s = whole.seconds.expected - usual.seconds.expected
    assert more_s > 0
    # The first one has shown it, when both have ended their turns; then the first one again, for drift.
    assert [place for place, _, _ in left_s] == [
        "l2fwd-c/64B/1way/1flows/throughput",
        "l2fwd-rs/64B/1way/1flows/throughput",
        "again",
    ]
    assert [seconds for *_, seconds in left_s] == [pytest.approx(more_s)] * 3
    # What is measured later is expected to take longer at once; what runs has begun already.
    assert left_s[-1][1] == pytest.approx(more_s, rel=0.01)
