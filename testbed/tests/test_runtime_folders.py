# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What DPDK leaves behind of a process goes when the process has ended, and nothing else does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from testbed.run.process import Process, completed
from testbed.run.runtime_folders import remove_folders, runtime_folder, unique_file_prefix

# Makes the folder of the prefix in its argument as DPDK does, with a file in it, and says so.
_MAKES = 'folder="$RUNTIME_DIRECTORY/dpdk/${0#*=}"; mkdir -p "$folder" && : >"$folder/config" && echo made'
# Locks a file as a primary process does, until its stdin ends.
_LOCKS = "import fcntl, sys; f = open(sys.argv[1], 'r+b'); fcntl.lockf(f, fcntl.LOCK_EX); print(flush=True); input()"


def maker(folder: Path, prefix: str, and_then: str = "") -> Process:
    argv = ["sh", "-c", _MAKES + and_then, f"--file-prefix={prefix}"]
    return Process("maker", argv, folder, {"RUNTIME_DIRECTORY": str(folder)})


def test_the_folder_of_a_process_goes_with_it(tmp_path):
    prefix = unique_file_prefix("test")
    folder = tmp_path / "dpdk" / prefix
    with maker(tmp_path, prefix, "; cat >/dev/null; exec sleep 60") as process:
        process.wait_for_line("made", 60)
        assert (folder / "config").exists()
    assert not folder.exists()
    process = maker(tmp_path, prefix)
    completed(process.name, process.argv, tmp_path, 60, process.environment)
    assert "made" in process.stdout_path.read_text()
    assert not folder.exists()


def test_a_folder_whose_primary_process_runs_stays(tmp_path):
    prefix = unique_file_prefix("test")
    config = tmp_path / "dpdk" / prefix / "config"
    config.parent.mkdir(parents=True)
    config.touch()
    with subprocess.Popen(
        [sys.executable, "-c", _LOCKS, str(config)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as primary:
        assert primary.stdout is not None
        primary.stdout.readline()
        with maker(tmp_path, prefix) as secondary:
            secondary.wait(60)
        assert config.exists()
        primary.communicate(b"\n")
    with maker(tmp_path, prefix) as another:
        another.wait(60)
    assert not config.parent.exists()


def test_folders_of_others_stay(tmp_path):
    with maker(tmp_path, "testbed-1-0-other") as process:
        process.wait(60)
    assert (tmp_path / "dpdk" / "testbed-1-0-other").exists()


def test_what_ended_unseen_goes_in_the_end(tmp_path, monkeypatch):
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path))
    folder = runtime_folder(unique_file_prefix("test"))
    folder.mkdir(parents=True)
    remove_folders()
    assert not folder.exists()
    # The end of a program without pytest.
    script = "from testbed.run.runtime_folders import *; runtime_folder(unique_file_prefix('x')).mkdir(parents=True)"
    subprocess.run([sys.executable, "-c", script], check=True)
    assert list((tmp_path / "dpdk").iterdir()) == []


@pytest.mark.parametrize(
    ("variables", "uid", "root"),
    [
        ({"RUNTIME_DIRECTORY": "/own", "XDG_RUNTIME_DIR": "/user"}, 0, "/own"),
        ({"XDG_RUNTIME_DIR": "/user"}, 0, "/var/run"),
        ({"XDG_RUNTIME_DIR": "/user"}, 1000, "/user"),
        ({}, 1000, "/tmp"),
    ],
)
def test_the_folder_is_where_dpdk_makes_it(variables, uid, root, monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: uid)
    assert runtime_folder("prefix", variables) == Path(root, "dpdk", "prefix")
