# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Campaigns over several testbeds: one that is lost continues its part, and the report says who measured what."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest
from campaign_folders import EQUIPMENT, begin_campaign, console
from campaign_lab import Testbeds

from testbed.campaign.campaign import Campaign
from testbed.campaign.campaign_settings import read_campaign_settings
from testbed.campaign.journal import JOURNAL, Measured, read_entries, read_journal
from testbed.campaign.options import read_testbeds
from testbed.campaign.report.document import MARKDOWN, write_report
from testbed.campaign.scenario_error import ScenarioError
from testbed.campaign.scenario_file import parse_scenario
from testbed.campaign.testbeds import dispatch
from testbed.campaign.testbeds.campaign import SpreadCampaign
from testbed.campaign.testbeds.inventory import Inventory, read_inventory
from testbed.campaign.testbeds.job import Job, run_job
from testbed.run.lcores import plan_lcores
from testbed.run.results_folder import ResultsError, Status

TEXT = """\
name: unfinished
generator: {kind: simulated}
devices:
  - name: one
    model: &one {throughput_fps: {64: 12.4e+6, 512: 5.1e+6}, seed: 3, noise: 0.003}
  - name: two
    model: {<<: *one, throughput_fps: {64: 11.8e+6, 512: 5.1e+6}, seed: 4}
frames: {sizes: [64, 512]}
tests: [throughput, latency]
preset: quick
"""
INVENTORY = Inventory.model_validate({"testbeds": [{"name": "quick"}, {"name": "slow"}]})


class Lost(BaseException):
    """The testbed's machine is gone."""


class Dying(Testbeds):
    """Testbed quick is lost after some lines of its first job; perhaps it comes back, as another process."""

    def __init__(self, lines: int, returns: bool) -> None:
        super().__init__()
        self._left: int | None = lines
        self._returns = returns
        self._starts = {"quick": 1, "slow": 1}

    def testbeds(self) -> dict[str, str]:
        return {name: f"{name}-{self._starts[name]}" for name in self.alive}

    def submit(self, job: Job, address: str) -> Future:
        assert address == self.testbeds()[job.testbed]
        if job.testbed != "quick" or self._left is None:
            return super().submit(job, job.testbed)
        self.jobs.append(job)

        def tell(text: str, whole: bool) -> None:
            self._take(job.number, text, whole)
            assert self._left is not None
            self._left -= 1
            if not self._left:
                raise Lost

        with contextlib.suppress(Lost):
            run_job(job, [], self._make, tell)
        self._left = None
        if self._returns:
            self._starts["quick"] += 1
        else:
            self.alive.remove("quick")
        return Future()


@pytest.fixture
def spread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Campaign]:
    """Runs a campaign over these testbeds, or resumes that of a folder."""

    def run(testbeds: Testbeds, folder: Path | None = None) -> Campaign:
        monkeypatch.setattr(dispatch, "cluster", lambda *_: contextlib.nullcontext(testbeds))
        if folder is None:
            campaign = begin_campaign(tmp_path, TEXT)
            return SpreadCampaign.create(campaign, INVENTORY, EQUIPMENT, console()).run()
        return SpreadCampaign.resume(folder, read_campaign_settings(folder), EQUIPMENT, console()).run()

    return run


def test_a_lost_testbed_that_comes_back_continues_what_it_had_begun(spread: Callable[..., Campaign]) -> None:
    testbeds = Dying(lines=9, returns=True)
    campaign = spread(testbeds)
    assert campaign.summary.status is Status.PASSED
    first, other, continued = [job for job in testbeds.jobs if job.again is None]
    assert (first.testbed, first.frames, first.earlier) == ("quick", "64B/1way/1flows", "")
    assert (other.testbed, other.frames) == ("slow", "512B/1way/1flows")
    assert (continued.testbed, continued.frames) == (first.testbed, first.frames)
    earlier = read_entries(continued.earlier, "earlier")
    assert len(earlier) >= 9
    # With the times at which they were measured: none was measured twice.
    journal = read_entries((campaign.folder / JOURNAL).read_text(), JOURNAL)
    trials = [one for one in earlier if isinstance(one, Measured)]
    assert [one for one in journal if isinstance(one, Measured)][: len(trials)] == trials
    assert not list(campaign.folder.glob("parts/*.jsonl"))


def test_another_testbed_begins_anew_what_a_lost_one_had_begun(spread: Callable[..., Campaign]) -> None:
    testbeds = Dying(lines=9, returns=False)
    campaign = spread(testbeds)
    assert campaign.summary.status is Status.PASSED
    # What is compared is from the same testbed: it does not continue what the other one has.
    assert [(job.testbed, job.earlier) for job in testbeds.jobs if job.again is None][1:] == [("slow", "")] * 2
    # That is kept.
    (left,) = campaign.folder.glob("parts/*.jsonl")
    assert left.name == "64B-1way-1flows@quick.jsonl"
    assert set(campaign.settings.testbeds.values()) == {"slow"}


def test_a_line_that_cannot_be_written_ends_the_campaign(
    spread: Callable[..., Campaign], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, text: str) -> None:
        raise ResultsError(f"cannot write '{path.name}': No space left on device")

    with monkeypatch.context() as changed:
        changed.setattr("testbed.campaign.testbeds.unfinished.write_atomically", full)
        campaign = spread(Testbeds())
    assert campaign.summary.status is Status.FAILED
    assert "No space left on device" in campaign.summary.reason
    assert spread(Testbeds(), campaign.folder).summary.status is Status.PASSED


def test_the_drift_of_each_testbed_is_measured_and_shown_with_what_it_measured(
    spread: Callable[..., Campaign],
) -> None:
    campaign = spread(Testbeds())
    summary = campaign.summary
    assert [(drift.testbed, drift.place.partition("/")[2]) for drift in summary.drifts] == [
        ("quick", "64B/1way/1flows/throughput"),
        ("slow", "512B/1way/1flows/throughput"),
    ]
    assert {(one.size, one.testbed) for one in summary.findings} == {(64, "quick"), (512, "slow")}
    places = [place for place, _ in read_journal(campaign.folder / JOURNAL) if place.endswith("/again")]
    assert {place.rpartition("/")[0] for place in places} == {drift.place for drift in summary.drifts}
    write_report(campaign.folder)
    text = (campaign.folder / MARKDOWN).read_text()
    section = text.partition("## Testbeds")[2].partition("\n## ")[0]
    for drift, words in zip(summary.drifts, ("64 bytes", "512 bytes"), strict=True):
        row = next(line for line in section.splitlines() if line.startswith(f"| {drift.testbed} |"))
        assert words in row
        assert f"{100 * drift.change:+.2f}" in row
    rows = list(csv.DictReader(io.StringIO((campaign.folder / "summary.csv").read_text())))
    assert {(row["size_bytes"], row["testbed"]) for row in rows} == {("64", "quick"), ("512", "slow")}


def test_testbeds_that_did_not_come_are_in_the_report(spread: Callable[..., Campaign]) -> None:
    testbeds = Testbeds()
    testbeds.alive = ["slow"]
    campaign = spread(testbeds)
    assert campaign.summary.status is Status.PASSED
    write_report(campaign.folder)
    assert "Did not come: quick." in (campaign.folder / MARKDOWN).read_text()


@pytest.mark.parametrize(
    ("left", "right", "shared"),
    [
        # Each would choose the same.
        ("", "", plan_lcores().generator),
        ("", f", generator: {{kind: embedded, lcore: 99, forwarder_lcore: {plan_lcores().forwarder}}}", None),
        (
            ", generator: {kind: embedded, lcore: 12, forwarder_lcore: 13}",
            ", generator: {kind: embedded, lcore: 13, forwarder_lcore: 14}",
            13,
        ),
    ],
)
def test_two_testbeds_of_this_machine_may_not_share_a_cpu(
    tmp_path: Path, left: str, right: str, shared: int | None
) -> None:
    scenario = parse_scenario("name: s\ngenerator: {kind: embedded}\ndevices: [{name: l2fwd-c}]\n", "s.yaml")
    path = tmp_path / "lab.yaml"
    text = f"testbeds: [{{name: left{left}}}, {{name: right{right}}}]\n"
    path.write_text(text)
    cpu = plan_lcores().forwarder if shared is None else shared
    with pytest.raises(
        ScenarioError, match=f"lab.yaml: testbeds 'left' and 'right' both use CPU {cpu} of this machine"
    ):
        read_testbeds(path, scenario)
    # Elsewhere they may be two machines.
    path.write_text(f"scheduler: tcp://lab:8786\ntrusted_network: yes\n{text}")
    assert read_testbeds(path, scenario) == read_inventory(path)


def test_testbeds_of_this_machine_on_cpus_of_their_own(tmp_path: Path) -> None:
    scenario = parse_scenario("name: s\ngenerator: {kind: embedded}\ndevices: [{name: l2fwd-c}]\n", "s.yaml")
    path = tmp_path / "lab.yaml"
    pairs = [("left", 2, 3), ("right", 4, 5)]
    lines = [f"- {{name: {n}, generator: {{kind: embedded, lcore: {a}, forwarder_lcore: {b}}}}}" for n, a, b in pairs]
    path.write_text("testbeds:\n" + "\n".join(lines) + "\n")
    assert len(read_testbeds(path, scenario).testbeds) == 2
    simulated = parse_scenario(TEXT, "s.yaml")
    path.write_text("testbeds: [{name: left}, {name: right}]\n")
    assert len(read_testbeds(path, simulated).testbeds) == 2
