# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x testbed diff`: what differed, whether the ranges are apart, and what cannot be held together."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from campaign_folders import TEXT, begin_campaign, begin_comparison, change_json, run_campaign, run_comparison
from typer.testing import CliRunner

from testbed.campaign.diff.outcome import CAUTION, Diff, Outcome, compare_folders, outcome
from testbed.campaign.diff.surroundings import between
from testbed.campaign.diff.values import Unit, Value
from testbed.cli import app
from testbed.run.results_folder import ResultsError

# As TEXT, but for another seed and a C forwarder that is slower at 64 bytes.
OTHER = TEXT.replace("12.4e+6", "9.5e+6").replace("seed: 3", "seed: 30").replace("seed: 4", "seed: 40")


def diff(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["diff", *map(str, words)], terminal_width=200)
    return done.exit_code, done.output


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two campaigns, the second one on a machine with another processor and another kernel."""
    parent = tmp_path_factory.mktemp("pair")
    a, b = run_campaign(parent, TEXT), run_campaign(parent, OTHER)
    machine = json.loads((b / "environment.json").read_text())
    machine["cpu"]["model"] = "another processor"
    change_json(b / "environment.json", kernel="7.0", cpu=machine["cpu"])
    return a, b


def test_what_differed_around_them_comes_first(pair: tuple[Path, Path]) -> None:
    status, text = diff(*pair)
    assert status == 0, text
    assert CAUTION in text
    order = ["A: ", "B: ", "no paired comparison", "cpu.model", "kernel", "scenario.devices.l2fwd-c.model", "Figures"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    found = {one.what: (one.a, one.b) for one in compare_folders(*pair).environment}
    assert found["kernel"][1] == "7.0"
    assert found["cpu.model"][1] == "another processor"
    assert found["scenario.devices.l2fwd-c.model.throughput_fps.64"] == ("12400000.0", "9500000.0")
    # Nothing that differs each time, and nothing of what was the same.
    assert not [what for what in found if "recorded" in what or "mhz" in what or "1518" in what]


def test_a_difference_of_the_devices_is_told_from_chance(pair: tuple[Path, Path]) -> None:
    found = {(line.test, line.device, line.frames, line.figure): line for line in compare_folders(*pair).lines}
    small = found["throughput", "l2fwd-c", "64 bytes", "rate, loss of at most 0 %"]
    assert small.outcome is Outcome.APART
    assert small.ratio == pytest.approx(9.5 / 12.4, rel=0.04)
    assert found["throughput", "l2fwd-c", "1518 bytes", "rate, loss of at most 0 %"].outcome is Outcome.OVERLAP
    assert found["recovery", "l2fwd-rs", "64 bytes", "recovery time"].outcome is Outcome.OVERLAP
    assert found["forwarding rate", "l2fwd-c", "64 bytes", "rate"].outcome is Outcome.APART
    # One trial each, and no word on how much another one would differ.
    assert found["frame loss", "l2fwd-c", "64 bytes", "loss at the highest load"].outcome is Outcome.UNKNOWN
    tests = {line.test for line in found.values()}
    assert tests == {
        "throughput", "latency", "frame loss", "back to back", "recovery", "reset", "forwarding rate", "soak",
    }  # fmt: skip


def test_the_text_has_every_figure_and_the_sum(pair: tuple[Path, Path]) -> None:
    found = compare_folders(*pair)
    _, text = diff(*pair)
    assert found.sentence in text
    assert text.count("ranges apart") == sum(line.outcome is Outcome.APART for line in found.lines) + 1
    for line in found.lines:
        if line.unit is Unit.FRAMES_PER_SECOND:
            assert f"{line.a.value / 1e6:.4f} Mpps" in text
            assert f"{line.ratio:.4f}" in text


def test_json_is_the_same(pair: tuple[Path, Path]) -> None:
    status, text = diff(*pair, "--json")
    assert status == 0
    assert Diff.model_validate_json(text) == compare_folders(*pair)


def test_what_only_one_has_is_named(pair: tuple[Path, Path], tmp_path: Path) -> None:
    fewer = run_campaign(tmp_path, TEXT.replace("tests: [", "tests: [throughput] #").replace("512, 1518", "512"))
    found = compare_folders(pair[0], fewer)
    assert {line.test for line in found.lines} == {"throughput"}
    assert "throughput, rate, loss of at most 0 %, 1518 bytes, l2fwd-c" in found.only_a
    assert found.only_b == []
    _, text = diff(pair[0], fewer)
    assert "Only A has: " in text


def test_comparisons_are_compared_by_their_ratios(tmp_path: Path) -> None:
    found = compare_folders(run_comparison(tmp_path, TEXT), run_comparison(tmp_path, OTHER))
    assert [(line.frames, line.outcome) for line in found.lines] == [
        ("64 bytes", Outcome.APART),
        ("1518 bytes", Outcome.OVERLAP),
    ]
    assert found.lines[0].device == "l2fwd-c / l2fwd-rs"


def test_folders_that_cannot_be_compared(pair: tuple[Path, Path], tmp_path: Path) -> None:
    a, _ = pair
    unfinished = begin_campaign(tmp_path).folder
    unjudged = begin_comparison(tmp_path).folder
    newer = shutil.copytree(a, tmp_path / "newer")
    change_json(newer / "summary.json", schema_version=2)
    strangers = run_campaign(
        tmp_path, TEXT.replace("name: l2fwd-", "name: other-").replace("tests: [", "tests: [throughput] #")
    )
    for other, message in (
        (tmp_path, "is not the folder of a campaign"),
        (unfinished, f"is not finished: continue it with ./x testbed resume {unfinished}, or"),
        (unjudged, "is not finished"),
        (newer, "has schema version 2, this tool reads version 1"),
        (strangers, "have nothing in common"),
        (a, "are the same run: give the folders of two"),
        (shutil.copytree(a, tmp_path / "copy"), "are the same run"),
    ):
        for first, second in ((a, other), (other, a)):
            with pytest.raises(ResultsError) as error:
                compare_folders(first, second)
            assert message in str(error.value)
            assert str(other) in str(error.value)
    with pytest.raises(
        ResultsError, match=r"have nothing in common: .*l2fwd-c, l2fwd-rs at .* against throughput of o"
    ):
        compare_folders(a, strangers)
    status, text = diff(a, tmp_path)
    assert status == 1
    assert text.startswith("testbed: ")
    assert "Traceback" not in text


def value(middle: float, low: float | None = None, high: float | None = None, **more: float) -> Value:
    return Value(value=middle, unit=Unit.FRAMES_PER_SECOND, low=low, high=high, **more)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (value(10, 9, 11), value(20, 19, 21), Outcome.APART),
        (value(20, 19, 21), value(10, 9, 11), Outcome.APART),
        (value(10, 9, 15), value(20, 14, 21), Outcome.OVERLAP),
        # A drift widens the range, and is enough alone.
        (value(10, 9, 11, noise=0.5), value(15, 14, 16), Outcome.OVERLAP),
        (value(100, noise=0.01), value(105, noise=0.01), Outcome.APART),
        (value(100, noise=0.03), value(105, noise=0.03), Outcome.OVERLAP),
        # The highest that was tried: the device may do any more.
        (value(10, 10), value(20, 19, 21), Outcome.OVERLAP),
        (value(30, 30), value(20, 19, 21), Outcome.APART),
        (value(10), value(20, 19, 21), Outcome.UNKNOWN),
        (value(10), value(10), Outcome.OVERLAP),
        (value(10, 9, 11, load_fps=100), value(20, 19, 21, load_fps=102), Outcome.OTHER_LOAD),
        (value(10, 9, 11, load_fps=100), value(20, 19, 21, load_fps=100.2), Outcome.APART),
    ],
)
def test_when_ranges_are_apart(a: Value, b: Value, expected: Outcome) -> None:
    assert outcome(a, b) is expected


def test_fields_are_compared_by_name_whatever_their_order() -> None:
    a = {"binaries": [{"name": "one", "sha256": "1", "path": "/a"}, {"name": "two", "sha256": "2"}], "extra": {"x": 1}}
    b = {"binaries": [{"name": "two", "sha256": "2"}, {"name": "one", "sha256": "3", "path": "/b"}]}
    assert [(one.what, one.a, one.b) for one in between(a, b)] == [
        ("binaries.one.sha256", "1", "3"),
        ("extra.x", "1", "–"),
    ]
