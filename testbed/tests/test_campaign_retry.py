# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`resume --retry-failed` of comparisons, and of what is spread over several testbeds, on simulated devices."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from campaign_folders import EQUIPMENT, console
from campaign_lab import Testbeds
from campaign_models import Tape
from typer.testing import CliRunner

from testbed.campaign.campaign import Campaign
from testbed.campaign.campaign_settings import CampaignSettings, read_campaign_settings
from testbed.campaign.compare.run import ComparisonRun
from testbed.campaign.compare.schedule import CompareSettings
from testbed.campaign.compare.settings import ComparisonSettings, read_comparison_settings
from testbed.campaign.compare.verdict_file import ComparisonVerdict
from testbed.campaign.equipment import Equipment
from testbed.campaign.journal import JOURNAL, read_journal
from testbed.campaign.points import ordered_points
from testbed.campaign.scenario import Scenario
from testbed.campaign.scenario_file import parse_scenario
from testbed.campaign.summary import Finding, read_campaign_summary
from testbed.campaign.testbeds import dispatch
from testbed.campaign.testbeds.campaign import SpreadCampaign
from testbed.campaign.testbeds.comparison import SpreadComparison
from testbed.campaign.testbeds.inventory import Inventory
from testbed.campaign.trial import AnyResult
from testbed.cli import app
from testbed.comparison.pair_verdict import Verdict
from testbed.run.results_folder import ResultsError, Status

TEXT = """\
name: retry
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
SCENARIO = parse_scenario(TEXT, "retry.yaml")
INVENTORY = Inventory.model_validate({"testbeds": [{"name": "quick"}, {"name": "slow"}]})
FIRST = ordered_points(SCENARIO)[0].device


class Busy:
    """A machine on which no trial of some starts counts: of those that `spoils` says yes to, as long as it is busy."""

    def __init__(self, spoils: Callable[[int, str, int], bool]) -> None:
        self.busy = True
        self.starts = 0
        self._spoils = spoils

    def equipment(self, *_: Any) -> Equipment:
        return replace(EQUIPMENT, start=self._start)

    def _start(self, scenario: Scenario, device: str, directions: int, raw: Path) -> Tape:
        self.starts += 1
        number = self.starts

        def change(result: AnyResult) -> AnyResult:
            spoiled = self.busy and self._spoils(number, device, result.plan.size)
            return result.invalidated(["busy"] if spoiled else [])

        return Tape(EQUIPMENT.start(scenario, device, directions, raw), change=change)


# The first device at the first size, whose throughput would be measured again for drift.
def first_of_all() -> Busy:
    return Busy(lambda _, device, size: (device, size) == (FIRST, 64))


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Callable[[Testbeds], None]:
    """Puts functions in place of testbeds."""

    def use(testbeds: Testbeds) -> None:
        @contextlib.contextmanager
        def cluster(*_: object) -> Iterator[Testbeds]:
            yield testbeds

        monkeypatch.setattr(dispatch, "cluster", cluster)

    return use


def begun(parent: Path) -> SpreadCampaign:
    settings = CampaignSettings(kind="rfc2544", command="a test", scenario=SCENARIO)
    return SpreadCampaign.create(Campaign.create(parent, settings, TEXT, EQUIPMENT), INVENTORY, EQUIPMENT, console())


def gone_on_with(folder: Path, **more: bool) -> SpreadCampaign:
    return SpreadCampaign.resume(folder, read_campaign_settings(folder), EQUIPMENT, console(), **more)


def places(findings: list[Finding], status: str) -> list[str]:
    return [finding.place for finding in findings if finding.status == status]


def rates(findings: list[Finding], but: str) -> dict[str, float]:
    """The throughputs that were found, but for one place."""
    throughputs = [one for one in findings if one.place.endswith("/throughput") and one.place != but]
    return {one.place: one.result["throughput_fps"] for one in throughputs}


def test_what_failed_on_a_testbed_is_measured_there_again(tmp_path: Path, lab: Callable[[Testbeds], None]) -> None:
    machine = first_of_all()
    lab(Testbeds(make=machine.equipment))
    folder = begun(tmp_path).run().folder
    before = read_campaign_summary(folder)
    assert before.status is Status.FAILED
    assert before.reason.splitlines()[-1] == f"to try them again: ./x testbed resume {folder} --retry-failed"
    failed, skipped = f"{FIRST}/64B/1way/1flows/throughput", f"{FIRST}/64B/1way/1flows/latency"
    assert (places(before.findings, "failed"), places(before.findings, "skipped")) == ([failed], [skipped])
    assert not before.drift.place.startswith(f"{FIRST}/64B/")
    trials = read_journal(folder / JOURNAL)
    machine.busy = False
    # Without being asked it stays as it is, and nothing is measured.
    testbeds = Testbeds(make=machine.equipment)
    lab(testbeds)
    assert gone_on_with(folder).run().summary.status is Status.FAILED
    assert testbeds.jobs == []
    # The whole job is not: only what failed, and what was skipped for want of it.
    assert gone_on_with(folder, retry_failed=True).run().summary.status is Status.PASSED
    again = read_campaign_summary(folder)
    job, drift = testbeds.jobs
    # The other's latency too, whose load lacked the failed rate: it is compared at the same load.
    other = next(one.place for one in before.findings if one.place.endswith("/64B/1way/1flows/latency") and one.result)
    assert (job.testbed, job.frames, job.retry) == ("quick", "64B/1way/1flows", [failed, other])
    assert rates(again.findings, failed) == rates(before.findings, failed)
    loads = {one.result["load_fps"] for one in again.findings if one.place in (skipped, other)}
    assert len(loads) == 1
    assert places(again.findings, "done") == [finding.place for finding in again.findings]
    # The campaign's first rate is another one now, and the machine's change is told by that.
    assert (drift.again.place, again.drift.place) == (f"{failed}/again", failed)
    # Nothing is lost, even if it is of no use.
    journal = read_journal(folder / JOURNAL)
    assert all(trial in journal for trial in trials)
    assert len(journal) == again.trials.total > len(trials)
    # It is over.
    testbeds.jobs.clear()
    assert gone_on_with(folder).run().summary.status is Status.PASSED
    assert testbeds.jobs == []
    assert read_journal(folder / JOURNAL) == journal
    with pytest.raises(ResultsError, match="has failed: omit --retry-failed"):
        gone_on_with(folder, retry_failed=True)


def test_the_output_of_both_attempts_is_kept(tmp_path: Path, lab: Callable[[Testbeds], None]) -> None:
    machine = first_of_all()

    def equipment(*_: Any) -> Equipment:
        made = machine.equipment()

        def start(scenario: Scenario, device: str, directions: int, raw: Path) -> Tape:
            (raw / f"{device}.stdout").write_text("busy" if machine.busy else "idle")
            return made.start(scenario, device, directions, raw)

        return replace(made, start=start)

    lab(Testbeds(make=equipment))
    folder = begun(tmp_path).run().folder
    machine.busy = False
    gone_on_with(folder, retry_failed=True).run()
    raw = folder / "raw" / "quick"
    own = f"64B-1way-1flows/{FIRST}.stdout"
    assert ((raw / own).read_text(), (raw / own.replace("/", "-2/")).read_text()) == ("busy", "idle")


@pytest.mark.parametrize("lost", [False, True])
def test_no_other_testbed_measures_what_failed(tmp_path: Path, lab: Callable[[Testbeds], None], lost: bool) -> None:
    """Those that are compared are from the same one."""
    machine = first_of_all()
    lab(Testbeds(make=machine.equipment))
    folder = begun(tmp_path).run().folder
    before = read_campaign_summary(folder)
    machine.busy = False
    testbeds = Testbeds(lost=("quick",), make=machine.equipment)
    if not lost:
        testbeds.alive = ["slow"]
    lab(testbeds)
    told = console()
    campaign = SpreadCampaign.resume(folder, read_campaign_settings(folder), EQUIPMENT, told, retry_failed=True).run()
    assert campaign.summary.status is Status.FAILED
    assert [job.testbed for job in testbeds.jobs] == (["quick"] if lost else [])
    text = told.file.getvalue()
    assert ("quick is gone: 64B/1way/1flows is as it was" in text) is lost
    assert "64B/1way/1flows: what has failed stays so: testbed 'quick', which has the rest of it, is not there" in text
    assert read_campaign_summary(folder).findings == before.findings
    # When it is there again, it can be asked again.
    lab(Testbeds(make=machine.equipment))
    assert gone_on_with(folder, retry_failed=True).run().summary.status is Status.PASSED


def test_what_fails_once_more_stays_as_it_was(tmp_path: Path, lab: Callable[[Testbeds], None]) -> None:
    machine = first_of_all()
    lab(Testbeds(make=machine.equipment))
    folder = begun(tmp_path).run().folder
    trials = read_journal(folder / JOURNAL)
    assert gone_on_with(folder, retry_failed=True).run().summary.status is Status.FAILED
    # Each time its attempts are kept.
    assert len(read_journal(folder / JOURNAL)) > len(trials)
    machine.busy = False
    assert gone_on_with(folder, retry_failed=True).run().summary.status is Status.PASSED


# In the third run of the second block, B's, no trial at 512 bytes counts: one of 7 blocks of 6 runs each.
BROKEN = 6 + 3


def compared(**told: Any) -> ComparisonSettings:
    told = {"a": "one", "b": "two", "sizes": (64, 512), "blocks": 7} | told
    return ComparisonSettings(command="a test", scenario=SCENARIO, compare=CompareSettings(**told))


def verdicts(found: ComparisonVerdict) -> dict[int, Verdict]:
    return {one.size: one.verdict for one in found.comparison.verdicts}


def test_a_block_that_is_not_whole_is_measured_again_as_a_whole(tmp_path: Path) -> None:
    machine = Busy(lambda number, _, size: (number, size) == (BROKEN, 512))
    run = ComparisonRun.create(tmp_path, compared(), TEXT, machine.equipment())
    found = run.run(console())
    (failure,) = found.comparison.failures
    assert failure.place.startswith("block2/turn3-")
    assert (found.status, machine.starts) == (Status.PASSED, 7 * 6)
    trials = read_journal(run.folder / JOURNAL)
    again = ComparisonRun.resume(run.folder, machine.equipment(), retry_failed=True).run(console())
    assert again.comparison.failures == []
    # Its six dut_runs, and at that size only.
    assert machine.starts == 7 * 6 + 6
    journal = read_journal(run.folder / JOURNAL)
    assert journal[: len(trials)] == trials
    dut_runs = dict.fromkeys(place.rpartition("/")[0] for place, _ in trials if place.startswith("block2/"))
    mine = [dut_run for dut_run in dut_runs if dut_run.endswith("/512B")]
    assert [place.rpartition("/")[0] for place, _ in journal[len(trials) :]] == mine
    assert verdicts(again) == {64: Verdict.FASTER, 512: Verdict.EQUIVALENT}
    assert again.comparison.verdicts[1].ratio != found.comparison.verdicts[1].ratio
    with pytest.raises(ResultsError, match="has failed: omit --retry-failed"):
        ComparisonRun.resume(run.folder, machine.equipment(), retry_failed=True)


def test_a_comparison_without_a_verdict_goes_on_first(tmp_path: Path) -> None:
    run = ComparisonRun.create(tmp_path, compared(), TEXT, EQUIPMENT)
    run.close()
    with pytest.raises(ResultsError, match="has no verdict yet: resume it first, without --retry-failed"):
        ComparisonRun.resume(run.folder, EQUIPMENT, retry_failed=True)


def test_a_spread_comparison_measures_a_block_again_where_it_was(
    tmp_path: Path, lab: Callable[[Testbeds], None]
) -> None:
    # Size by size: first all runs at 64 bytes, on one testbed, then those at 512, on the other.
    machine = Busy(lambda number, _, size: (number, size) == (7 * 6 + BROKEN, 512))
    lab(Testbeds(make=machine.equipment))
    begun = ComparisonRun.create(tmp_path, compared(), TEXT, EQUIPMENT)
    found = SpreadComparison.create(begun, INVENTORY, EQUIPMENT, console()).run()
    (failure,) = found.comparison.failures
    assert (failure.size, failure.place.rpartition("-")[0].rpartition("-")[0]) == (512, "block2/turn3")
    assert machine.starts == 2 * 7 * 6
    testbeds = Testbeds(make=machine.equipment)
    lab(testbeds)
    settings = read_comparison_settings(begun.folder)
    again = SpreadComparison.resume(begun.folder, settings, EQUIPMENT, console(), retry_failed=True).run()
    (job,) = testbeds.jobs
    assert (job.testbed, job.frames, len(job.retry)) == ("slow", "512B/1way/1flows", 6)
    assert machine.starts == 2 * 7 * 6 + 6
    assert again.comparison.failures == []
    assert again.comparison.verdicts[0] == found.comparison.verdicts[0]
    assert again.testbeds == {64: "quick", 512: "slow"}


def test_the_command_line_says_how(tmp_path: Path) -> None:
    file = tmp_path / "retry.yaml"
    file.write_text(TEXT)
    words = ["compare", "--scenario", str(file), "--sizes", "64", "--blocks", "6", "--out", str(tmp_path / "out")]
    # Latency at more than the device forwards is no figure.
    done = CliRunner().invoke(app, [*words, "--figure", "latency", "--latency-share", "0.99"])
    (folder,) = (tmp_path / "out").iterdir()
    assert done.exit_code == 0, done.output
    assert f"To repeat the incomplete blocks: ./x testbed resume {folder} --retry-failed" in done.output
    before = len(read_journal(folder / JOURNAL))
    done = CliRunner().invoke(app, ["resume", str(folder), "--retry-failed"])
    assert done.exit_code == 0, done.output
    assert len(read_journal(folder / JOURNAL)) == 2 * before
