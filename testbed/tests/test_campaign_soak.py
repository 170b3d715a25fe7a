# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A soak: a window a second, an alarm at the first loss, and hours that no interrupt takes away."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from campaign_folders import COMMAND, EQUIPMENT, console, scenario
from rich.console import Console
from typer import Exit

from testbed.campaign import run_and_report
from testbed.campaign.campaign import Campaign
from testbed.campaign.campaign_settings import CampaignSettings
from testbed.campaign.embedded.windows import Windows
from testbed.campaign.folder import read_folder
from testbed.campaign.journal import JOURNAL, Journal
from testbed.campaign.loss_alarm import LossAlarm
from testbed.campaign.measurements.soak import Soak, SoakSettings, measure_soak
from testbed.campaign.progress_view import View
from testbed.campaign.recorder import RecordedSetup
from testbed.campaign.report.tables import soak_losses
from testbed.campaign.run_and_report import LOST_IN_SOAK, report_campaign
from testbed.campaign.simulated import DeviceModel, SimulatedGenerator
from testbed.campaign.trial import AnyResult, Stream, TrialPlan, TrialResult, Window
from testbed.campaign.validity import Trials
from testbed.run.eal import EalOptions
from testbed.run.programs import Program
from testbed.run.results_folder import Status
from testbed.wire.generator import Generator, Load, Second

SMALL = Stream(size=64)
# 1,000 frames a second more than it forwards, and room for 5,500.
MODEL = DeviceModel(throughput_fps={64: 1e6}, buffer_frames=5500)
RATE = 1.001e6
SETTINGS = SoakSettings(hours=0.1, trial_s=90, share=1, latency=False)
TEXT = """\
name: soak
generator: {kind: simulated}
devices:
  - name: l2fwd-c
    model: {throughput_fps: {64: 1.0e+6}, noise: NOISE, seed: 3}
frames: {sizes: [64]}
tests: [throughput, soak]
preset: quick
settings: {soak: {hours: 0.1, trial_s: 90, share: 1}}
"""


def test_a_soak_has_a_window_a_second_and_says_in_which_the_first_frame_was_lost() -> None:
    found = measure_soak(Trials(SimulatedGenerator(MODEL)), SMALL, RATE, SETTINGS)
    assert (found.seconds, found.planned_s, found.cut_off) == (360, 360, None)
    assert [(part.windows, part.lossy_windows) for part in found.slices] == 4 * [(90, 85)]
    assert {part.least_fps for part in found.slices} == {1e6}
    assert found.first_loss_s == 6
    assert found.headline == (
        "338,000 of 360,360,000 frames lost in 6 min, in 340 of 360 seconds, the first within 6 s, "
        "too short for a trend"
    )
    # The seconds of a trial are those of its account.
    result = SimulatedGenerator(MODEL).run(TrialPlan(size=64, load_fps=RATE, duration_s=60, windows=True))
    assert sum(window.lost for window in result.windows) == result.lost == 54_500
    assert SimulatedGenerator(MODEL).run(TrialPlan(size=64, load_fps=RATE, duration_s=60)).windows == []


def test_the_first_loss_is_an_alarm_in_its_second_and_there_is_one(tmp_path: Path) -> None:
    shown = Console(file=io.StringIO(), width=200)
    soak = "l2fwd-c/64B/1way/1flows/soak"
    for _ in range(2):
        with Journal.resume(tmp_path / JOURNAL, "one") as journal:
            setup = RecordedSetup("one", lambda: SimulatedGenerator(MODEL), journal, View(shown, 1, None))
            found = measure_soak(Trials(setup.at(soak)), SMALL, RATE, SETTINGS)
            # The second time all is taken from the journal, and is no news.
            assert (found.lost, journal.trials) == (338_000, 4)
    lines = [json.loads(line) for line in (tmp_path / JOURNAL).read_text().splitlines()]
    # It is on the disk before the trial is over.
    assert [line["type"] for line in lines] == ["head", "joined", "alarm", *4 * ["trial"]]
    assert (lines[2]["place"], lines[2]["text"]) == (soak, "500 frames lost by second 6 of the trial that runs")
    assert shown.file.getvalue().count("ALARM: ") == 1  # type: ignore[attr-defined]
    assert f"ALARM: {soak}: 500 frames lost by second 6" in shown.file.getvalue()  # type: ignore[attr-defined]


def a_trial(lost: int, reasons: tuple[str, ...] = ()) -> TrialResult:
    plan = TrialPlan(size=64, load_fps=100, duration_s=10, windows=True)
    result = TrialResult(plan=plan, sent=1000, received=1000 - lost, lost=lost, offered_fps=100, duration_s=10)
    return result.invalidated(list(reasons))


@pytest.mark.parametrize(
    ("seconds", "result", "texts"),
    [
        ([0, 0], a_trial(0), []),
        ([0, 2, 1], a_trial(3), ["2 frames lost by second 2 of the trial that runs"]),
        # A generator without seconds, and what is lost after the last of them.
        ([], a_trial(3), ["3 of 1,000 frames lost in a trial of 10 s"]),
        ([], a_trial(3, ("a cable is out",)), []),
        (
            [4],
            a_trial(4, ("a cable is out",)),
            ["4 frames", "taken back, for the trial does not count: a cable is out"],
        ),
        ([4], a_trial(0), ["4 frames", "taken back: all frames came back later"]),
    ],
)
def test_an_alarm_is_taken_back_if_the_device_lost_nothing(
    seconds: list[int], result: TrialResult, texts: list[str]
) -> None:
    def raised(earlier: list[AnyResult]) -> list[str]:
        found: list[str] = []
        alarm = LossAlarm(found.append, earlier)
        for number, lost in enumerate(seconds, start=1):
            alarm.second(Window(end_s=number, sent_fps=100, received_fps=100, lost=lost))
        alarm.ended(result)
        return found

    for earlier in ([], [a_trial(0)], [a_trial(9, ("a cable is out",))]):
        found = raised(earlier)
        assert len(found) == len(texts)
        assert all(text.startswith(start) for text, start in zip(found, texts, strict=True))
    assert raised([a_trial(1)]) == []


def soaked(
    parent: Path, noise: float = 0.0, more: str = "", ends: Callable[[int], None] = lambda trial: None
) -> Campaign:
    """A campaign with a soak of four trials; `ends` is asked before each of them."""
    begun = 0

    class Ending(SimulatedGenerator):
        def run(self, plan: TrialPlan) -> TrialResult:
            nonlocal begun
            if plan.windows:
                begun += 1
                ends(begun)
            return super().run(plan)

    def start(*arguments: Any) -> Ending:
        usual = EQUIPMENT.start(*arguments)
        assert isinstance(usual, SimulatedGenerator)
        return Ending(usual.model, name=usual.name)

    text = TEXT.replace("NOISE", str(noise)) + more
    settings = CampaignSettings(kind="rfc2544", command=COMMAND, scenario=scenario(text))
    return Campaign.create(parent, settings, text, replace(EQUIPMENT, start=start))


def the_soak(folder: Path) -> tuple[str, Soak]:
    (found,) = read_folder(folder).found(Soak)
    return found[0].status, found[1]


def test_an_interrupted_soak_keeps_its_hours_and_goes_on(tmp_path: Path) -> None:
    def interrupt(trial: int) -> None:
        if trial == 3:
            raise KeyboardInterrupt

    campaign = soaked(tmp_path / "cut", ends=interrupt)
    assert campaign.run(console()) == Status.INTERRUPTED
    status, cut = the_soak(campaign.folder)
    assert (status, cut.seconds, len(cut.slices), cut.trials) == ("cut off", 180, 2, 2)
    assert cut.headline.endswith("frames lost in 3 min, too short for a trend; cut off before 6 min: interrupted")
    (sentence,) = soak_losses(read_folder(campaign.folder))
    assert sentence.startswith(f"l2fwd-c, 64 bytes: {cut.headline}. In the slowest of 180 seconds ")
    assert Campaign.resume(campaign.folder, EQUIPMENT).run(console()) == Status.PASSED
    whole = soaked(tmp_path / "whole")
    whole.run(console())
    assert the_soak(campaign.folder) == the_soak(whole.folder)
    assert (the_soak(whole.folder)[0], the_soak(whole.folder)[1].seconds) == ("done", 360)


def test_a_soak_that_fails_keeps_its_hours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = SimulatedGenerator.run
    disturbed: list[int] = []

    def later(trial: int) -> None:
        if trial == 3:
            disturbed.append(trial)

    def spoilt(self: SimulatedGenerator, plan: TrialPlan) -> TrialResult:
        return run(self, plan).invalidated(["a cable is out"] if disturbed else [])

    monkeypatch.setattr(SimulatedGenerator, "run", spoilt)
    campaign = soaked(tmp_path, ends=later)
    assert campaign.run(console()) == Status.FAILED
    status, found = the_soak(campaign.folder)
    assert (status, len(found.slices), found.invalid_trials > 0) == ("failed", 2, True)
    assert "a cable is out" in (found.cut_off or "")


def test_a_soak_with_loss_has_an_exit_status_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_and_report, "write_page", lambda *_: None)
    campaign = soaked(tmp_path, noise=0.02)
    assert campaign.run(console()) == Status.PASSED
    assert the_soak(campaign.folder)[1].lost
    with pytest.raises(Exit) as ended:
        report_campaign(campaign)
    assert ended.value.exit_code == LOST_IN_SOAK == 4
    assert "alarm: l2fwd-c/64B/1way/1flows/soak: " in capsys.readouterr().err
    # How much may be lost is the threshold's to say, where there is one.
    limited = soaked(tmp_path / "limited", noise=0.02, more="thresholds: ['soak loss ≤ 5 %']\n")
    limited.run(console())
    with pytest.raises(Exit) as ended:
        report_campaign(limited)
    assert ended.value.exit_code == 0


LINES = """\
    1.0 s  tx  0.020000 Mpps  rx  0.019999 Mpps  lost 2
    2.0 s  tx  0.020000 Mpps  rx  0.020001 Mpps  lost 1
    3.0 s  tx  0.020000 Mpps  rx  0.020000 Mpps  lost 5
    3.4 s  tx  0.000000 Mpps  rx  0.000100 Mpps  lost 5"""


def test_each_line_of_the_generator_is_a_second_when_it_comes(tmp_path: Path) -> None:
    script = tmp_path / "generator"
    script.write_text(
        f"#!/bin/sh\ncat >&2 <<'END'\nEAL: lines 1.0 s\n{LINES}\nEND\n"
        f"while [ ! -e '{tmp_path}/read' ]; do sleep 0.01; done\necho '{{\"type\": \"result\"}}'\n"
    )
    script.chmod(0o755)
    load = Load(ports=(0, 1), size=64, seconds=3, expect_src=None, expect_dst=None)
    found: list[Second] = []

    def each(second: Second) -> None:
        found.append(second)
        if len(found) == 4:
            # The result comes only after the seconds were told.
            (tmp_path / "read").touch()

    with Generator(
        Program("generator", "rust", script), EalOptions(0, "one", (), False), load, tmp_path, "one"
    ) as generator:
        generator.wait_for_result(each)
    assert [(one.end_s, one.lost) for one in found] == [(1.0, 2), (2.0, 1), (3.0, 5), (3.4, 5)]
    assert found[0] == Second(1.0, 20_000, 19_999, 2)
    told: list[Window] = []
    windows = Windows(TrialPlan(size=64, load_fps=10_000, duration_s=3, directions=2, windows=True), told.append)
    for second in found:
        windows.take(second)
    # Each direction's, what is lost anew, and no second after the load.
    assert windows.found == told
    assert [(one.sent_fps, one.lost) for one in told] == [(10_000, 2), (10_000, 0), (10_000, 3)]
