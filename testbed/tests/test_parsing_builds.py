# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Programs that are built while others are looked at."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from testbed.parsing.build import BuildError, Built, Watch, kept_program, programs_folder
from testbed.parsing.builds import Builds
from testbed.parsing.record import LTO_FAT
from testbed.run.process import Process


def built(name: str) -> Built:
    return Built(Path(name), None, 1, 1, name)


def test_the_next_is_built_while_one_is_looked_at() -> None:
    second_began, first_seen = threading.Event(), threading.Event()

    def second(_: Watch) -> Built:
        second_began.set()
        # Were it not begun before the first was looked at, both would wait for ever.
        assert first_seen.wait(60)
        return built("second")

    with Builds({"first": lambda _: built("first"), "second": second}, ahead=True) as builds:
        assert builds.get("first").sha256 == "first"
        assert second_began.wait(60)
        assert not builds.is_ready("second")
        first_seen.set()
        assert builds.get("second").sha256 == "second"
        assert builds.is_ready("second")


def test_each_on_its_own() -> None:
    begun: list[str] = []

    def build(name: str) -> Built:
        begun.append(name)
        return built(name)

    with Builds({name: lambda _, name=name: build(name) for name in ("a", "b")}, ahead=False) as builds:
        assert begun == []
        assert builds.get("b").sha256 == "b"
        assert begun == ["b"]
        assert not builds.is_ready("a")


def test_one_that_fails_leaves_the_others() -> None:
    def fails(_: Watch) -> Built:
        raise BuildError("no such crate")

    with Builds({"a": fails, "b": lambda _: built("b")}, ahead=True) as builds:
        with pytest.raises(BuildError, match="no such crate"):
            builds.get("a")
        assert builds.get("b").sha256 == "b"


def test_what_is_built_ends_with_the_run(tmp_path: Path) -> None:
    running = threading.Event()
    ended: list[int] = []
    begun: list[str] = []

    def endless(watch: Watch) -> Built:
        with Process("compiler", ["sleep", "1000"], tmp_path) as process:
            watch(process)
            running.set()
            ended.append(process.wait(600))
        return built("endless")

    def never(_: Watch) -> Built:
        begun.append("never")
        return built("never")

    def interrupted() -> None:
        with Builds({"endless": endless, "never": never}, ahead=True):
            assert running.wait(60)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert ended == [-9]
    assert begun == []


def test_a_program_is_used_again_if_it_is_the_same(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    assert kept_program(LTO_FAT, "ab", raw) is None
    folder = programs_folder(raw, LTO_FAT.name)
    folder.mkdir(parents=True)
    (folder / "measure").write_bytes(b"abc")
    assert kept_program(LTO_FAT, "ab", raw) is None
    assert kept_program(LTO_FAT, None, raw) is None
