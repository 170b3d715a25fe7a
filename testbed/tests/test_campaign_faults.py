# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Campaigns over several testbeds of which one hangs or returns wrong frames: it gets no more work, nothing is lost."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from functools import partial
from pathlib import Path

import pytest
from campaign_folders import EQUIPMENT, begin_campaign, change_json, console
from campaign_lab import Testbeds
from distributed import Client, LocalCluster

from testbed.campaign.campaign import Campaign
from testbed.campaign.campaign_settings import SETTINGS, read_campaign_settings
from testbed.campaign.folder import read_folder
from testbed.campaign.journal import JOURNAL, read_journal
from testbed.campaign.points import ordered_points
from testbed.campaign.report import testbeds as report_of_testbeds
from testbed.campaign.report.document import MARKDOWN, write_report
from testbed.campaign.scenario_file import parse_scenario
from testbed.campaign.summary import SUMMARY
from testbed.campaign.testbeds import cluster, dispatch
from testbed.campaign.testbeds.address import NOWHERE
from testbed.campaign.testbeds.campaign import SpreadCampaign
from testbed.campaign.testbeds.cluster import Cluster, result_of
from testbed.campaign.testbeds.inventory import Inventory
from testbed.campaign.testbeds.job import Job, run_job
from testbed.campaign.testbeds.silence import Silence
from testbed.campaign.testbeds.worker import RESOURCE
from testbed.run.process import ProcessError
from testbed.run.results_folder import Status

TEXT = """\
name: faults
generator: {kind: simulated}
devices: [{name: one, model: {throughput_fps: {64: 12.4e+6, 128: 9.1e+6, 256: 7.0e+6, 512: 5.1e+6}}}]
frames: {sizes: [64, 128, 256, 512]}
tests: [throughput]
preset: quick
"""
# What a job that hangs has told before.
FEW_LINES = 5


class Hanging(Testbeds):
    """Testbed quick hangs in its first job: it stays connected, and the job never ends."""

    # Another worker after a restart.
    starts = 1

    def testbeds(self) -> dict[str, str]:
        return {name: f"{name}-{self.starts}" for name in self.alive}

    def submit(self, job: Job, address: str) -> Future:
        if job.testbed != "quick" or self.starts > 1:
            return super().submit(job, job.testbed)
        self.jobs.append(job)
        lines: list[str] = []
        run_job(job, [], self._make, lambda text, whole: lines.append(text))
        for number, text in enumerate(lines[:FEW_LINES]):
            self._take(job.number, text, number == 0)
        return Future()


class Repaired(Hanging):
    """Somebody starts the worker of the testbed again as soon as the others have measured two jobs."""

    def submit(self, job: Job, address: str) -> Future:
        future = super().submit(job, address)
        self.starts = 2 if len(self.jobs) > 2 else 1
        return future


@pytest.fixture
def spread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Campaign]:
    """Runs a campaign over two testbeds, or resumes that of a folder; models are those of quick, then of slow."""

    def run(testbeds: Testbeds, *models: dict[str, float], folder: Path | None = None, text: str = TEXT) -> Campaign:
        monkeypatch.setattr(dispatch, "cluster", lambda *_: contextlib.nullcontext(testbeds))
        if folder is not None:
            return SpreadCampaign.resume(folder, read_campaign_settings(folder), EQUIPMENT, console()).run()
        named = [{"name": name} for name in ("quick", "slow")]
        for testbed, model in zip(named, models, strict=False):
            testbed["devices"] = [{"name": "one", "model": {"throughput_fps": {64: 5.0e6}, **model}}]
        # Whatever is not done at once hangs.
        inventory = Inventory.model_validate({"testbeds": named, "patience_s": 1e-9})
        campaign = begin_campaign(tmp_path, text)
        return SpreadCampaign.create(campaign, inventory, EQUIPMENT, console()).run()

    return run


def by_testbed(testbeds: Testbeds) -> list[tuple[str, str]]:
    return [(job.testbed, job.frames.partition("B/")[0]) for job in testbeds.jobs if job.again is None]


def report_of(campaign: Campaign) -> str:
    write_report(campaign.folder)
    return (campaign.folder / MARKDOWN).read_text()


def test_a_testbed_that_hangs_loses_its_job_to_another_and_is_in_the_report(spread: Callable[..., Campaign]) -> None:
    testbeds = Hanging()
    campaign = spread(testbeds)
    assert campaign.summary.status is Status.PASSED, campaign.summary.reason
    assert by_testbed(testbeds)[0] == ("quick", "64")
    assert {name for name, _ in by_testbed(testbeds)[1:]} == {"slow"}
    assert set(campaign.settings.testbeds.values()) == {"slow"}
    # Its trials are kept, though another has measured all.
    (left,) = campaign.folder.glob("parts/*.jsonl")
    assert len(left.read_text().splitlines()) == FEW_LINES
    assert "Given nothing more: quick: no word for 1e-09 s beyond the time of a trial: it hangs." in report_of(campaign)


def test_a_testbed_whose_worker_was_started_again_is_given_work(spread: Callable[..., Campaign]) -> None:
    testbeds = Repaired()
    campaign = spread(testbeds)
    assert campaign.summary.status is Status.PASSED
    assert {name for name, _ in by_testbed(testbeds)[3:]} >= {"quick"}
    assert campaign.settings.broken_testbeds == {}


def test_wrong_frames_cost_a_testbed_one_job_and_not_the_campaign(spread: Callable[..., Campaign]) -> None:
    """A testbed that fails at everything fails quickly: without this it would be given most of the jobs."""
    testbeds = Testbeds()
    campaign = spread(testbeds, {"corrupts": 1})
    assert campaign.summary.status is Status.PASSED, campaign.summary.reason
    assert [frames for name, frames in by_testbed(testbeds) if name == "quick"] == ["64"]
    assert sorted(frames for name, frames in by_testbed(testbeds) if name == "slow") == ["128", "256", "512", "64"]
    # What it has measured is kept for whoever looks for the fault.
    (aside,) = campaign.folder.glob("parts/*@quick.invalid-1")
    assert "frames came back changed" in aside.read_text()
    assert "Given nothing more: quick: no trial of 64B/1way/1flows was valid: frames came back changed: 1." in (
        report_of(campaign)
    )


def test_wrong_frames_on_every_testbed_are_the_devices(spread: Callable[..., Campaign]) -> None:
    testbeds = Testbeds()
    campaign = spread(testbeds, {"corrupts": 1}, {"corrupts": 1})
    assert campaign.summary.status is Status.FAILED
    # All was tried, and two testbeds agree at the first frames.
    assert len(campaign.summary.findings) == 4
    assert {one.status for one in campaign.summary.findings} == {"failed"}
    assert [name for name, frames in by_testbed(testbeds) if frames == "64"] == ["quick", "slow"]
    assert "frames came back changed" in campaign.summary.reason


def test_with_no_other_testbed_a_campaign_of_wrong_frames_tells_what_is_missing_and_is_resumed(
    spread: Callable[..., Campaign],
) -> None:
    class Alone(Testbeds):
        def submit(self, job: Job, address: str) -> Future:
            future = super().submit(job, address)
            # The other one dies before it can measure what this one could not.
            if job.testbed == "slow" and job.frames.startswith("64B"):
                self.alive, future = ["quick"], Future()
            return future

    testbeds = Alone()
    campaign = spread(testbeds, {"corrupts": 1})
    assert campaign.summary.status is Status.FAILED
    assert "no testbed is left for 64B/1way/1flows, 256B" in campaign.summary.reason
    assert "quick: no trial of 64B/1way/1flows was valid" in campaign.summary.reason
    before = read_journal(campaign.folder / JOURNAL)
    again = Testbeds()
    again.alive = ["slow"]
    resumed = spread(again, folder=campaign.folder)
    assert resumed.summary.status is Status.PASSED, resumed.summary.reason
    after = read_journal(campaign.folder / JOURNAL)
    assert [one for one in after if one in before] == before


def test_the_use_of_testbeds_is_the_time_of_valid_trials(spread: Callable[..., Campaign]) -> None:
    # Half of quick's trials are short of frames, hence invalid. A thousandth of simulated time is real time.
    text = TEXT.replace("{throughput_fps", "{pace: 0.001, throughput_fps")
    campaign = spread(Testbeds(), {"shortfalls": 0.5, "pace": 0.001}, {"pace": 0.001}, text=text)
    assert campaign.summary.trials.invalid > 0
    valid = [one for _, one in read_journal(campaign.folder / JOURNAL) if one.valid]
    pauses_s = campaign.settings.scenario.pauses_around_trials.total_s
    useful_s = 0.001 * sum(one.plan.duration_s + pauses_s for one in valid)
    # Two testbeds were there all the time, and not more than that is useful.
    assert 0 < useful_s < campaign.settings.testbed_s
    change_json(campaign.folder / SETTINGS, testbed_s=2 * useful_s)
    change_json(campaign.folder / SUMMARY, seconds=useful_s)
    assert f"Valid trials took 50.0 % of the time of the testbeds: {useful_s:.1f} s of" in report_of(campaign)
    record = read_folder(campaign.folder)
    table = report_of_testbeds.testbeds_table(record)
    useful = table.columns.index("Useful [%]")
    assert sum(float(row.cells[useful]) for row in table.rows) == pytest.approx(100, abs=0.2)


def test_a_job_may_be_silent_for_its_trial_and_no_longer() -> None:
    now = 0.0
    silence = Silence(10, clock=lambda: now)
    why = partial(silence.why, "a")
    silence.begin("a")
    now = 9
    assert why() is None
    now = 10
    assert why() == "it did not begin within 10 s: it is busy for somebody else, or hangs"
    # A trial of an hour begins, and ends later than it should.
    silence.heard("a", 3600)
    now = 3619
    assert why() is None
    now = 3620
    assert why() == "no word for 10 s beyond the time of a trial: it hangs"
    silence.heard("a", 0)
    assert why() is None
    # Nobody waits for what was given up.
    silence.end("a")
    silence.heard("a", 0)
    with pytest.raises(KeyError):
        why()


@pytest.fixture(scope="module")
def local() -> Iterator[LocalCluster]:
    """A scheduler and a testbed, in threads of this process."""
    with LocalCluster(
        1,
        processes=False,
        threads_per_worker=1,
        resources={RESOURCE: 1},
        host="127.0.0.1",
        protocol="tcp://",
        scheduler_kwargs={"dashboard_address": NOWHERE},
    ) as local:
        yield local


def connected(local: LocalCluster) -> Client:
    return Client(local.scheduler_address, set_as_default=False)


def test_a_testbed_ends_the_job_of_a_coordinator_that_is_gone(local: LocalCluster) -> None:
    """It would have it to the end, and a resumed campaign would wait for it, or take the testbed to hang."""
    text = TEXT.replace("[throughput]", "[throughput, latency, frame_loss]")
    # A trial takes a second of real time, or nothing.
    words = {pace: parse_scenario(text.replace("{through", f"{{pace: {pace}, through"), "s") for pace in (0, 0.1)}
    (frames, *_) = dict.fromkeys(point.frames for point in ordered_points(words[0]))
    job = Job(campaign="one", testbed="left", scenario=words[0], frames=frames)
    lines: list[str] = []
    run_job(job, [], follower=lambda text, whole: lines.append(text))
    all_trials = sum('"type":"trial"' in line for line in lines)
    assert all_trials > 15
    trials, came = [], threading.Event()

    def take(number: str, text: str, whole: bool, busy_s: float) -> None:
        trials.extend(line for line in text.splitlines() if '"type":"trial"' in line)
        if trials:
            came.set()

    with connected(local) as second:
        Cluster(second, "").follow("one", take)
        with connected(local) as first:
            testbeds = Cluster(first, "")
            (address,) = testbeds.testbeds().values()
            slow = testbeds.submit(job.model_copy(update={"scenario": words[0.1]}), address)
            assert came.wait(60), slow
        # It gets the token when the other job has ended.
        next_one = Cluster(second, "").submit(job.model_copy(update={"campaign": "two"}), address)
        assert result_of(next_one, job).error is None
        assert 0 < len(trials) < all_trials


def test_a_scheduler_that_is_stopped_or_cut_off_is_an_error(
    local: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connection stands, so that Dask waits for ever."""
    with connected(local) as client:
        testbeds = Cluster(client, "tls://lab:8786")
        assert len(testbeds.testbeds()) == 1
        over, stopped = threading.Event(), threading.Event()
        local.loop.add_callback(lambda: (stopped.set(), over.wait()))
        stopped.wait()
        monkeypatch.setattr(cluster, "_ANSWER_S", 0.1)
        try:
            with pytest.raises(ProcessError, match=r"tls://lab:8786 gives no answer for 0.1 s: start it again, and"):
                testbeds.testbeds()
        finally:
            over.set()
