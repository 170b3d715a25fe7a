# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Scratch folders go away, at the latest with the next run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from testbed.run.scratch import remove_abandoned, scratch_folder


@pytest.fixture(autouse=True)
def own_tmp(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def use_and_fail() -> None:
    with scratch_folder() as folder:
        (folder / "wire.sock").touch()
        raise KeyboardInterrupt


def test_it_is_gone_afterwards_whatever_happens(tmp_path: Path):
    with pytest.raises(KeyboardInterrupt):
        use_and_fail()
    assert list(tmp_path.iterdir()) == []


def test_that_of_a_killed_run_is_removed_and_a_live_one_kept(tmp_path: Path):
    code = f"""
import os, tempfile
tempfile.tempdir = {str(tmp_path)!r}
from testbed.run.scratch import scratch_folder
with scratch_folder() as folder:
    (folder / "wire.sock").touch()
    os._exit(1)
"""
    subprocess.run([sys.executable, "-c", code], check=False, cwd=Path(__file__).resolve().parents[1])
    (abandoned,) = tmp_path.iterdir()
    with scratch_folder() as mine:
        assert remove_abandoned(grace_s=60.0) == []
        assert remove_abandoned(grace_s=-1.0) == [abandoned]
        assert mine.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_ours_is_left_alone(tmp_path: Path):
    (tmp_path / "testbed-scratch-file").touch()
    (tmp_path / "other").mkdir()
    (tmp_path / "testbed-scratch-link").symlink_to(tmp_path / "other")
    assert remove_abandoned(grace_s=-1.0) == []
    assert (tmp_path / "other").is_dir()
    assert (tmp_path / "testbed-scratch-link").is_symlink()
