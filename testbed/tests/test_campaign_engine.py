# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A campaign ends with the same result however often it is killed, and says what stood in its way."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import campaign_process
import pytest
from rich.console import Console

from testbed.campaign.campaign import Campaign
from testbed.campaign.journal import read_journal
from testbed.campaign.method import Method
from testbed.campaign.progress_view import Interval, View
from testbed.campaign.scenario import Measurement
from testbed.campaign.simulated import DeviceModel, SimulatedGenerator
from testbed.campaign.summary import CampaignSummary, Drift, Finding, read_campaign_summary
from testbed.campaign.traffic_generator import GeneratorError, NotCapable
from testbed.campaign.trial import TrialPlan, TrialResult
from testbed.campaign.validity import NotMeasured
from testbed.run.results_folder import ResultsError, Status

SCRIPT = Path(campaign_process.__file__)


def console() -> Console:
    return Console(file=io.StringIO(), width=200)


def run_process(command: str, folder: Path, kill_at: str | None = None) -> int:
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[1])} | ({"KILL_AT": kill_at} if kill_at else {})
    argv = [sys.executable, str(SCRIPT), command, str(folder)]
    return subprocess.run(argv, env=environment, stdout=subprocess.DEVNULL, check=False).returncode


def compared(summary: CampaignSummary) -> object:
    return summary.status, summary.findings, summary.trials, summary.drift


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    campaign = campaign_process.begin(tmp_path_factory.mktemp("undisturbed"))
    assert campaign.run(console()) is Status.PASSED
    return campaign.folder


def test_each_device_is_found_at_each_size(undisturbed: Path) -> None:
    summary = read_campaign_summary(undisturbed)
    found = {(one.device, one.size, one.measurement): one for one in summary.findings}
    assert len(found) == summary.planned == 8
    for device, fps in (("one", 9e6), ("two", 8e6)):
        for size, share in ((64, 1), (512, 0.5)):
            result = found[device, size, Measurement.THROUGHPUT].result
            assert result is not None
            assert result["fps"] == pytest.approx(fps * share, rel=0.02)
    assert summary.trials.invalid > 0
    assert summary.trials.reasons["the generator offered … frames/s instead of …"] == summary.trials.invalid
    names = {path.name for path in undisturbed.iterdir()}
    assert names >= {"scenario.yaml", "campaign.json", "environment.json", "journal.jsonl", "summary.csv", "summary.md"}


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_five_times_it_ends_with_the_same_result(undisturbed: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    moments = ["before", "half", "unsynced", "after", chance.choice(["before", "half", "unsynced", "after"])]
    chance.shuffle(moments)
    command, folder = "begin", tmp_path
    for moment in moments:
        # The journal's head is the first write.
        assert run_process(command, folder, f"{chance.randrange(2, 18)}:{moment}") == -signal.SIGKILL
        command, folder = "resume", next(tmp_path.iterdir())
        assert read_campaign_summary(folder).status is Status.INTERRUPTED
    assert run_process("resume", folder) == 0
    assert compared(read_campaign_summary(folder)) == compared(read_campaign_summary(undisturbed))
    assert read_journal(folder / "journal.jsonl") == read_journal(undisturbed / "journal.jsonl")
    assert read_campaign_summary(folder).resumed == 5
    assert (folder / "environment-resumed-5.json").exists()


def test_killed_before_its_first_line_it_goes_on(tmp_path: Path) -> None:
    assert run_process("begin", tmp_path, "1:before") == -signal.SIGKILL
    (folder,) = tmp_path.iterdir()
    assert run_process("resume", folder) == 0


@pytest.mark.parametrize(
    ("again_fps", "matters"), [(4.1965e6 / 0.98, False), (4.1965e6 * 0.98, False), (4.29e6, True), (4.1e6, True)]
)
def test_a_step_of_the_search_is_no_drift(again_fps: float, matters: bool) -> None:
    assert Drift(place="l2fwd-c/64B/throughput", first_fps=4.1965e6, again_fps=again_fps).matters is matters


def test_a_machine_that_slows_down_is_told(undisturbed: Path, tmp_path: Path) -> None:
    steady = read_campaign_summary(undisturbed).drift
    assert steady is not None
    assert abs(steady.change) < 0.02
    assert "with care" not in (undisturbed / "summary.md").read_text()
    devices = []
    trials = 0

    class Slower(SimulatedGenerator):
        def run(self, plan: TrialPlan) -> TrialResult:
            nonlocal trials
            trials += 1
            rates = {size: fps * 0.999**trials for size, fps in self.model.throughput_fps.items()}
            now = {"throughput_fps": rates, "noise": 0.0, "shortfalls": 0.0}
            return SimulatedGenerator(self.model.model_copy(update=now)).run(plan)

    def start(scenario: object, device: str, directions: int, raw: Path) -> SimulatedGenerator:
        devices.append(device)
        real = campaign_process.start(scenario, device, directions, raw)
        return Slower(real.model, name=real.name)

    campaign = campaign_process.begin(tmp_path, replace(campaign_process.EQUIPMENT, start=start))
    assert campaign.run(console()) is Status.PASSED
    drift = read_campaign_summary(campaign.folder).drift
    assert drift.place == read_campaign_summary(campaign.folder).findings[0].place
    # They take turns, so that each is started once.
    assert sorted(devices) == ["one", "two"]
    assert drift.change < -0.02
    assert "compare with care" in (campaign.folder / "summary.md").read_text()


def test_a_finished_campaign_measures_nothing_again(undisturbed: Path) -> None:
    before, trials = read_campaign_summary(undisturbed), read_journal(undisturbed / "journal.jsonl")

    def never(*_: object) -> SimulatedGenerator:
        raise AssertionError("started")

    campaign = Campaign.resume(undisturbed, replace(campaign_process.EQUIPMENT, start=never))
    assert campaign.run(console()) is Status.PASSED
    assert read_journal(undisturbed / "journal.jsonl") == trials
    assert compared(read_campaign_summary(undisturbed)) == compared(before)


class Dying(SimulatedGenerator):
    """Is gone after ten trials."""

    left = 10
    closed = 0

    def run(self, plan: object) -> object:
        Dying.left -= 1
        if Dying.left == 0:
            raise GeneratorError("the generator ended with signal SIGSEGV; its last lines:\n    EAL: bad news")
        if Dying.left == -5:
            raise KeyboardInterrupt
        return super().run(plan)

    def close(self) -> None:
        Dying.closed += 1


def test_a_dead_generator_and_an_interrupt_end_it_and_it_goes_on(undisturbed: Path, tmp_path: Path) -> None:
    def start(scenario: object, device: str, directions: int, raw: Path) -> SimulatedGenerator:
        real = campaign_process.start(scenario, device, directions, raw)
        return Dying(real.model, name=real.name)

    equipment = replace(campaign_process.EQUIPMENT, start=start)
    campaign = campaign_process.begin(tmp_path, equipment)
    assert campaign.run(console()) is Status.FAILED
    reason = read_campaign_summary(campaign.folder).reason
    assert "SIGSEGV" in reason
    # How to go on stands behind what it printed, and can be copied as it is, from the summary too.
    command = f"all results so far are kept: continue with ./x testbed resume {campaign.folder}"
    assert reason.splitlines()[-1] == command
    assert command in (campaign.folder / "summary.md").read_text().splitlines()
    # Those of both devices, which take turns.
    assert Dying.closed == 2
    again = Campaign.resume(campaign.folder, equipment)
    assert again.run(console()) is Status.INTERRUPTED
    assert "interrupted" in read_campaign_summary(campaign.folder).reason
    assert Campaign.resume(campaign.folder, equipment).run(console()) is Status.PASSED
    assert compared(read_campaign_summary(campaign.folder)) == compared(read_campaign_summary(undisturbed))


def test_what_has_failed_is_measured_again_if_asked(undisturbed: Path, tmp_path: Path) -> None:
    busy = True

    class Busy(SimulatedGenerator):
        """Of one device at one size no trial counts as long as the machine is busy."""

        def run(self, plan: TrialPlan) -> TrialResult:
            result = super().run(plan)
            return result.invalidated(["busy"] if busy and (self.name, plan.size) == ("two", 512) else [])

    def start(scenario: object, device: str, directions: int, raw: Path) -> SimulatedGenerator:
        real = campaign_process.start(scenario, device, directions, raw)
        return Busy(real.model.model_copy(update={"noise": 0.0}), name=real.name)

    equipment = replace(campaign_process.EQUIPMENT, start=start)
    campaign = campaign_process.begin(tmp_path, equipment)
    assert campaign.run(console()) is Status.FAILED
    folder = campaign.folder
    summary = read_campaign_summary(folder)
    failed, skipped = [one for one in summary.findings if one.status != "done"]
    assert (failed.status, skipped.status) == ("failed", "skipped")
    assert summary.reason.splitlines()[-1] == f"to try them again: ./x testbed resume {folder} --retry-failed"
    trials = read_journal(folder / "journal.jsonl")
    busy = False
    # Without being asked it stays as it is, and nothing is measured.
    assert Campaign.resume(folder, equipment).run(console()) is Status.FAILED
    assert read_journal(folder / "journal.jsonl") == trials
    assert Campaign.resume(folder, equipment, retry_failed=True).run(console()) is Status.PASSED
    again = read_campaign_summary(folder)
    assert again.reason is None
    assert [one for one in again.findings if one.place not in (failed.place, skipped.place)] == [
        one for one in summary.findings if one.status == "done"
    ]
    rate = next(one for one in again.findings if one.place == failed.place).result["fps"]
    assert rate == pytest.approx(4e6, rel=0.001)
    # Nothing is lost, and going on once more needs no trial.
    journal = read_journal(folder / "journal.jsonl")
    assert journal[: len(trials)] == trials
    assert Campaign.resume(folder, equipment).run(console()) is Status.PASSED
    assert read_journal(folder / "journal.jsonl") == journal
    with pytest.raises(ResultsError, match="has failed: omit --retry-failed"):
        Campaign.resume(folder, equipment, retry_failed=True)


def test_what_cannot_be_measured_is_skipped_and_what_fails_fails_alone(tmp_path: Path) -> None:
    def incapable(task: object) -> campaign_process.Found:
        raise NotCapable("it cannot")

    def fails(task: object) -> campaign_process.Found:
        raise NotMeasured("20 invalid trials")

    methods = {
        Measurement.THROUGHPUT: Method(incapable, str),
        Measurement.FORWARDING_RATE: campaign_process.METHODS[Measurement.FORWARDING_RATE],
        Measurement.RESET: Method(fails, str),
    }
    equipment = replace(campaign_process.EQUIPMENT, methods=methods)
    campaign = campaign_process.begin(tmp_path, equipment, tests=["throughput", "forwarding_rate", "reset", "soak"])
    assert campaign.run(console()) is Status.FAILED
    summary = read_campaign_summary(campaign.folder)
    first = [one for one in summary.findings if (one.device, one.size) == ("one", 64)]
    assert [(one.status, one.reason) for one in first] == [
        ("skipped", "it cannot"),
        ("skipped", "it needs the result of: throughput"),
        ("failed", "20 invalid trials"),
        ("skipped", "this tool does not measure it yet"),
    ]
    assert "20 invalid trials" in summary.reason


def test_the_summary_as_markdown_and_csv_says_the_same(undisturbed: Path) -> None:
    summary = read_campaign_summary(undisturbed)
    text = (undisturbed / "summary.md").read_text()
    rows = list(csv.DictReader((undisturbed / "summary.csv").open()))
    for finding in summary.findings:
        assert finding.headline in text
        mine = [row for row in rows if row["field"] == "fps" and row["device"] == finding.device]
        assert (str(finding.result["fps"]), "frames/s") in [(row["value"], row["unit"]) for row in mine]
    assert "| frames | one | two |" in text
    assert json.loads((undisturbed / "summary.json").read_text())["schema_version"] == 1


def test_the_summary_says_which_of_the_rfc_s_frames_are_lacking(undisturbed: Path) -> None:
    text = (undisturbed / "summary.md").read_text()
    assert "Frames: conditional\n" in text
    assert (
        "- not met: RFC 2544, section 9.1 (SHOULD): required: 64, 128, 256, 512, 1024, 1280 and 1518 bytes are tested; "
        "done here: without 128, 256, 1024, 1280, 1518\n"
    ) in text
    lacking = read_campaign_summary(undisturbed).frames.missing
    assert [finding.clause.section for finding in lacking] == ["8", "9.1", "11", "12", "14", "21"]


def test_the_time_left_has_the_measurement_for_drift(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[tuple[str, float, float | None]] = []

    class Told(View):
        """Remembers what is expected of each measurement, and in all."""

        def measurement_begins(self, place: str, expected_s: float) -> None:
            begun.append((place, expected_s, self.left_s()))
            super().measurement_begins(place, expected_s)

    monkeypatch.setattr("testbed.campaign.campaign.View", Told)
    campaign = campaign_process.begin(tmp_path, replace(campaign_process.EQUIPMENT, expected_s=lambda *_: 7.0))
    assert campaign.run(console()) is Status.PASSED
    assert begun[0][2] == pytest.approx(7.0 * (campaign.summary.planned + 1))
    place, expected_s, left_s = begun[-1]
    assert place.endswith("/again")
    assert expected_s == 7.0
    assert left_s > 0


def test_the_live_view_shows_interval_trial_loss_and_time_left() -> None:
    now = 0.0
    screen = Console(width=120, record=True, file=io.StringIO())
    view = View(screen, planned=4, expected_s=400.0, clock=lambda: now)
    view.measurement_begins("one", 100.0)
    generator = SimulatedGenerator(DeviceModel(throughput_fps={64: 9e6}))
    for load in (20e6, 8e6, 10e6):
        plan = TrialPlan(size=64, load_fps=load, duration_s=60)
        view.trial_begins("one", plan)
        if load == 10e6:
            now = 33.0
            screen.print(view.render())
            running = screen.export_text()
            assert "3: 64 bytes at 10.0000 Mpps for 60 s; 33 s so far" in running
            assert "8.0000 to 20.0000 Mpps" in running
            # 400 s less the 33 that went by.
            assert "left about 0:06:07" in running
        view.trial_ended("one", generator.run(plan), replayed=False)
    screen.print(view.render())
    ended = screen.export_text()
    assert "8.0000 to 10.0000 Mpps" in ended
    assert "lost 59998976 of 600000000" in ended
    assert "imissed" in ended


def test_the_time_left_follows_what_is_seen() -> None:
    now = 0.0
    view = View(Console(file=io.StringIO()), planned=4, expected_s=400.0, clock=lambda: now)
    finding = Finding(
        place="p", device="one", size=64, directions=1, flows=1, measurement=Measurement.THROUGHPUT, status="done"
    )
    result = SimulatedGenerator(DeviceModel(throughput_fps={64: 9e6})).run(
        TrialPlan(size=64, load_fps=1e6, duration_s=1)
    )
    # From the journal: no time, and no sign of how fast the rest will be.
    view.measurement_begins("p", 100.0)
    view.trial_ended("p", result, replayed=True)
    view.measurement_ended(finding)
    assert view.left_s() == 300
    # Twice as long as expected.
    view.measurement_begins("p", 100.0)
    view.trial_ended("p", result, replayed=False)
    now = 200.0
    view.measurement_ended(finding)
    view.measurement_begins("p", 100.0)
    assert view.left_s() == 400
    now = 250.0
    assert view.left_s() == 350
    now = 1000.0
    assert view.left_s() == 200


def test_an_interval_that_contradicts_itself_says_so() -> None:
    interval = Interval()
    assert str(interval) == "–"
    plan = TrialPlan(size=64, load_fps=5e6, duration_s=1)
    good = SimulatedGenerator(DeviceModel(throughput_fps={64: 9e6})).run(plan)
    interval.take(good)
    interval.take(good.model_copy(update={"plan": plan.model_copy(update={"load_fps": 4e6}), "lost": 1}))
    assert "noisy" in str(interval)
