# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What .ci/run makes of its stages: each runs whatever became of the others, and one sum is the last line.

The front door is a program that only answers with the tallies that a test gives it.
"""
# ruff: noqa: D103

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

CI = Path(__file__).parent
GREEN = "echo; echo '5 passed, 0 failed'"
TOLD = "trap 'echo keeps_order is running; kill $slow; exit 130' INT"
HANGS = f"{TOLD}; sleep 600 & slow=$!; [ ! -p begun ] || echo >begun; wait $slow"
RED = "echo; echo 'FAILED:  rust: keeps_order'; echo '4 passed, 1 failed'; exit 1"


@pytest.fixture
def run(tmp_path):
    def start(dpdk="22.11.11", user=0, lint=":", seconds=0, wait_s=60, interrupt_at=None, **stages):
        """Answers for `./x test` (here), `--dpdk 24.11` (lts24), `--dpdk 22.11` (lts22), `--dpdk newest` (newest).

        Ctrl-C comes as soon as somebody writes to the pipe `interrupt_at`.
        """
        programs = {
            "x": f"""case "$*" in
                setup) {stages.get("setup", ":")} ;;
                "setup --dpdk 24.11") {stages.get("prepare", ":")} ;;
                lint) {lint} ;;
                test) {stages.get("here", GREEN)} ;;
                "test --dpdk 24.11 --varying") {stages.get("lts24", "exit 9")} ;;
                "test --dpdk 22.11 --varying") {stages.get("lts22", "exit 9")} ;;
                "test --dpdk 24.11 --quick") {stages.get("lts24_quick", "exit 9")} ;;
                "test --no-hugepages --dpdk newest --quick") {stages.get("newest", GREEN)} ;;
                *) exit 9 ;;
            esac""",
            "bin/pkg-config": f"echo {dpdk}",
            "bin/id": f"echo {user}",
            "testbed/.venv/bin/python": f'exec {sys.executable} "$@"',
        }
        for name, shell in programs.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(f"#!/bin/sh\n{shell}\n")
            (tmp_path / name).chmod(0o755)
        (tmp_path / ".ci").mkdir(exist_ok=True)
        for name in ("run", "tally.py", "failures.py"):
            shutil.copy(CI / name, tmp_path / ".ci")
        script = tmp_path / ".ci/run"
        assert "NEWEST_AFTER=480\n" in script.read_text()
        script.write_text(script.read_text().replace("NEWEST_AFTER=480\n", f"NEWEST_AFTER={wait_s}\n"))
        with subprocess.Popen(
            ["bash", ".ci/run"],
            cwd=tmp_path,
            # bash goes on from the seconds that it finds.
            env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "SECONDS": str(seconds)},
            stdout=subprocess.PIPE,
            text=True,
            process_group=0,
        ) as running:
            try:
                if interrupt_at:
                    (tmp_path / interrupt_at).read_text()
                    os.killpg(running.pid, signal.SIGINT)
                stdout = running.communicate(timeout=300)[0]
            except BaseException:
                running.kill()
                raise
        return running.returncode, stdout.splitlines()

    return start


def test_the_last_line_is_the_sum_of_the_stages_that_count(run):
    assert run(lts24=GREEN)[0] == 0
    assert run(lts24=GREEN)[1][-1] == "12 passed, 0 failed"


def test_the_line_that_the_machine_has_not_is_tested_in_a_debian(run):
    for version in ("24.11.4", "25.11.2"):
        status, lines = run(dpdk=version, lts22=GREEN)
        assert (status, lines[-1]) == (0, "12 passed, 0 failed")


@pytest.mark.parametrize("stage", ["here", "lts24"])
def test_a_failure_is_named_with_its_stage_and_the_others_still_run(run, stage):
    status, lines = run(**({"lts24": GREEN} | {stage: RED}))
    assert (status, lines[-1]) == (1, "11 passed, 1 failed")
    name = "dpdk-22.11" if stage == "here" else "dpdk-24.11"
    assert f"FAILED:  {name}: rust: keeps_order" in lines
    assert sum(line.startswith("=== ") for line in lines) == 5


def test_complaints_of_lint_fail(run):
    status, lines = run(lint="exit 1", lts24=GREEN)
    assert (status, lines[-1]) == (1, "11 passed, 1 failed")
    assert "FAILED:  lint: exit status 1" in lines


def test_a_stage_that_ends_without_a_sum_fails(run):
    status, lines = run(lts24="echo 'x: error: no network' && exit 1")
    assert (status, lines[-1]) == (1, "7 passed, 1 failed")
    assert any(line.startswith("FAILED:  dpdk-24.11: ") and "no network" in line for line in lines)


def test_the_newest_is_shown_without_counting(run):
    status, lines = run(lts24=GREEN, newest=RED)
    assert (status, lines[-1]) == (0, "12 passed, 0 failed")
    assert "failed, but does not count: dpdk-newest: rust: keeps_order" in lines


def test_the_newest_runs_beside_the_others(run, tmp_path):
    os.mkfifo(tmp_path / "meeting")
    # Each waits at the pipe for the other.
    here = "timeout 60 sh -c 'echo >meeting' || exit 1; " + GREEN
    status, lines = run(here=here, newest="cat meeting; " + GREEN, lts24=GREEN)
    assert (status, lines[-1]) == (0, "12 passed, 0 failed")
    assert "dpdk-newest: 5 passed, 0 failed; this does not count" in lines


def test_the_other_line_is_prepared_beside_the_others_and_waited_for(run, tmp_path):
    os.mkfifo(tmp_path / "meeting")
    here = "timeout 60 sh -c 'echo >meeting' || exit 1; " + GREEN
    status, lines = run(
        here=here, prepare="cat meeting; sleep 1; touch ready", lts24=f"[ -e ready ] || exit 9; {GREEN}"
    )
    assert (status, lines[-1]) == (0, "12 passed, 0 failed")


def test_the_newest_is_ended_when_all_wait_for_it(run, tmp_path):
    status, lines = run(lts24=GREEN, newest="echo $$ >pid; exec sleep 600", wait_s=1)
    assert (status, lines[-1]) == (0, "12 passed, 0 failed")
    assert any(line.startswith("failed, but does not count: dpdk-newest: ") and "143" in line for line in lines)
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


def test_what_is_not_repeated_is_named(run):
    status, lines = run(lts24="echo; echo 'not repeated: packages'; echo '5 passed, 0 failed'")
    assert (status, lines[-1]) == (0, "12 passed, 0 failed")
    assert "not repeated: dpdk-24.11: packages" in lines


def test_a_stage_that_hangs_is_interrupted_and_says_how_far_it_came(run):
    status, lines = run(seconds=3595, here=HANGS, lts24_quick=GREEN)
    assert (status, lines[-1]) == (1, "7 passed, 1 failed")
    assert "keeps_order is running" in lines
    assert any(line.startswith("It was not done after ") for line in lines)


def test_ctrl_c_ends_the_run_and_what_runs_can_say_how_far_it_came(run, tmp_path):
    os.mkfifo(tmp_path / "begun")
    status, lines = run(interrupt_at="begun", here=HANGS)
    assert status == 130
    assert not any(line.startswith("=== dpdk-24.11") for line in lines)
    assert "keeps_order is running" in (tmp_path / "target/ci-record/dpdk-22.11.log").read_text()


def test_a_slow_machine_runs_what_is_quick(run):
    status, lines = run(seconds=3600, lts24_quick=GREEN)
    assert (status, lines[-1]) == (0, "12 passed, 0 failed")


def test_without_root_the_debian_is_skipped_with_the_reason(run):
    status, lines = run(user=1000)
    assert (status, lines[-1]) == (0, "7 passed, 0 failed, 1 skipped")
    assert "skipped: dpdk-24.11: making a Debian with debootstrap needs root" in lines
