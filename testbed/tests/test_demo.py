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

from testbed.comparison.slices import block_ratio
from testbed.demo.summary import Summary, read_summary
from testbed.run.results_folder import Status

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
            # Without these tools acts c and e are skipped: the stand-ins cannot forward what real hosts send, and there
            # are none for services.
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
    run = demo("--seed=1", "--blocks=6", l2fwd_rs={"per_cpu_second": 2_000_000}).finish()
    assert run.process.returncode == 0, run.stdout + run.stderr
    summary = run.summary
    assert (summary.status, summary.reason) == (Status.PASSED, None)
    overload = summary.overload
    labels = ["l2fwd-rs", "l2fwd-c", "l2fwd-rs (again)"]
    assert overload.status is Status.PASSED
    assert [[each.label for each in block.runs] for block in overload.measurement.blocks] == [labels] * 6
    # On a busy machine a clock may be read too late to be of use.
    ratios = [block_ratio(block, "l2fwd-rs", "l2fwd-c", False) for block in overload.measurement.blocks]
    samples = [ratio for ratio in ratios if ratio is not None]
    assert [(pair.a, pair.b, pair.ratio.samples) for pair in overload.pairs] == [
        ("l2fwd-rs", "l2fwd-c", samples)
    ] * bool(samples)
    assert {(floor.a, floor.b) for floor in overload.noise_floor} <= {("l2fwd-rs", "l2fwd-rs (again)")}
    # A program that is not installed is named with the remedy.
    assert "install it" in overload.measurement.skipped["testpmd-mac"]
    assert "without testpmd-mac" in run.stdout
    wire = summary.wire
    assert [(trial.program, trial.valid) for trial in wire.trials] == [("l2fwd-c", True), ("l2fwd-rs", True)]
    # Bursts of 20 while loaded, though the whole run's average is 0.06.
    assert wire.trials[0].forwarder.rx_burst_avg == pytest.approx(20.0)
    assert wire.trials[0].drops.model_dump() == {
        "wire_to_forwarder": 0,
        "forwarder_short": 0,
        "forwarder_tx_queue": 300_000,
        "wire_to_generator": 0,
    }
    assert summary.hosts.status is Status.SKIPPED
    assert "not in PATH" in summary.hosts.reason or "root" in summary.hosts.reason
    assert [trial.identical for trial in summary.capture.trials] == [10, 10]
    assert summary.proxies.status is Status.SKIPPED
    assert "'ip' is not in PATH: install" in summary.proxies.reason
    assert run.page.count("&#39;ip&#39; is not in PATH") == run.stdout.count("'ip' is not in PATH") == 2
    # The last thing said is the verdict, and the page says the same.
    answers = [line for line in run.stdout.splitlines() if line.startswith("l2fwd-rs forwards ")]
    assert len(answers) == bool(samples)
    assert all(" times as much as l2fwd-c" in answer and answer in run.page for answer in answers)
    assert run.stdout.rstrip().endswith("report.html")
    assert "2.700" in run.page
    assert {"environment.json", "raw", "report.html", "summary.json"} == {p.name for p in run.folder.iterdir()}
    raw = {path.name for path in (run.folder / "raw").iterdir()}
    assert {"a-block1-l2fwd-c.stdout", "a-block6-l2fwd-rs-again.stdout"} <= raw
    assert {"b-l2fwd-c.stdout", "b-l2fwd-rs-generator.stdout", "d-l2fwd-c.pcap"} <= raw
    environment = json.loads((run.folder / "environment.json").read_text())
    assert [binary["version"] for binary in environment["binaries"]] == [
        f"{name} stand-in" for name in ("l2fwd-c", "l2fwd-rs", "generator")
    ]


def test_a_forwarder_that_dies_under_overload_is_named(demo):
    run = demo("--blocks=4", l2fwd_c={"die": "no mbufs left"}).finish()
    assert run.process.returncode == 1
    overload = run.summary.overload
    # Not four times the same.
    assert (overload.status, len(overload.measurement.blocks)) == (Status.FAILED, 2)
    assert "l2fwd: no mbufs left" in overload.reason
    assert overload.pairs == []
    assert "forwards" not in run.stdout.splitlines()[-3]
    # The other acts go on.
    assert [trial.valid for trial in run.summary.wire.trials] == [False, True]


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
def test_an_invalid_trial_is_named_and_shows_no_figures(demo, wishes, reason):
    run = demo("--blocks=1", **wishes).finish()
    assert run.process.returncode == 1
    summary = run.summary
    assert summary.status is Status.FAILED
    trial = next(trial for trial in summary.wire.trials if trial.program == "l2fwd-c")
    assert reason in "; ".join(trial.reasons)
    assert summary.wire.status is Status.FAILED
    assert summary.wire.reason.endswith("of 2 trials invalid")
    assert "invalid" in run.stdout
    assert reason.split(";")[0].replace("'", "&#39;") in run.page


@pytest.mark.parametrize(
    ("wish", "kind"), [({"lose_frame": 4}, "missing"), ({"change_frame": 4}, "changed")], ids=["lost", "changed"]
)
def test_a_capture_that_is_not_kept_whole_fails(demo, wish, kind):
    run = demo("--blocks=1", l2fwd_rs=wish).finish()
    assert run.process.returncode == 1
    c, rust = run.summary.capture.trials
    assert c.valid
    assert rust.reasons == [f"1 frame {kind}"]
    assert [(found.kind, found.frame) for found in rust.differences] == [(kind, 4)]
    assert f"frame 4, {kind}" in run.page


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_keeps_what_was_measured(demo, number):
    run = demo("--blocks=40")
    wait_for(lambda: run.out.exists() and any(run.out.glob("*/summary.json")) and len(_blocks(run)) >= 2)
    run.process.send_signal(number)
    run.finish()
    assert run.process.returncode == 130
    summary = run.summary
    assert summary.status is Status.INTERRUPTED
    assert 2 <= len(summary.overload.measurement.blocks) < 40
    assert summary.overload.status is Status.INTERRUPTED
    assert ("l2fwd-rs forwards " in run.page) is bool(summary.overload.pairs)
    assert summary.capture is None
    assert "Partial." in run.page
    assert "interrupted" in run.stdout


def test_a_killed_run_leaves_its_blocks_marked_partial(demo):
    run = demo("--blocks=40")
    wait_for(lambda: run.out.exists() and any(run.out.glob("*/summary.json")) and len(_blocks(run)) >= 1)
    run.process.kill()
    run.finish()
    assert run.summary.status is Status.INTERRUPTED
    assert len(_blocks(run)) >= 1


def _blocks(run: Run) -> list:
    overload = run.summary.overload
    return overload.measurement.blocks if overload and overload.measurement else []


@pytest.mark.parametrize(("name", "act"), [("generator", "wire"), ("l2fwd-rs", "overload")])
def test_without_a_program_its_act_is_skipped_and_the_demo_fails(demo, name: str, act: str):
    run = demo("--blocks=1", without=name).finish()
    assert run.process.returncode == 1
    skipped = getattr(run.summary, act)
    assert skipped.status is Status.SKIPPED
    assert f"no program '{name}'" in skipped.reason
    assert run.summary.capture.status is Status.PASSED


def test_bad_arguments_are_status_2(demo, tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a capture, whatever one may think of it")
    for arguments, message in (
        ([f"--pcap={text}"], "is not a capture"),
        (["--size=63"], "64"),
        (["--blocks=0"], "1"),
        (["--frobnicate"], "No such option"),
    ):
        run = demo(*arguments).finish()
        assert run.process.returncode == 2
        assert message in run.stderr
        assert not run.out.exists()
