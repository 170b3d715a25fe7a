# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Comparisons over several testbeds, whose workers are functions here: no pair is ever split over two of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
from campaign_folders import EQUIPMENT, console
from campaign_lab import Testbeds

from testbed.campaign.compare.run import ComparisonRun, plan_lines
from testbed.campaign.compare.schedule import CompareSettings, Side
from testbed.campaign.compare.settings import ComparisonSettings
from testbed.campaign.compare.verdict_file import ComparisonVerdict
from testbed.campaign.journal import JOURNAL, Joined, read_entries, read_journal
from testbed.campaign.report.document import write_report
from testbed.campaign.scenario_file import parse_scenario
from testbed.campaign.testbeds import dispatch
from testbed.campaign.testbeds.comparison import SpreadComparison
from testbed.campaign.testbeds.inventory import Inventory
from testbed.campaign.testbeds.job import Job
from testbed.comparison.pair_verdict import Verdict
from testbed.run.results_folder import Status

TEXT = """\
name: spread
generator: {kind: simulated}
devices:
  - name: one
    model: &one {throughput_fps: {64: 12.4e+6, 128: 11.0e+6, 512: 5.1e+6}, seed: 3, noise: 0.003}
  - name: two
    model: {<<: *one, throughput_fps: {64: 11.8e+6, 128: 11.6e+6, 512: 5.1e+6}, seed: 4}
frames: {sizes: [64, 128, 512]}
preset: quick
"""
# The second one has devices that forward a quarter of that, in the same relations.
SLOW = """\
devices:
  - name: one
    model: &one {throughput_fps: {64: 3.1e+6, 128: 2.75e+6, 512: 1.275e+6}, seed: 3, noise: 0.003}
  - name: two
    model: {<<: *one, throughput_fps: {64: 2.95e+6, 128: 2.9e+6, 512: 1.275e+6}, seed: 4}
"""
EXPECTED = {64: Verdict.FASTER, 128: Verdict.SLOWER, 512: Verdict.EQUIVALENT}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Path, ComparisonVerdict]]:
    """Runs a comparison, or goes on with that of a folder."""
    slow = parse_scenario(TEXT.replace(TEXT[TEXT.index("devices:") : TEXT.index("frames:")], SLOW), "slow.yaml")
    devices = [device.model_dump() for device in slow.devices]
    inventory = Inventory.model_validate({"testbeds": [{"name": "quick"}, {"name": "slow", "devices": devices}]})

    def run(testbeds: Testbeds, folder: Path | None = None) -> tuple[Path, ComparisonVerdict]:
        @contextlib.contextmanager
        def cluster(*_: object) -> Iterator[Testbeds]:
            yield testbeds

        monkeypatch.setattr(dispatch, "cluster", cluster)
        if folder is None:
            told = CompareSettings(a="one", b="two", sizes=(64, 128, 512), blocks=7)
            settings = ComparisonSettings(command="a test", scenario=parse_scenario(TEXT, "s.yaml"), compare=told)
            begun = ComparisonRun.create(tmp_path, settings, TEXT, EQUIPMENT)
            made = SpreadComparison.create(begun, inventory, EQUIPMENT, console())
        else:
            settings = ComparisonSettings.model_validate_json((folder / "comparison.json").read_text())
            made = SpreadComparison.resume(folder, settings, EQUIPMENT, console())
        return made.folder, made.run()

    return run


def verdicts(found: ComparisonVerdict) -> dict[int, Verdict]:
    return {one.size: one.verdict for one in found.comparison.verdicts}


def test_a_size_with_all_its_pairs_is_measured_on_one_testbed(
    run: Callable[..., tuple[Path, ComparisonVerdict]],
) -> None:
    testbeds = Testbeds()
    folder, found = run(testbeds)
    assert found.status is Status.PASSED
    assert verdicts(found) == EXPECTED
    assert not found.comparison.unfair
    assert found.testbeds == {64: "quick", 128: "slow", 512: "quick"}
    assert [job.testbed for job in testbeds.jobs] == ["quick", "slow", "quick"]
    setups = [one.setup for one in read_entries((folder / JOURNAL).read_text(), JOURNAL) if isinstance(one, Joined)]
    assert setups == ["both/1way/64B@quick", "both/1way/128B@slow", "both/1way/512B@quick"]
    # Loads tell the testbeds apart: all runs of a size got the same, on both sides, of both devices.
    for size in EXPECTED:
        mine = [(place, result) for place, result in read_journal(folder / JOURNAL) if f"/{size}B/" in place]
        assert len(mine) == 7 * 6
        assert len({result.plan.load_fps for _, result in mine}) == 1
        assert {place.split("-")[1] for place, _ in mine} == {*Side}
    text = (folder / "verdict.md").read_text()
    assert "| slower | slow |" in text
    assert {path.name for path in folder.glob("environment-*")} == {"environment-quick.json", "environment-slow.json"}
    assert "Testbed" in write_report(folder).read_text()


def test_what_a_lost_testbed_had_goes_to_another(run: Callable[..., tuple[Path, ComparisonVerdict]]) -> None:
    _, found = run(Testbeds(lost=("quick",)))
    assert found.status is Status.PASSED
    assert set(found.testbeds.values()) == {"slow"}
    assert verdicts(found) == EXPECTED


def test_without_any_testbed_what_is_done_is_kept_and_gone_on_with(
    run: Callable[..., tuple[Path, ComparisonVerdict]],
) -> None:
    first = Testbeds(lost=("slow",))
    first.alive = ["slow"]
    folder, found = run(first)
    assert found.status is Status.FAILED
    assert found.comparison is None
    assert "no testbed is left for 64B/1way/1flows, 128B/1way/1flows, 512B/1way/1flows" in found.reason
    assert f"./x testbed resume {folder}" in found.reason
    # One size more at each attempt.
    for number in (1, 2):
        dying = Testbeds()
        dying.alive = ["quick"]
        submit = dying.submit

        def once(job: Job, address: str, submit=submit, dying=dying) -> Future:
            future = submit(job, address)
            dying.alive.clear()
            return future

        dying.submit = once
        _, found = run(dying, folder)
        assert found.comparison is None
        assert len(found.testbeds) == number
    last = Testbeds()
    _, found = run(last, folder)
    assert found.status is Status.PASSED
    assert [job.frames for job in last.jobs] == ["512B/1way/1flows"]
    assert verdicts(found) == EXPECTED


def test_the_plan_counts_a_start_for_each_size(tmp_path: Path) -> None:
    told = CompareSettings(a="one", b="two", sizes=(64, 128, 512), blocks=7)
    settings = ComparisonSettings(command="a test", scenario=parse_scenario(TEXT, "s.yaml"), compare=told)
    assert "7 blocks: 42 starts, 126 measurements, " in plan_lines(settings, EQUIPMENT)[-1]
    assert "7 blocks: 126 starts, 126 measurements, " in plan_lines(settings, EQUIPMENT, spread=True)[-1]
