# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The journal survives what happens to files."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from testbed.campaign import journal as journal_module
from testbed.campaign.journal import Journal, JournalError, read_journal
from testbed.campaign.recorder import RecordedSetup, Watcher
from testbed.campaign.simulated import DeviceModel, SimulatedGenerator
from testbed.campaign.traffic_generator import Capabilities
from testbed.campaign.trial import ResetKind, ResetPlan, StepPlan, TrialPlan, TrialResult

GENERATOR = SimulatedGenerator(DeviceModel(throughput_fps={64: 10e6}))


def result(load_fps: float = 11e6 / 3, latency: bool = False) -> TrialResult:
    return GENERATOR.run(TrialPlan(size=64, load_fps=load_fps, duration_s=1 / 3, latency=latency))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


@pytest.fixture
def filled(path: Path) -> Path:
    with Journal.create(path, "c1") as journal:
        journal.join("setup", GENERATOR.capabilities())
        for number in range(3):
            journal.add("here" if number != 1 else "there", result(1e6 + number))
    return path


def test_what_was_written_is_read_in_its_order_and_exactly(path: Path) -> None:
    all_kinds = [
        result(latency=True),
        result(30e6),
        GENERATOR.step(StepPlan(size=64, loads_fps=(11e6, 5e6), durations_s=(1, 1))),
        GENERATOR.reset(ResetPlan(size=64, load_fps=1e6 / 7, kind=ResetKind.PORT, patience_s=10)),
    ]
    with Journal.create(path, "c1") as journal:
        journal.join("setup", GENERATOR.capabilities())
        for one in all_kinds:
            journal.add("here", one)
        journal.add("there", result())
        assert journal.trials == 5
    with Journal.open(path, "c1") as journal:
        assert journal.results("here") == all_kinds
        assert [type(one) for one in journal.results("here")] == [type(one) for one in all_kinds]
        assert journal.capabilities("setup") == GENERATOR.capabilities()
        assert journal.capabilities("other") is None
        assert (journal.trials, journal.warnings) == (5, [])
    # The key of earlier journals.
    assert '"rig":"setup"' in path.read_text()


def test_a_line_cut_short_is_taken_off_and_told(filled: Path) -> None:
    whole = filled.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for cut in (last + 1, (last + len(whole)) // 2, len(whole) - 1):
        filled.write_bytes(whole[:cut])
        with Journal.open(filled, "c1") as journal:
            assert journal.trials == 2
            assert "incomplete line" in journal.warnings[0]
            journal.add("here", result(5e6))
        assert [one.plan.load_fps for _, one in read_journal(filled)] == [1e6, 1e6 + 1, 5e6]


def test_a_head_cut_short_is_written_again(filled: Path) -> None:
    filled.write_bytes(filled.read_bytes()[:20])
    with Journal.open(filled, "c1") as journal:
        assert journal.trials == 0
    with Journal.open(filled, "c1") as journal:
        assert journal.warnings == []


def test_damage_before_the_end_is_an_error_that_names_the_line(filled: Path) -> None:
    lines = filled.read_text().splitlines()
    lines[2] = lines[2].replace('"sent":', '"snt":')
    filled.write_text("\n".join(lines) + "\n")
    with pytest.raises(JournalError, match=r"line 3: .*damaged"):
        Journal.open(filled)


def test_a_missing_line_is_an_error(filled: Path) -> None:
    lines = filled.read_text().splitlines()
    filled.write_text("\n".join(lines[:2] + lines[3:]) + "\n")
    with pytest.raises(JournalError, match="lines are missing"):
        Journal.open(filled)


def test_it_belongs_to_one_campaign_one_version_and_one_process(filled: Path) -> None:
    with pytest.raises(JournalError, match="belongs to campaign c1"):
        Journal.open(filled, "c2")
    with Journal.open(filled), pytest.raises(JournalError, match="in use"):
        Journal.open(filled)
    lines = filled.read_text().splitlines()
    head = {**json.loads(lines[0]), "schema_version": 99}
    filled.write_text("\n".join([json.dumps(head), *lines[1:]]) + "\n")
    with pytest.raises(JournalError, match="schema version 99"):
        Journal.open(filled)


def test_a_full_disk_loses_nothing(filled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = filled.read_bytes()

    class Full:
        """The os module on a disk that takes ten bytes more."""

        written = 0

        def write(self, file: int, data: bytes) -> int:
            if self.written:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self.written = os.write(file, data[:10])
            return self.written

        def __getattr__(self, name: str) -> object:
            return getattr(os, name)

    with Journal.open(filled) as journal:
        monkeypatch.setattr(journal_module, "os", Full())
        with pytest.raises(JournalError, match="No space left on device: free some space"):
            journal.add("here", result())
        assert filled.read_bytes() == before
        monkeypatch.undo()
        journal.add("here", result())
        assert journal.trials == 4


class Seen(Watcher):
    def __init__(self) -> None:
        self.trials: list[tuple[float, bool]] = []

    def trial_ended(self, place: str, result: TrialResult, replayed: bool) -> None:
        self.trials.append((result.plan.load_fps, replayed))


def plans(loads: list[float]) -> list[TrialPlan]:
    return [TrialPlan(size=64, load_fps=load, duration_s=1) for load in loads]


def noisy() -> SimulatedGenerator:
    return SimulatedGenerator(DeviceModel(throughput_fps={64: 10e6}, noise=0.1, seed=1))


def test_recorded_trials_are_not_run_again_and_chance_goes_on(path: Path) -> None:
    loads = [11e6, 11e6, 10e6, 11e6]
    with Journal.create(path, "c1") as journal:
        setup = RecordedSetup("setup", noisy, journal, Watcher())
        generator = setup.at("here")
        for plan in plans(loads[:2]):
            generator.run(plan)
        setup.close()
    alone = noisy()
    undisturbed = [alone.run(plan) for plan in plans(loads)]
    with Journal.open(path, "c1") as journal:
        seen, started = Seen(), []
        setup = RecordedSetup("setup", lambda: started.append(1) or noisy(), journal, seen)
        generator = setup.at("here")
        found = [generator.run(plan) for plan in plans(loads)[:2]]
        assert started == []
        found += [generator.run(plan) for plan in plans(loads)[2:]]
        assert found == undisturbed
        assert seen.trials == [(11e6, True), (11e6, True), (10e6, False), (11e6, False)]
        assert started == [1]


def test_a_trial_planned_otherwise_is_an_error(filled: Path) -> None:
    with Journal.open(filled) as journal:
        generator = RecordedSetup("setup", noisy, journal, Watcher()).at("here")
        with pytest.raises(JournalError, match=r"trial 1 of here was .*1000000.* would now be .*2000000"):
            generator.run(plans([2e6])[0])


def test_capabilities_are_those_of_the_beginning(path: Path) -> None:
    first = Capabilities(generator="g", version="1", max_fps_by_size={64: 8.1e6})
    with Journal.create(path, "c1") as journal:
        journal.join("setup", first)
    with Journal.open(path) as journal:
        assert RecordedSetup("setup", noisy, journal, Watcher()).at("here").capabilities() == first
