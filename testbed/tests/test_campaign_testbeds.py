# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Campaigns over several testbeds: as one testbed alone, with one of them killed, cut off and gone on with."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from campaign_command import DEVICES, argv, environment, folder_in, run_testbed

from testbed.campaign.journal import JOURNAL, Head, Joined, Measured, as_text, read_entries, read_journal
from testbed.campaign.scenario_error import ScenarioError
from testbed.campaign.scenario_file import parse_scenario
from testbed.campaign.summary import CampaignSummary, read_campaign_summary
from testbed.campaign.testbeds.cluster import library_logs
from testbed.campaign.testbeds.inventory import Inventory, Testbed, read_inventory
from testbed.campaign.testbeds.job import Job, JobResult, run_job
from testbed.campaign.testbeds.merge import keep, kept, merged
from testbed.campaign.traffic_generator import Capabilities
from testbed.campaign.trial import TrialPlan, TrialResult
from testbed.run.results_folder import Status

PATIENCE_S = 120.0
SCENARIO = (
    f"name: spread\n{DEVICES}frames: {{sizes: [64, 128, 512, 1024]}}\ntests: [throughput, latency]\npreset: quick\n"
)
SIZES = 4


def scenario_file(folder: Path, pace: float = 0.0) -> Path:
    path = folder / "spread.yaml"
    path.write_text(SCENARIO.replace("PACE", str(pace)))
    return path


def inventory_file(folder: Path, *names: str) -> Path:
    path = folder / "lab.yaml"
    path.write_text("testbeds:\n" + "".join(f"  - name: {name}\n" for name in names))
    return path


def compared(summary: CampaignSummary) -> object:
    # Each testbed measures a rate again for its drift, which counts among the trials at that rate.
    counted = ("at_rate", "graded")
    findings = [
        (one.place, one.status, {name: value for name, value in (one.result or {}).items() if name not in counted})
        for one in summary.findings
    ]
    drift = summary.drift.model_copy(update={"testbed": None})
    return summary.status, findings, drift, summary.planned


def trials_of(folder: Path) -> list[tuple[str, object]]:
    """All trials but those of the drifts: for these, testbeds start the device anew, which is another chance."""
    return [one for one in read_journal(folder / JOURNAL) if not one[0].endswith("/again")]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one testbed finds."""
    folder = tmp_path_factory.mktemp("alone")
    done = run_testbed("rfc2544", "--scenario", scenario_file(folder), "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    return folder_in(folder / "out")


def same_as(alone: Path, folder: Path) -> None:
    """The findings, and each trial behind them."""
    assert compared(read_campaign_summary(folder)) == compared(read_campaign_summary(alone))
    assert trials_of(folder) == trials_of(alone)


def testbeds_of(folder: Path) -> dict[str, set[str]]:
    """Which testbeds have measured which frames, by the journal."""
    entries = read_entries((folder / JOURNAL).read_text(), JOURNAL)
    found: dict[str, set[str]] = {}
    for entry in entries:
        if isinstance(entry, Joined):
            place, _, testbed = entry.setup.partition("@")
            found.setdefault(place.partition("/")[2], set()).add(testbed)
    return found


testbeds_of.__test__ = False


class Run:
    """`./x testbed run`, or another command over testbeds, in a process of its own."""

    def __init__(self, folder: Path, pace: float, *names: str, command: tuple[str, ...] = ("run",)) -> None:
        words = [*command, "--inventory", inventory_file(folder, *names), "--scenario", scenario_file(folder, pace)]
        self.process = subprocess.Popen(
            argv(*words, "--out", folder / "out"),
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: list[str] = []

    def wait_for(self, part: str) -> str:
        for line in self.process.stdout:
            self.lines.append(line)
            if part in line:
                return line
        pytest.fail(f"ended without '{part}':\n{''.join(self.lines)}")

    def end(self) -> tuple[int, str]:
        rest, _ = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, "".join(self.lines) + rest

    def worker(self, name: str) -> int:
        """The process of a testbed's worker."""
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
                parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
                if "worker" in words and name in words and int(parent) == self.process.pid:
                    return int(entry.name)
        pytest.fail(f"no worker {name}")


@pytest.fixture
def spread(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    """Starts `run`, and ends what a failed test leaves."""
    runs: list[Run] = []

    def start(pace: float, *names: str, **more: tuple[str, ...]) -> Run:
        runs.append(Run(tmp_path, pace, *names, **more))
        return runs[-1]

    yield start
    for run in runs:
        if run.process.poll() is None:
            run.process.kill()
            run.process.wait()
        run.process.stdout.close()


def test_three_testbeds_find_what_one_does(alone: Path, tmp_path: Path) -> None:
    words = ["run", "--inventory", inventory_file(tmp_path, "left", "middle", "right")]
    done = run_testbed(*words, "--scenario", scenario_file(tmp_path), "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr + done.stdout
    # Dask has nothing to warn of.
    assert "distributed" not in done.stderr
    folder = folder_in(tmp_path / "out")
    same_as(alone, folder)
    # What is compared was measured on one testbed.
    assert len(testbeds_of(folder)) == SIZES
    assert all(len(testbeds) == 1 for testbeds in testbeds_of(folder).values())
    used = {testbed for testbeds in testbeds_of(folder).values() for testbed in testbeds}
    assert {path.name for path in folder.glob("environment-*.json")} == {f"environment-{name}.json" for name in used}
    settings = json.loads((folder / "campaign.json").read_text())
    assert {frames: {name} for frames, name in settings["testbeds"].items()} == testbeds_of(folder)
    # It is over: going on with it finds the same again.
    again = run_testbed("resume", folder)
    assert again.returncode == 0, again.stderr
    same_as(alone, folder)


def test_a_testbed_that_is_killed_leaves_its_part_to_another(
    alone: Path, tmp_path: Path, spread: Callable[..., Run]
) -> None:
    run = spread(0.02, "left", "right")
    line = run.wait_for("left: ")
    frames = line.split()[1]
    os.kill(run.worker("left"), signal.SIGKILL)
    status, text = run.end()
    assert status == 0, text
    assert f"left is gone: {frames} goes to another testbed if it does not come back" in text
    folder = folder_in(tmp_path / "out")
    assert set().union(*testbeds_of(folder).values()) == {"right"}
    same_as(alone, folder)


def test_a_comparison_outlives_a_testbed_that_is_killed(tmp_path: Path, spread: Callable[..., Run]) -> None:
    command = ("compare", "--a", "one", "--b", "two", "--sizes", "64,512", "--blocks", "7")
    run = spread(0.02, "left", "right", command=command)
    size = run.wait_for("left: ").split()[1]
    os.kill(run.worker("left"), signal.SIGKILL)
    status, text = run.end()
    assert status == 0, text
    assert f"left is gone: {size} goes to another testbed if it does not come back" in text
    assert "one is better than two at all sizes" in text
    folder = folder_in(tmp_path / "out")
    assert testbeds_of(folder) == {"1way/64B": {"right"}, "1way/512B": {"right"}}
    assert len(read_journal(folder / JOURNAL)) >= 2 * 7 * 6


def test_without_a_testbed_what_is_done_is_kept_and_gone_on_with(
    alone: Path, tmp_path: Path, spread: Callable[..., Run]
) -> None:
    run = spread(0.01, "only")
    run.wait_for("1way/1flows done")
    os.kill(run.worker("only"), signal.SIGKILL)
    status, text = run.end()
    folder = folder_in(tmp_path / "out")
    assert status == 1, text
    assert "no testbed is left for " in text
    assert f"continue with ./x testbed resume {folder}" in text
    assert "Traceback" not in text
    summary = read_campaign_summary(folder)
    assert summary.status is Status.FAILED
    assert 0 < len(summary.findings) < summary.planned
    done = run_testbed("resume", folder)
    assert done.returncode == 0, done.stderr + done.stdout
    same_as(alone, folder)


def test_an_interrupt_keeps_the_parts_that_are_done(alone: Path, tmp_path: Path, spread: Callable[..., Run]) -> None:
    run = spread(0.02, "left", "right")
    run.wait_for("1way/1flows done")
    run.process.send_signal(signal.SIGINT)
    status, text = run.end()
    folder = folder_in(tmp_path / "out")
    assert status == 130, text
    assert f"resume {folder}" in text
    assert "Traceback" not in text
    assert read_campaign_summary(folder).status is Status.INTERRUPTED
    before = read_journal(folder / JOURNAL)
    assert before
    assert run_testbed("resume", folder).returncode == 0
    same_as(alone, folder)
    assert [entry for entry in read_journal(folder / JOURNAL) if entry in before] == before


def test_what_the_library_says_is_kept_in_a_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    loggers = [logging.getLogger(name) for name in ("distributed.worker", "tornado.application")]
    with library_logs(tmp_path / "raw"):
        for logger in loggers:
            logger.error("inside")
    logged = (tmp_path / "raw" / "dask.log").read_text().splitlines()
    assert [line.split(" ", 2)[2] for line in logged] == [f"{logger.name} ERROR: inside" for logger in loggers]
    assert capfd.readouterr().err == ""
    # Afterwards it speaks where it did before.
    for logger in loggers:
        logger.error("outside")
    assert (tmp_path / "raw" / "dask.log").read_text().splitlines() == logged


def test_a_testbed_that_fails_is_given_nothing_more(tmp_path: Path) -> None:
    # The second testbed has no such program as its scenario says.
    (tmp_path / "lab.yaml").write_text(
        "testbeds:\n  - name: broken\n    generator: {kind: embedded}\n    devices:\n"
        + "".join(f"      - {{name: {name}, command: [no-such-program]}}\n" for name in ("one", "two"))
    )
    words = ["run", "--inventory", tmp_path / "lab.yaml", "--scenario", scenario_file(tmp_path)]
    done = run_testbed(*words, "--sizes", "64", "--out", tmp_path / "out", "--bin-dir", tmp_path)
    assert done.returncode == 1
    assert "broken: 64B/1way/1flows: device 'one': cannot execute 'no-such-program'" in done.stdout
    assert "no testbed is left for 64B/1way/1flows (broken: device 'one'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "lab.yaml:1: an inventory is a mapping with testbeds"),
        ("testbeds: []\n", "lab.yaml:1: testbeds: .*at least 1"),
        ("testbeds:\n  - name: a\n  - name: a\n", "lab.yaml:1: two testbeds have the name 'a'"),
        ("testbeds:\n  - name: a b\n", "lab.yaml:2: testbeds.0: name 'a b': use letters"),
        ("testbeds:\n  - name: a\n    cores: 3\n", "lab.yaml:3: testbeds.0.cores: is not known"),
    ],
)
def test_errors_of_an_inventory_name_the_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "lab.yaml").write_text(text)
    with pytest.raises(ScenarioError, match=message):
        read_inventory(tmp_path / "lab.yaml")


def test_an_inventory_with_an_error_makes_no_folder(tmp_path: Path) -> None:
    (tmp_path / "lab.yaml").write_text("testbeds: [{name: a, generator: {kind: embeded}}]\n")
    words = ["run", "--inventory", tmp_path / "lab.yaml", "--scenario", scenario_file(tmp_path)]
    done = run_testbed(*words, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "testbed 'a': generator: " in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_scheduler_that_is_not_there_is_an_error() -> None:
    address = "tcp://127.0.0.1:1"
    done = run_testbed("worker", "--scheduler", address, "--name", "a", "--wait", 0.5, timeout=PATIENCE_S)
    assert done.returncode == 1
    assert "cannot work for the scheduler at tcp://127.0.0.1:1" in done.stderr
    assert "Traceback" not in done.stderr.splitlines()[-1]


def test_a_testbed_has_its_own_generator_and_devices() -> None:
    scenario = parse_scenario(
        "name: s\ngenerator: {kind: embedded}\ndevices: [{name: l2fwd-c}, {name: l2fwd-rs}]\n", "s.yaml"
    )
    testbed = Testbed.model_validate(
        {
            "name": "lab1",
            "generator": {"kind": "embedded", "lcore": 4, "forwarder_lcore": 5},
            "devices": [{"name": "l2fwd-rs", "host": {"name": "dut1"}}],
        }
    )
    mine = testbed.scenario(scenario)
    assert mine.generator.lcore == 4
    # In the scenario's order.
    assert [(device.name, device.host and device.host.name) for device in mine.devices] == [
        ("l2fwd-c", None),
        ("l2fwd-rs", "dut1"),
    ]
    assert Testbed(name="plain").scenario(scenario) == scenario
    strange = Testbed.model_validate({"name": "lab2", "devices": [{"name": "other", "program": "l2fwd-c"}]})
    with pytest.raises(ScenarioError, match="testbed 'lab2': the scenario has no device 'other': choose from l2fwd-c"):
        strange.scenario(scenario)
    assert Inventory(testbeds=[testbed]).model_validate_json(Inventory(testbeds=[testbed]).model_dump_json())


def journal_of(testbed: str, *places: str) -> str:
    limits = Capabilities(generator="g", version="1")
    result = TrialResult(
        plan=TrialPlan(size=64, load_fps=1, duration_s=1), sent=1, received=1, lost=0, offered_fps=1, duration_s=1
    )
    now = datetime.now(UTC)
    lines = [Head(campaign="c", begun=now), Joined(setup=f"setup@{testbed}", capabilities=limits)]
    lines += [Measured(number=1, place=place, ended=now, result=result) for place in places]
    return as_text(lines)


def test_journals_are_put_one_behind_the_other() -> None:
    results = {
        "64B": JobResult(testbed="a", frames="64B", journal=journal_of("a", "x", "y")),
        "again": JobResult(testbed="a", frames="64B", journal=journal_of("a", "x/again")),
        "128B": JobResult(testbed="b", frames="128B", journal=journal_of("b", "z")),
    }
    entries = read_entries(merged("campaign", datetime.now(UTC), results), "merged")
    assert isinstance(entries[0], Head)
    assert entries[0].campaign == "campaign"
    assert [entry.setup for entry in entries if isinstance(entry, Joined)] == ["setup@a", "setup@b"]
    trials = [entry for entry in entries if isinstance(entry, Measured)]
    assert [(entry.number, entry.place) for entry in trials] == [(1, "x"), (2, "y"), (3, "x/again"), (4, "z")]


def test_what_comes_over_the_network_does_not_choose_where_it_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    (folder / "raw").mkdir(parents=True)
    logs = {"one-1/a.stdout": "fine", "../../../escaped": "bad", "/etc/escaped": "bad"}
    keep(folder, "64B/1way/1flows", JobResult(testbed="a", frames="64B/1way/1flows", logs=logs))
    assert (folder / "raw/a/64B-1way-1flows/one-1/a.stdout").read_text() == "fine"
    assert not list(tmp_path.rglob("*escaped"))
    assert kept(folder, "64B/1way/1flows").testbed == "a"
    assert kept(folder, "128B/1way/1flows") is None


def test_other_programs_than_the_campaigns_are_refused(tmp_path: Path) -> None:
    scenario = parse_scenario(SCENARIO.replace("PACE", "0"), "s.yaml")
    job = Job(campaign="c", testbed="a", scenario=scenario, frames="64B/1way/1flows", programs={"l2fwd-c": "00"})
    assert "testbed 'a': l2fwd-c differs from the campaign's" in run_job(job, [tmp_path]).error


def test_a_worker_ends_with_its_controller(tmp_path: Path, spread: Callable[..., Run]) -> None:
    run = spread(1, "only")
    run.wait_for("only: ")
    worker = run.worker("only")
    run.process.kill()
    run.process.wait()
    deadline = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{worker}").exists() and Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2][1] != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.05)
