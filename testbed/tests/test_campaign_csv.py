# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""CSV as a spreadsheet reads it: numbers in the columns of numbers, each with its unit."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from campaign_folders import TEXT, run_campaign, run_comparison

from testbed.campaign.compare.verdict_file import ComparisonVerdict
from testbed.campaign.csv_files import unit_of
from testbed.campaign.summary import read_campaign_summary


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file, strict=True))


def test_each_value_is_a_number_and_words_are_beside_them(tmp_path: Path) -> None:
    folder = run_campaign(tmp_path, TEXT.replace("sizes: [64, 512, 1518]", "sizes: [64, 512, imix]"))
    rows = rows_of(folder / "summary.csv")
    assert all(math.isfinite(float(row["value"])) for row in rows if not row["text"])
    assert all(not row["value"] and not row["unit"] for row in rows if row["text"])
    assert {(row["size_bytes"][:5], row["mixture"]) for row in rows} == {("64", ""), ("512", ""), ("361.8", "imix")}
    units = {row["field"]: row["unit"] for row in rows}
    assert units["throughput_fps"] == "frames/s"
    assert units["average_ns.values.0"] == units["repetitions.0.p99_9"] == "ns"
    assert units["recovery_s.median"] == "s"
    assert units["lost_at.imissed"] == units["frames.mean"] == "frames"
    assert units["points.0.loss_percent"] == "%"
    assert units["overloaded"] == units["trials"] == ""
    # Nothing is lost on the way: each measurement has its rows, and a rate is the one of summary.json.
    summary = read_campaign_summary(folder)
    assert len({(row["device"], row["size_bytes"], row["measurement"]) for row in rows}) == len(summary.findings)
    first = next(one for one in summary.findings if one.measurement == "throughput")
    mine = [row for row in rows if row["field"] == "throughput_fps" and row["device"] == first.device]
    assert first.result["throughput_fps"] in [float(row["value"]) for row in mine]


def test_a_verdict_has_a_row_for_each_figure_and_size(tmp_path: Path) -> None:
    folder = run_comparison(tmp_path, figures=("forwarding_rate", "latency"), blocks=8)
    verdict = ComparisonVerdict.model_validate_json((folder / "verdict.json").read_text())
    rows = rows_of(folder / "verdict.csv")
    assert len(rows) == len(verdict.comparison.verdicts) == 4
    for row, found in zip(rows, verdict.comparison.verdicts, strict=True):
        assert (row["figure"], row["size_bytes"], row["verdict"]) == (found.figure, str(found.size), found.verdict)
        assert row["unit"] == {"forwarding_rate": "frames/s", "latency": "ns"}[row["figure"]]
        assert (float(row["a"]), float(row["b"]), float(row["ratio"])) == (found.a, found.b, found.ratio.median)
        assert (float(row["ratio_low"]), float(row["ratio_high"])) == found.ratio.ci95


@pytest.mark.parametrize(
    ("field", "unit"),
    [
        ("goals.0.lower.load_fps", "frames/s"),
        ("goals.0.lower.seconds", "s"),
        ("goals.0.goal.loss_ratio", ""),
        ("repetitions.3.count", ""),
        ("limit_frames", "frames"),
        ("slices.0.latency_p99_9_ns", "ns"),
        ("invalid_trials", ""),
    ],
)
def test_a_unit_is_that_of_the_last_part_that_has_one(field: str, unit: str) -> None:
    assert unit_of(field) == unit
