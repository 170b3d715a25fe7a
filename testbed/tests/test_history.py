# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x testbed history`: what the store takes and refuses, what it answers, and changes of a known truth."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from campaign_folders import begin_campaign, begin_comparison, change_json, run_campaign, run_comparison
from test_bench_cli import record_of
from test_bench_statistics import blocks_of, measurement_of
from typer.testing import CliRunner

from testbed.bench.record import write_record
from testbed.cli import app
from testbed.history.changes import FEWEST, SIGNIFICANCE, changes
from testbed.history.reading import read_results
from testbed.history.store import SCHEMA_VERSION, Filter, Store
from testbed.history.trend import series_of
from testbed.run.results_folder import Status

# Two devices at one size, with nothing but a search.
TEXT = """\
name: small
generator: {kind: simulated}
devices:
  - name: one
    model: {throughput_fps: {64: 12.4e+6}, seed: 3}
  - name: two
    model: {throughput_fps: {64: 11.0e+6}, seed: 4}
frames: {sizes: [64]}
tests: [throughput]
preset: quick
"""
RATE = "rate, loss of at most 0 %"


def history(*words: object) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["history", *map(str, words)], terminal_width=200)
    return done.exit_code, done.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_campaign(tmp_path_factory.mktemp("campaign"), TEXT)


@pytest.fixture
def filled(folder: Path, tmp_path: Path) -> Path:
    """A store of 30 runs, of which the last 12 forward 5 % less, with another DPDK."""
    run, figures = read_results(folder, "lab-1")
    random = np.random.default_rng(5)
    path = tmp_path / "history.sqlite"
    with Store(path, create=True) as store:
        for number in range(30):
            level = 0.95 if number >= 18 else 1.0
            mine = [
                replace(
                    one,
                    value=one.value * random.normal(level if one.device == "one" else 1.0, 0.003),
                    dpdk="24.11.1" if number >= 18 else "22.11.4",
                )
                for one in figures
            ]
            when = run.started + timedelta(days=number)
            store.add(replace(run, campaign=f"{number}", started=when, commit=f"{number:040x}"), mine)
    return path


def test_a_folder_is_in_the_store_once(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "history.sqlite"
    assert "added, " in history("add", folder, "--store", path)[1]
    with Store(path) as store:
        before = (store.runs(), store.points(Filter()))
    status, text = history("add", folder, folder, "--store", path)
    assert (status, text.count("replaced, ")) == (0, 2)
    with Store(path) as store:
        assert (store.runs(), store.points(Filter())) == before
        assert len(store.runs()) == 1
        # The processor, as no name was given.
        assert {point.figure.testbed for point in store.points(Filter())} == {store.runs()[0][0].machine}


def test_every_kind_of_results_is_taken(folder: Path, tmp_path: Path) -> None:
    compared = run_comparison(tmp_path / "compared", sizes=(64,), figures=("forwarding_rate",), blocks=6)
    bench = tmp_path / "bench"
    bench.mkdir()
    write_record(bench / "summary.json", record_of(measurement_of(blocks_of(1.2, 8))))
    path = tmp_path / "history.sqlite"
    status, text = history("add", folder, compared, bench, "--store", path, "--testbed", "lab-1")
    assert status == 0, text
    with Store(path) as store:
        assert sorted(run.kind for run, _ in store.runs()) == ["bench-overload", "compare", "rfc2544"]
        found = store.points(Filter())
    assert {point.figure.testbed for point in found} == {"lab-1"}
    ratios = [point.figure for point in found if " / " in point.figure.device]
    assert {(one.test, one.device) for one in ratios} == {
        ("compare", "l2fwd-c / l2fwd-rs"),
        ("bench overload", "a / b"),
    }
    rates = [one.figure.device for one in found if one.figure.figure == "rate"]
    assert rates == ["a", "b"], "not the first once more"
    assert all(one.low is None or one.low <= one.value <= (one.high or one.value) for one in ratios)


def test_what_is_refused_is_named_with_the_remedy_and_the_rest_is_added(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    newer = run_campaign(tmp_path, TEXT)
    change_json(newer / "summary.json", schema_version=9)
    begun = begin_campaign(tmp_path, TEXT)
    begun.journal.close()
    compared = begin_comparison(tmp_path)
    compared.close()
    half, bench = tmp_path / "half", tmp_path / "bench"
    shutil.copytree(folder, half)
    (half / "summary.json").write_text((folder / "summary.json").read_text()[:500])
    bench.mkdir()
    interrupted = record_of(measurement_of(blocks_of(1.2, 8))).model_copy(update={"status": Status.INTERRUPTED})
    write_record(bench / "summary.json", interrupted)
    refused = [tmp_path / "empty", newer, begun.folder, compared.folder, half, bench]
    status, text = history("add", *refused, folder, "--store", tmp_path / "h.sqlite")
    assert status == 1
    assert "is no results folder that the store takes: give one that rfc2544" in text
    assert "has schema version 9, this tool reads version 1" in text
    assert text.count("is not finished: continue it with ./x testbed resume") == 2
    assert f"'{half / 'summary.json'}' is not a campaign's summary" in text
    assert f"'{bench}' is not finished" in text
    assert f"{folder}: added, " in text
    assert "6 of 7 folders were not added" in text
    with Store(tmp_path / "h.sqlite") as store:
        assert len(store.runs()) == 1


def test_files_that_are_no_store_are_left_alone(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    assert "fill one with ./x testbed history add FOLDER" in history("list", "--store", path)[1]
    path.write_text("not a database, and long enough that SQLite looks at it" * 40)
    for words in (["list"], ["add", folder]):
        status, text = history(*words, "--store", path)
        assert status == 1
        assert "file is not a database" in text
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as sql:
        sql.execute("CREATE TABLE mine (x)")
    assert "is a database of another program" in history("add", folder, "--store", other)[1]
    newer = tmp_path / "newer.sqlite"
    history("add", folder, "--store", newer)
    with sqlite3.connect(newer) as sql:
        sql.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    assert f"has schema version {SCHEMA_VERSION + 1}" in history("list", "--store", newer)[1]


def test_a_known_change_is_found_with_what_changed_with_it(filled: Path) -> None:
    status, text = history("changes", "--store", filled)
    assert status == 0, text
    lines = [line for line in text.splitlines() if "confidence 9" in line]
    assert len(lines) == 1
    assert lines[0].startswith(f"throughput, {RATE}: one, 64 bytes, on lab-1")
    assert "(-5." in lines[0] or "(-4." in lines[0]
    assert "DPDK 22.11.4 to 24.11.1" in lines[0]
    assert "chance alone gives" in text


def test_a_trend_answers_by_device_version_and_size(filled: Path) -> None:
    status, text = history("trend", "--store", filled, "--device", "one", "--size", "64", "--json")
    assert status == 0, text
    (series,) = json.loads(text)
    assert (series["device"], series["figure"], series["unit"]) == ("one", RATE, "frames/s")
    assert len(series["points"]) == 30
    (change,) = series["changes"]
    assert change["campaign"] == "18"
    assert change["after"] / change["before"] == pytest.approx(0.95, abs=0.005)
    older = json.loads(history("trend", "--store", filled, "--device", "one", "--dpdk", "22.11.4", "--json")[1])
    assert [len(one["points"]) for one in older] == [18]
    assert not older[0]["changes"]
    status, text = history("trend", "--store", filled, "--size", "1518")
    assert status == 1
    assert "no figure in the store" in text
    text = history("trend", "--store", filled, "--device", "one")[1]
    assert "0000000000" in text
    assert "change: " in text
    assert history("list", "--store", filled)[1].count("rfc2544") >= 30


def test_the_page_needs_nothing_else(filled: Path, tmp_path: Path) -> None:
    path = tmp_path / "history.html"
    assert history("page", path, "--store", filled)[0] == 0
    text = path.read_text()
    assert text.count("<svg") == 1
    assert "1 change of level in 2 series" in text
    assert "DPDK 22.11.4 to 24.11.1" in text
    assert "http" not in text.replace("http://www.w3.org/", "")


def test_other_testbeds_presets_and_scenarios_are_other_series(folder: Path, tmp_path: Path) -> None:
    run, figures = read_results(folder)
    with Store(tmp_path / "h.sqlite", create=True) as store:
        for number, changed in enumerate([{}, {"preset": "csit"}, {"scenario": "other"}]):
            store.add(replace(run, campaign=str(number), **changed), figures[:1])
        store.add(replace(run, campaign="3"), [replace(figures[0], testbed="lab-2")])
        assert len(series_of(store.points(Filter()))) == 4
        sizes = [replace(figures[0], frames=f"{size} bytes") for size in (64, 128, 1518)]
        store.add(replace(run, campaign="4", scenario="sizes"), sizes)
        found = series_of([point for point in store.points(Filter()) if point.run.scenario == "sizes"])
        assert [one.key.frames for one in found] == ["64 bytes", "128 bytes", "1518 bytes"]


def test_series_without_a_change_show_one_as_seldom_as_is_said() -> None:
    """Of 300 series of pure noise, whatever its kind, more than nine with a change have a probability of 0.1 %."""
    random = np.random.default_rng(1)
    kinds = (random.normal, random.standard_cauchy, random.exponential)
    found = sum(bool(changes(kinds[number % 3](size=FEWEST + number % 20))) for number in range(300))
    assert found <= 9
    assert SIGNIFICANCE == 0.01


def test_steps_are_found_where_they_are() -> None:
    random = np.random.default_rng(2)
    others = 0
    for _ in range(10):
        found = changes(random.normal(0, 1, 60) + np.repeat([0.0, 6.0, 2.0], 20))
        near = [one for one in found if min(abs(one.at - 20), abs(one.at - 40)) <= 1]
        assert [one.at for one in near] == pytest.approx([20, 40], abs=1)
        assert all(one.confidence >= 1 - SIGNIFICANCE for one in near)
        assert (near[0].before, near[1].after) == pytest.approx((0, 2), abs=1)
        others += len(found) - len(near)
    # Each of the three levels is searched too.
    assert others <= 2


def test_outliers_and_constants_are_no_change() -> None:
    quiet = list(np.random.default_rng(3).normal(10, 0.1, 30))
    assert not changes(quiet)
    for number in (0, 14, 29):
        spoilt = list(quiet)
        spoilt[number] = 0.0
        assert not changes(spoilt)
    stepped = list(np.asarray(quiet) + np.repeat([0.0, 1.0], 15))
    stepped[4] = 1000.0
    assert [one.at for one in changes(stepped)] == [15]
    assert not changes([1.0] * 30)
    assert not changes([1.0] * 5 + [2.0] * 5), f"of fewer than {FEWEST}"
    assert [one.at for one in changes([1.0] * 6 + [2.0] * 6)] == [6]
