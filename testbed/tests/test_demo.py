# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The demo command with programs that stand in for the real ones: what it does when they misbehave."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import stand_in
from test_frames import ORIGINALS, write

from testbed.results import Status, Summary, read_summary

PACKAGE = str(Path(__file__).resolve().parents[1])
PATIENCE_S = 60.0


class Run:
    """One demo as a command of its own."""

    def __init__(self, tmp_path: Path, arguments: list[str], wishes: dict, bin_dir: Path) -> None:
        self.out = tmp_path / "results"
        capture = write(tmp_path / "given.pcap", ORIGINALS)
        argv = [sys.executable, "-m", "testbed", "demo", "--seconds=1", f"--pcap={capture}", "--no-hugepages"]
        argv += [f"--out={self.out}", f"--bin-dir={bin_dir}", *arguments]
        environment = {
            **os.environ,
            "PYTHONPATH": PACKAGE,
            "STAND_IN": json.dumps(wishes),
            # Without these tools act b is skipped: the stand-ins cannot forward what real hosts send.
            "PATH": _path_without_tools(tmp_path),
        }
        self.process = subprocess.Popen(
            argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
        )

    def finish(self) -> Run:
        self.stdout, self.stderr = self.process.communicate(timeout=PATIENCE_S)
        return self

    @property
    def folder(self) -> Path:
        (folder,) = self.out.iterdir()
        return folder

    @property
    def summary(self) -> Summary:
        return read_summary(self.folder)

    @property
    def page(self) -> str:
        return (self.folder / "report.html").read_text()


def _path_without_tools(tmp_path: Path) -> str:
    kept = tmp_path / "bin-kept"
    if not kept.exists():
        kept.mkdir()
        (kept / "setpriv").symlink_to("/usr/bin/setpriv")
    return str(kept)


@pytest.fixture
def demo(tmp_path: Path):
    runs: list[Run] = []
    bin_dir = stand_in.install(tmp_path / "bin")

    def start(*arguments: str, without: str | None = None, **wishes: dict) -> Run:
        if without:
            (bin_dir / without).unlink()
        runs.append(Run(tmp_path, list(arguments), {k.replace("_", "-"): v for k, v in wishes.items()}, bin_dir))
        return runs[-1]

    yield start
    for run in runs:
        if run.process.poll() is None:
            run.process.kill()
            run.process.communicate()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_good_run(demo):
    run = demo("--seed=1", l2fwd_rs={"tx": 2_800_000}).finish()
    assert run.process.returncode == 0, run.stdout + run.stderr
    summary = run.summary
    assert (summary.status, summary.reason) == (Status.PASSED, None)
    overload = summary.overload
    assert [trial.valid for trial in overload.trials] == [True] * 6
    assert sorted((trial.round, trial.program) for trial in overload.trials) == [
        (number, name) for number in (1, 2, 3) for name in ("l2fwd-c", "l2fwd-rs")
    ]
    # The second round turns the first one's order round.
    order = [trial.program for trial in overload.trials]
    assert order[:2] == order[2:4][::-1]
    assert overload.ratio.ratios == pytest.approx([2.8 / 2.7] * 3)
    assert [row.forwarder_tx.median for row in overload.rows] == [2_700_000, 2_800_000]
    assert overload.rows[0].forwarder_drops.median == 300_000
    # Bursts of 20 while loaded, though the whole run's average is 0.06.
    assert overload.rows[0].rx_burst_avg.median == pytest.approx(20.0)
    assert overload.trials[0].drops.wire_to_forwarder == 0
    assert summary.hosts.status is Status.SKIPPED
    assert "not in PATH" in summary.hosts.reason or "root" in summary.hosts.reason
    assert [trial.identical for trial in summary.capture.trials] == [10, 10]
    assert "Rust forwarded 1.037 times the frames that C did" in run.stdout
    assert run.stdout.rstrip().endswith("report.html")
    assert "2.700" in run.page
    assert {"environment.json", "raw", "report.html", "summary.json"} == {p.name for p in run.folder.iterdir()}
    raw = {path.name for path in (run.folder / "raw").iterdir()}
    assert {"a-round1-l2fwd-c.stdout", "a-round3-l2fwd-rs-generator.stdout", "c-l2fwd-c.pcap"} <= raw
    environment = json.loads((run.folder / "environment.json").read_text())
    assert [binary["version"] for binary in environment["binaries"]] == [
        f"{name} stand-in" for name in ("l2fwd-c", "l2fwd-rs", "generator")
    ]


@pytest.mark.parametrize(
    ("wishes", "reason"),
    [
        ({"generator": {"corrupted": 3}}, "3 frames came back corrupted"),
        ({"l2fwd_c": {"balanced": False}}, "the forwarder's counters do not balance"),
        ({"l2fwd_c": {"status": 1}}, "ended with status 1"),
        ({"l2fwd_c": {"silent_end": True}}, "ended without its final statistics"),
        ({"l2fwd_c": {"die": "no Ethernet ports: bind one"}}, "l2fwd: no Ethernet ports: bind one"),
    ],
)
def test_an_invalid_round_is_named_and_counts_nowhere(demo, wishes, reason):
    run = demo("--rounds=1", **wishes).finish()
    assert run.process.returncode == 1
    summary = run.summary
    assert summary.status is Status.FAILED
    trial = next(trial for trial in summary.overload.trials if trial.program == "l2fwd-c")
    assert reason in "; ".join(trial.reasons)
    assert "l2fwd-c" not in [row.program for row in summary.overload.rows]
    assert summary.overload.ratio is None
    assert "invalid" in run.stdout
    assert reason.split(";")[0].replace("'", "&#39;") in run.page


def test_a_round_without_load_enough_says_so(demo):
    run = demo("--rounds=1", l2fwd_c={"empty": 60_000}).finish()
    assert run.process.returncode == 0
    (trial,) = [trial for trial in run.summary.overload.trials if trial.program == "l2fwd-c"]
    assert trial.forwarder.empty_poll_share == pytest.approx(0.5)
    assert "not overloaded: more than 5 % of its polls found nothing" in "; ".join(trial.notes)
    assert "not overloaded" in run.page


@pytest.mark.parametrize(
    ("wish", "kind"), [({"lose_frame": 4}, "missing"), ({"change_frame": 4}, "changed")], ids=["lost", "changed"]
)
def test_a_capture_that_is_not_kept_whole_fails(demo, wish, kind):
    run = demo("--rounds=1", l2fwd_rs=wish).finish()
    assert run.process.returncode == 1
    c, rust = run.summary.capture.trials
    assert c.valid
    assert rust.reasons == [f"1 frame {kind}"]
    assert [(found.kind, found.frame) for found in rust.differences] == [(kind, 4)]
    assert f"frame 4, {kind}" in run.page


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_was_measured(demo, number):
    run = demo("--rounds=40", generator={"takes": 0.5})
    wait_for(lambda: run.out.exists() and any(run.out.glob("*/summary.json")) and len(_trials(run)) >= 3)
    run.process.send_signal(number)
    run.finish()
    assert run.process.returncode == 130
    summary = run.summary
    assert summary.status is Status.INTERRUPTED
    assert 3 <= len(summary.overload.trials) < 80
    assert summary.overload.status is Status.INTERRUPTED
    assert summary.overload.ratio is not None
    assert summary.capture is None
    assert "Partial." in run.page
    assert "interrupted" in run.stdout


def test_a_killed_run_leaves_its_trials_marked_partial(demo):
    run = demo("--rounds=40", generator={"takes": 0.2})
    wait_for(lambda: run.out.exists() and any(run.out.glob("*/summary.json")) and len(_trials(run)) >= 1)
    run.process.kill()
    run.finish()
    assert run.summary.status is Status.INTERRUPTED
    assert len(run.summary.overload.trials) >= 1


def _trials(run: Run) -> list:
    return run.summary.overload.trials if run.summary.overload else []


def test_without_the_generator_act_a_is_skipped_and_the_demo_fails(demo):
    run = demo(without="generator").finish()
    assert run.process.returncode == 1
    assert run.summary.overload.status is Status.SKIPPED
    assert "no program 'generator'" in run.summary.overload.reason
    assert run.summary.capture.status is Status.PASSED


def test_bad_arguments_are_status_2(demo, tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a capture, whatever one may think of it")
    for arguments, message in (
        ([f"--pcap={text}"], "is not a capture"),
        (["--size=63"], "64"),
        (["--rounds=0"], "1"),
        (["--frobnicate"], "No such option"),
    ):
        run = demo(*arguments).finish()
        assert run.process.returncode == 2
        assert message in run.stderr
        assert not run.out.exists()
