# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The results folder: written whole or not at all, read only in the version that is understood."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from testbed.demo.summary import SCHEMA_VERSION, HostsAct, Summary, read_summary, write_summary
from testbed.run.results_folder import ResultsError, Status, new_results_folder, write_atomically

NOW = datetime(2026, 3, 1, 12, 0, 5, tzinfo=UTC)


def summary() -> Summary:
    return Summary(
        status=Status.PASSED,
        started=NOW,
        command="./x demo",
        quick=False,
        hugepages=True,
        hosts=HostsAct(status=Status.SKIPPED, reason="needs root"),
    )


def test_what_is_written_is_read(tmp_path: Path):
    write_summary(tmp_path, summary())
    assert read_summary(tmp_path) == summary()
    assert json.loads((tmp_path / "summary.json").read_text())["schema_version"] == SCHEMA_VERSION
    assert [path.name for path in tmp_path.iterdir()] == ["summary.json"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema_version": SCHEMA_VERSION + 1}, f"schema version {SCHEMA_VERSION + 1}, this tool reads"),
        ({"status": "excellent"}, "status: Input should be"),
        ({"surprise": 1}, "surprise: Extra inputs"),
    ],
)
def test_what_is_not_understood_is_refused(tmp_path: Path, change: dict, message: str):
    (tmp_path / "summary.json").write_text(json.dumps({**json.loads(summary().model_dump_json()), **change}))
    with pytest.raises(ResultsError, match=message):
        read_summary(tmp_path)


def test_a_missing_or_broken_summary_is_named(tmp_path: Path):
    with pytest.raises(ResultsError, match=r"cannot read .*No such file"):
        read_summary(tmp_path)
    (tmp_path / "summary.json").write_text('{"schema_ver')
    with pytest.raises(ResultsError, match="is not a summary"):
        read_summary(tmp_path)
    (tmp_path / "summary.json").write_bytes(b'{"schema_version":\xfd}')
    with pytest.raises(ResultsError, match="is not a summary: 'utf-8' codec"):
        read_summary(tmp_path)


def test_a_failed_write_leaves_the_old_file_and_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_atomically(tmp_path / "summary.json", "old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ResultsError, match="No space left on device"):
        write_atomically(tmp_path / "summary.json", "new")
    assert (tmp_path / "summary.json").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_folders_of_the_same_second_do_not_collide(tmp_path: Path):
    names = [new_results_folder(tmp_path / "results", "demo", NOW).name for _ in range(3)]
    assert names == ["demo-20260301T120005Z", "demo-20260301T120005Z-2", "demo-20260301T120005Z-3"]
    assert (tmp_path / "results" / names[0] / "raw").is_dir()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultsError, match=r"cannot make a results folder in '.*file': .*: choose another --out"):
        new_results_folder(tmp_path / "file", "demo", NOW)
