# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Campaigns from the command line, on the simulated device: begun, killed, interrupted, out of space, resumed."""

from __future__ import annotations

import json
import random
import re
import resource
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from campaign_command import DEVICES, argv, environment, folder_in, run_testbed

from testbed.campaign.journal import read_journal
from testbed.campaign.scenario import Measurement
from testbed.campaign.summary import CampaignSummary, read_campaign_summary
from testbed.campaign.trial import line_rate_fps
from testbed.run.results_folder import Status

SCENARIO = f"name: cli\n{DEVICES}frames: {{sizes: [64, 512]}}\npreset: quick\n"


@pytest.fixture
def scenario(tmp_path: Path) -> Callable[[float], Path]:
    def write(pace: float = 0.0) -> Path:
        path = tmp_path / "cli.yaml"
        path.write_text(SCENARIO.replace("PACE", str(pace)))
        return path

    return write


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def compared(summary: CampaignSummary) -> object:
    return summary.status, summary.findings, summary.trials, summary.drift


def wait_for_trials(out: Path, count: int, process: subprocess.Popen) -> None:
    """Until the journal has so many lines, or the campaign has ended."""
    while process.poll() is None:
        journals = list(out.glob("*/journal.jsonl"))
        if journals and journals[0].read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.002)


def test_a_campaign_finds_what_the_models_have(scenario: Callable[..., Path], out: Path) -> None:
    done = run_testbed("rfc2544", "--scenario", scenario(), "--out", out)
    assert done.returncode == 0, done.stderr
    folder = folder_in(out)
    summary = read_campaign_summary(folder)
    assert summary.status is Status.PASSED
    assert len(summary.findings) == summary.planned == 22
    assert abs(summary.drift.change) < 0.04
    found = {(one.device, one.size, one.measurement): one.result for one in summary.findings}
    assert found["one", 64, Measurement.THROUGHPUT]["throughput_fps"] == pytest.approx(12.4e6, rel=0.04)
    assert found["two", 512, Measurement.THROUGHPUT]["throughput_fps"] == pytest.approx(4.9e6, rel=0.04)
    assert found["one", 64, Measurement.LATENCY]["average_ns"]["mean"] == pytest.approx(6000, rel=0.01)
    assert found["two", 64, Measurement.RECOVERY]["recovery_s"]["mean"] == 0.25
    resets = found["two", 64, Measurement.RESET]["times"]
    assert {time["kind"]: time["gap_s"]["mean"] for time in resets} == {"process": 1.5, "port": 0.4}
    assert found["one", 512, Measurement.FRAME_LOSS]["max_fps"] == line_rate_fps(512, 25e9)
    assert {one.grade for one in summary.findings} == {"non-compliant"}
    # Everything that was printed at the end is in the folder.
    assert (folder / "summary.md").read_text().strip() in done.stdout
    assert f"Report: {folder / 'report.html'}" in done.stdout
    assert "Throughput in bit/s, " in (folder / "report.html").read_text()
    assert (folder / "scenario.yaml").read_text() == SCENARIO.replace("PACE", "0.0")
    assert json.loads((folder / "campaign.json").read_text())["scenario"]["name"] == "cli"


def test_killed_at_random_moments_it_ends_as_if_undisturbed(scenario: Callable[..., Path], out: Path) -> None:
    file = scenario(pace=2e-4)
    assert run_testbed("rfc2544", "--scenario", file, "--out", out / "whole").returncode == 0
    chance = random.Random(7)
    words: list[object] = ["rfc2544", "--scenario", file, "--out", out / "killed"]
    lines = 0
    for _ in range(5):
        lines += chance.randrange(2, 20)
        process = subprocess.Popen(argv(*words), env=environment(), stdout=subprocess.DEVNULL)
        wait_for_trials(out / "killed", lines, process)
        process.kill()
        assert process.wait() in (-signal.SIGKILL, 0)
        words = ["resume", folder_in(out / "killed")]
    done = run_testbed(*words)
    assert done.returncode == 0, done.stderr
    whole, killed = folder_in(out / "whole"), folder_in(out / "killed")
    assert compared(read_campaign_summary(killed)) == compared(read_campaign_summary(whole))
    assert read_journal(killed / "journal.jsonl") == read_journal(whole / "journal.jsonl")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_the_results_and_says_how_to_go_on(
    scenario: Callable[..., Path], out: Path, number: signal.Signals
) -> None:
    # A simulated second takes a real one: the campaign is not over before it is interrupted.
    process = subprocess.Popen(
        argv("rfc2544", "--scenario", scenario(pace=1), "--out", out),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    # The head, the generators of both devices, a trial.
    wait_for_trials(out, 4, process)
    process.send_signal(number)
    text, errors = process.communicate()
    folder = folder_in(out)
    assert process.returncode == 130
    assert f"continue with ./x testbed resume {folder}" in errors
    assert "Traceback" not in errors + text
    summary = read_campaign_summary(folder)
    assert summary.status is Status.INTERRUPTED
    assert summary.trials.total == len(read_journal(folder / "journal.jsonl")) > 0
    assert "interrupted" in (folder / "summary.md").read_text()
    assert "<strong>Unfinished.</strong> interrupted" in (folder / "report.html").read_text()


def test_without_space_nothing_is_lost_and_it_goes_on(scenario: Callable[..., Path], out: Path) -> None:
    file = scenario()

    def little_space() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))

    done = run_testbed("rfc2544", "--scenario", file, "--out", out, preexec_fn=little_space)
    folder = folder_in(out)
    assert done.returncode == 1
    assert "File too large" in done.stderr
    assert f"./x testbed resume {folder}" in done.stderr
    assert f"no report: cannot write '{folder / 'report.html'}': File too large" in done.stderr
    assert not (folder / "report.html").exists()
    assert "Traceback" not in done.stderr
    before = read_journal(folder / "journal.jsonl")
    assert len(before) > 5
    again = run_testbed("resume", folder)
    assert again.returncode == 0, again.stderr
    assert read_journal(folder / "journal.jsonl")[: len(before)] == before
    assert "Unfinished" not in (folder / "report.html").read_text()


def test_overload_measures_the_forwarding_rate_alone(scenario: Callable[..., Path], out: Path) -> None:
    done = run_testbed("overload", "--scenario", scenario(), "--sizes", "512", "--device", "two", "--out", out)
    assert done.returncode == 0, done.stderr
    (finding,) = read_campaign_summary(folder_in(out)).findings
    assert finding.result["forwarded_fps"]["median"] == pytest.approx(4.9e6, rel=0.01)
    assert folder_in(out).name.startswith("overload-")


def test_a_plan_measures_nothing(scenario: Callable[..., Path], tmp_path: Path) -> None:
    done = run_testbed("plan", "--scenario", scenario(), "--test", "throughput", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "64, 512 bytes" in done.stdout
    assert "throughput, 4 times: about " in done.stdout
    assert "In all: about " in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["cli.yaml"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rfc2544", "--scenario", "none.yaml"], "cannot read 'none.yaml': No such file"),
        (["rfc2544", "--scenario", "cli.yaml", "--device", "three"], "no device 'three': choose from one, two"),
        (["rfc2544", "--scenario", "cli.yaml", "--preset", "fast"], "preset: .*'rehearsal', not 'fast'"),
        (["rfc2544", "--scenario", "cli.yaml", "--sizes", "64,63"], "frames.sizes.1: .*64 to 9216.*, not '63'"),
        (["overload", "--scenario", "cli.yaml", "--sizes", "huge"], "no set of frame sizes is called 'huge'"),
        (["plan", "--scenario", "cli.yaml", "--test", "jumps"], "tests.0: .*not 'jumps'"),
        (
            ["plan", "--scenario", "cli.yaml", "--reset", "jump"],
            "settings.reset.kinds.0: .*'port' or 'host', not 'jump'",
        ),
        (["resume", "."], "cannot read .*campaign.json.*give the folder of a campaign"),
    ],
)
def test_errors_name_the_value_and_the_remedy(
    scenario: Callable[..., Path], tmp_path: Path, words: list[str], message: str
) -> None:
    scenario()
    done = run_testbed(*words, cwd=tmp_path)
    assert done.returncode == 1
    assert not (tmp_path / "results").exists()
    assert "Traceback" not in done.stderr
    assert re.search(message, done.stderr), done.stderr


def test_a_running_campaign_is_not_resumed(scenario: Callable[..., Path], out: Path) -> None:
    process = subprocess.Popen(
        argv("rfc2544", "--scenario", scenario(pace=1), "--out", out), env=environment(), stdout=subprocess.DEVNULL
    )
    wait_for_trials(out, 2, process)
    done = run_testbed("resume", folder_in(out))
    process.kill()
    process.wait()
    assert done.returncode == 1
    assert "still running" in done.stderr
