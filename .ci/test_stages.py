# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What becomes of stages: each runs whatever became of the others, and one sum is the last line."""
# ruff: noqa: D103

import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CI = Path(__file__).parent
sys.path.insert(0, str(CI))

import machine_state  # noqa: E402
import suites  # noqa: E402
from stages import Stage  # noqa: E402

# Runs lanes of stages from its arguments, `name:kind:needs:until_s:shell` each, `--` between lanes, in a folder.
PROGRAM = """
import os, sys
sys.path.insert(0, {ci!r})
import stages
from pathlib import Path
stages.TREE = Path.cwd()
(Path.cwd() / ".ci").exists() or os.symlink({ci!r}, ".ci")
lanes, quiet = [[]], "quiet" in os.environ
for word in sys.argv[1:]:
    if word == "--":
        lanes.append([])
        continue
    name, kind, needs, until, shell = word.split(":", 4)
    command = ("sh", "-c", shell)
    lanes[-1].append(stages.Stage(name, kind, command, needs=needs or None, until_s=float(until) if until else None))
record = stages.Record(Path.cwd() / "record", quiet=quiet, resume="resume" in os.environ or None)
record.run(*lanes)
sys.exit(record.sum([stage for lane in lanes for stage in lane]))
"""
GREEN = "echo; echo '5 passed, 0 failed'"
RED = "echo; echo 'FAILED:  rust: keeps_order'; echo '4 passed, 1 failed'; exit 1"
HANGS = "trap 'echo keeps_order is running; kill $slow; exit 130' INT; sleep 600 & slow=$!; wait $slow"


def start(folder, *words, **environment):
    program = PROGRAM.format(ci=str(CI))
    return subprocess.Popen(
        [sys.executable, "-c", program, *words],
        cwd=folder,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(folder, *words, **environment):
    with start(folder, *words, **environment) as running:
        lines = running.communicate(timeout=120)[0].splitlines()
    return running.returncode, lines


def test_a_failure_ends_nothing_and_the_last_line_is_the_sum(tmp_path):
    status, lines = run(
        tmp_path, "build:step:::echo no compiler; exit 3", f"here:tally:::{RED}", f"there:tally:::{GREEN}"
    )
    assert (status, lines[-1]) == (1, "9 passed, 2 failed")
    assert {"FAILED:  build: exit status 3: no compiler", "FAILED:  here: rust: keeps_order"} <= set(lines)
    assert run(tmp_path, "build:step:::true", f"there:tally:::{GREEN}")[0] == 0


def test_output_is_shown_and_kept_unless_it_is_quiet(tmp_path):
    _, lines = run(tmp_path, "build:step:::echo said")
    assert "said" in lines
    assert (tmp_path / "record/build.log").read_text() == "said\n"
    status, lines = run(tmp_path, "build:step:::echo 'error: wrong'; seq 100; exit 1", quiet="1")
    assert (status, "It ended with exit status 1." in lines, "error: wrong" in lines) == (1, True, True)


def test_what_needs_another_runs_only_after_its_success(tmp_path):
    ready = "ready:step:::echo none here; exit 77"
    status, lines = run(tmp_path, ready, "tests:step:ready::touch ran")
    assert (status, lines[-1]) == (0, "0 passed, 0 failed, 1 skipped")
    assert "skipped: ready: none here" in lines
    assert not (tmp_path / "ran").exists()
    assert run(tmp_path, "ready:step:::true", "tests:step:ready::touch ran")[1][-1] == "2 passed, 0 failed"


def test_lanes_run_beside_each_other(tmp_path):
    os.mkfifo(tmp_path / "meeting")
    # Each waits at the pipe for the other.
    status, lines = run(tmp_path, "a:step:::timeout 60 sh -c 'echo >meeting'", "--", "b:step:::timeout 60 cat meeting")
    assert (status, lines[-1]) == (0, "2 passed, 0 failed")


def test_the_table_has_wall_and_cpu_seconds_of_children_too(tmp_path):
    busy = "python3 -c 'import time\nwhile time.process_time() < 0.5: pass'"
    inner = f"echo 'took  rust  12.0 s  34.5 s CPU'; {GREEN}"
    _, lines = run(tmp_path, f'busy:step:::sh -c "{busy}"; true', f"here:tally:::{inner}", quiet="1")
    rows = {found[1]: float(found[2]) for line in lines if (found := re.match(r"took +(\S+) .* ([\d.]+) s CPU$", line))}
    assert rows["busy"] >= 0.5
    # The table reports what a stage took together with its own stages, which counts once.
    assert rows["·rust"] == 34.5
    assert 0.5 <= rows["all"] < 34


def test_a_stage_that_hangs_is_interrupted_and_says_how_far_it_came(tmp_path):
    status, lines = run(tmp_path, f"here:tally::1:{HANGS}", "lint:step:::true", quiet="1")
    assert (status, lines[-1]) == (1, "1 passed, 1 failed")
    assert "It was not done in time and was interrupted." in lines
    assert "keeps_order is running" in (tmp_path / "record/here.log").read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_what_runs_and_the_results_so_far_are_told(tmp_path, number):
    begun = "touch begun; "
    words = ["lint:step:::true", f"here:step:::{begun}{HANGS}", "there:step:::touch never"]
    with start(tmp_path, *words) as running:
        deadline = time.monotonic() + 60
        while not (tmp_path / "begun").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        time.sleep(0.2)
        running.send_signal(number)
        lines = running.communicate(timeout=60)[0].splitlines()
    assert (running.returncode, lines[-1]) == (130, "1 passed, 2 failed")
    assert "keeps_order is running" in lines
    assert any(line.startswith("FAILED:  there: ") for line in lines)
    assert not (tmp_path / "never").exists()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_what_passed_at_this_commit_does_not_run_again(tmp_path):
    def git(*words):
        who = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.com")
        subprocess.run(["git", *who, "-C", tmp_path, *words], check=True, capture_output=True)

    def ran():
        """Which stages ran, and what was said."""
        (tmp_path / "ran").write_text("")
        _, lines = run(tmp_path, "good:step:::echo good >>ran", "bad:step:::echo bad >>ran; exit 3", resume="1")
        assert lines[-1] == "1 passed, 1 failed"
        return (tmp_path / "ran").read_text().split(), lines

    everything = ["good", "bad"]
    (tmp_path / ".gitignore").write_text("/.ci\n/ran\n/record/\n")
    git("init", "--quiet")
    git("add", ".gitignore")
    git("commit", "--quiet", "--message", "first")
    assert ran()[0] == everything
    stages, lines = ran()
    assert stages == ["bad"]
    assert "x: good: passed in an earlier run, at this commit" in lines
    assert [line.split(maxsplit=2)[1] for line in lines if line.endswith(", earlier")] == ["good"]
    # What passed with this change says nothing about the commit, nor the other way round.
    (tmp_path / "change").touch()
    assert ran()[0] == everything
    (tmp_path / "change").unlink()
    assert ran()[0] == everything
    git("commit", "--quiet", "--allow-empty", "--message", "second")
    assert ran()[0] == everything


def names(stages, kind=None):
    return [stage.name for stage in stages if kind in (None, stage.kind)]


def words(stages):
    return {stage.name: " ".join(stage.command) for stage in stages}


def test_what_no_version_of_dpdk_changes_is_left_out_by_name():
    stages = suites.varying(Path("record"))
    left_out = "dpdk-sockets parsing-bench rewrite rust-docs packages static python-but-twins virtual-machines"
    assert names(stages, "elsewhere") == left_out.split()
    assert "-m twins" in words(stages)["python"]
    assert all(package in words(stages)["rust"] for package in ("dpdk-rs-sys", "dpdk-rs", "l2fwd-rs", "generator"))
    assert {stage.environment.get("DPDK_RS_TEST_VARYING") for stage in stages if "rust" in stage.name[:4]} >= {"1"}


def test_everything_runs_on_this_machines_dpdk():
    stages = suites.whole(Path("record"))
    assert names(stages, "elsewhere") == []
    told = words(stages)
    assert told["rust"].startswith("cargo test --workspace ")
    assert told["rust-docs"] == "cargo test --workspace --features parsing-bench/timer --doc --no-fail-fast"
    assert told["python"].endswith(" tests ../.ci")
    assert " -n 3 --dist loadfile " in told["python"]
    assert "l2fwd-rs/rewrite" in told["rust-rewrite"]
    assert told["packages"] == ".ci/packages"
    # What is counted is what is shipped.
    assert "--profile dist" in told["build-programs"]
    assert "--profile dist" in told["parsing-measure"]


def test_virtual_machines_alone():
    (tests,) = [told for name, told in words(suites.virtual_machines(Path("record"))).items() if name == "python"]
    listed = (
        "vm",
        "diagnosis_vm",
        "rehearsal_nics",
        "rehearsal_failures",
        "rehearsal_campaign",
        "rehearsal_service",
        "rehearsal_rss",
    )
    assert tests.endswith(" ".join(f"tests/test_{name}.py" for name in listed))


@pytest.mark.parametrize("tool", ["asan", "valgrind"])
def test_a_tool_is_shown_mistakes_before_it_judges_the_tests(tool):
    stages = suites.tool(tool)
    assert [stage.command for stage in stages] == [(f".ci/{tool}", step) for step in ("ready", "mistakes", "tests")]
    assert [stage.needs for stage in stages] == [None, f"{tool}-ready", f"{tool}-ready"]


def test_models_run_and_find_mistakes():
    stages = suites.models(Path("record"))
    assert [stage.command[-1] for stage in stages] == ["interleavings", "memory", "miri", "mistakes"]


def test_each_way_to_build_is_tried_if_it_could_be_built():
    choices = (("shared", "static"), ("debug", "release"), ("x86-64", "x86-64-v3"))
    for first, second in itertools.combinations(range(len(choices)), 2):
        pairs = {(way[first], way[second]) for way in suites.WAYS}
        assert pairs == set(itertools.product(choices[first], choices[second]))
    stages = suites.builds(Path("record"), "1")
    built = [name for name in names(stages) if name.startswith("build-")]
    assert len(built) == len(suites.WAYS)
    assert [stage.needs for stage in stages if stage.name.startswith("run-")] == built
    assert {stage.environment["DPDK_HUGEPAGES"] for stage in stages if stage.name.startswith("rust-")} == {"1"}


def test_without_root_the_debian_is_skipped_with_the_reason(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    stage = suites.in_a_debian("dpdk-24.11", "test", "--dpdk", "24.11")
    assert stage == Stage("dpdk-24.11", "step", stage.command)
    done = subprocess.run(stage.command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (77, "creating a Debian with debootstrap needs root\n")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    stage = suites.in_a_debian("dpdk-24.11", "test", "--dpdk", "24.11")
    assert (stage.kind, stage.command) == ("tally", ("./x", "test", "--dpdk", "24.11"))


@pytest.mark.parametrize("stage", suites.other_languages(), ids=lambda stage: stage.name)
def test_a_language_without_its_tool_is_skipped_by_name(stage, tmp_path):
    _, language, tool = stage.command[-3:]

    def run_stage():
        return subprocess.run(stage.command, capture_output=True, text=True, check=False, env={"PATH": str(tmp_path)})

    (tmp_path / "sh").symlink_to("/bin/sh")
    done = run_stage()
    assert (done.returncode, done.stdout) == (77, f"{tool} is not installed\n")
    for name in (tool, "make"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{name} $*"\nexit 3\n')
        (tmp_path / name).chmod(0o755)
    done = run_stage()
    assert (done.returncode, done.stdout) == (3, f"make -s -C services/{language} all check\n")
    assert (CI.parent / "services" / language / "Makefile").is_file()


def test_what_a_run_leaves_is_named():
    before = ["hugepages-2048kB: 0 reserved", "interface lo"]
    after = ["hugepages-2048kB: 256 reserved", "interface lo", "network namespace left"]
    assert machine_state.differences(before, after) == [
        "gone: hugepages-2048kB: 0 reserved",
        "left: hugepages-2048kB: 256 reserved",
        "left: network namespace left",
    ]
    assert machine_state.differences(before, before) == []
    assert any(line == "interface lo" for line in machine_state.state())


def test_the_mount_that_ip_keeps_is_no_change(monkeypatch):
    mounts = "tmpfs /run/netns tmpfs rw 0 0\nnsfs /run/netns/x nsfs rw 0 0\n"
    monkeypatch.setattr(Path, "read_text", lambda _: mounts)
    assert list(machine_state._mounts()) == ["mount of nsfs at /run/netns/x"]
