# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What `./x fuzz` makes of its targets: programs that behave like fuzzers, well and badly, take their place."""
# ruff: noqa: D103

import os
import signal
import sys
from pathlib import Path

import fuzzers
import pytest

# What a shell runs in the background ignores SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)

STAND_IN = """
import os, signal, sys, time
from pathlib import Path

behaviour, *words = sys.argv[1:]
options = dict(word[1:].split("=", 1) for word in words if word.startswith("-"))
folders = [Path(word) for word in words if not word.startswith("-")]
print("INFO: Loaded 1 modules   (90 inline 8-bit counters): 90 [0x1, 0x2),", file=sys.stderr)
print("#7\\tINITED cov: 30 ft: 40 corp: 1/1b exec/s: 0 rss: 20Mb", file=sys.stderr, flush=True)
if behaviour == "finds":
    print("thread '<unnamed>' panicked at a.rs:1:2:\\nthe twins differ\\nstack", file=sys.stderr)
    Path(options["artifact_prefix"] + "crash-1").write_bytes(b"bad")
    sys.exit(77)
if behaviour == "dies":
    sys.exit("no such library")
if behaviour == "hangs":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    time.sleep(600)
if behaviour == "is interrupted":
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(600)
if "set_cover_merge" in options:
    (folders[0] / ("0" * 40)).write_bytes(b"merged")
if behaviour == "fails on inputs":
    sys.exit(77 if folders[0].read_bytes() == b"bad" else 0)
executed = 0 if behaviour == "tries nothing" else 1234
print(f"#8\\tDONE cov: 31 ft: 40 corp: 1/1b\\nstat::number_of_executed_units: {executed}", file=sys.stderr)
"""


@pytest.fixture
def target(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "stand_in.py").write_text(STAND_IN)

    def make(behaviour: str, name: str = "frames") -> fuzzers.Target:
        corpus = tmp_path / "corpus" / name
        corpus.mkdir(parents=True)
        (corpus / "usual").write_bytes(b"seed")
        return fuzzers.Target(name, (sys.executable, str(tmp_path / "stand_in.py"), behaviour), corpus)

    return make


def run(capsys, *targets: fuzzers.Target) -> tuple[int, str]:
    status = fuzzers.report(*fuzzers.run_all(targets, 1, 2))
    return status, capsys.readouterr().out


def test_nothing_found(capsys, target):
    status, text = run(capsys, target("works"), target("works", "texts"))
    assert (status, text.splitlines()[-1]) == (0, "fuzz: found nothing: 2 targets, 2,468 executions")
    assert "frames         1,234         31 of 90  0" in text


def test_a_finding_comes_with_its_reason_and_the_command_that_repeats_it(capsys, target):
    status, text = run(capsys, target("finds"), target("works", "texts"))
    assert (status, text.splitlines()[-1]) == (1, "fuzz: 1 of 2 targets failed (frames): details are above")
    assert "the twins differ" in text
    assert "reproduce: ./x fuzz --input target/fuzz/findings/frames/crash-1 frames" in text
    # What an earlier run found is not found again.
    frames = fuzzers.Target("frames", target("works", "again").command, Path("corpus/frames"))
    assert run(capsys, frames)[0] == 0


@pytest.mark.parametrize(("behaviour", "wrong"), [("dies", "ended with status 1"), ("tries nothing", "tried no input")])
def test_a_target_that_does_not_work_is_no_success(capsys, target, behaviour, wrong):
    status, text = run(capsys, target(behaviour))
    assert status == 1
    assert f"frames {wrong}" in text


def test_a_target_that_does_not_end_is_ended(capsys, target, monkeypatch):
    monkeypatch.setattr(fuzzers, "GRACE_S", 1.0)
    monkeypatch.setattr(fuzzers, "PATIENCE_S", 0.5)
    status, text = run(capsys, target("hangs"))
    assert status == 1
    assert "frames ended with status -9" in text


def test_an_interruption_ends_all_targets_and_still_tells(capsys, target):
    runs, interrupted = fuzzers.run_all([target("is interrupted"), target("works", "texts")], 60, 1)
    assert interrupted
    assert [run.target.name for run in runs] == ["frames"]
    assert all(run.process.poll() is not None for run in runs)
    status = fuzzers.report(runs, interrupted)
    last = capsys.readouterr().out.splitlines()[-1]
    assert (status, last) == (130, "fuzz: interrupted; found nothing until then in 7 executions")


def test_a_target_without_a_corpus_is_refused(target):
    empty = target("works")
    (empty.corpus / "usual").unlink()
    with pytest.raises(fuzzers.FuzzError, match="frames has no corpus: put an input into"):
        fuzzers.run_all([empty], 1, 1)


def test_one_input(capsys, target, tmp_path):
    (tmp_path / "bad").write_bytes(b"bad")
    (tmp_path / "good").write_bytes(b"good")
    frames = target("fails on inputs")
    assert fuzzers.reproduce(frames, tmp_path / "bad") == 1
    assert "fails on this input" in capsys.readouterr().out
    assert fuzzers.reproduce(frames, tmp_path / "good") == 0


def test_inputs_that_a_person_named_are_kept(capsys, target):
    frames = target("works")
    (frames.corpus / ("a" * 40)).write_bytes(b"old")
    assert fuzzers.keep([frames]) == 0
    assert sorted(path.name for path in frames.corpus.iterdir()) == ["0" * 40, "usual"]


def test_every_target_of_the_repository_has_a_corpus(monkeypatch):
    monkeypatch.chdir(fuzzers.ROOT)
    targets = fuzzers.all_targets()
    assert {target.crate for target in targets} >= {"dpdk-rs-fuzz", "l2fwd-rs-fuzz", "testbed-generator-fuzz", None}
    assert [target.name for target in targets if not any(target.corpus.glob("*"))] == []


@pytest.mark.parametrize(
    ("words", "status"), [(["--seconds", "0"], 2), (["--input", "x"], 2), (["no-such-target"], 1), (["--list"], 0)]
)
def test_the_command_line(words, status, capsys, monkeypatch):
    monkeypatch.chdir(os.getcwd())  # noqa: PTH109 (main goes to the top of the repository)
    try:
        found = fuzzers.main(words)
    except SystemExit as end:
        found = end.code
    assert found == status
