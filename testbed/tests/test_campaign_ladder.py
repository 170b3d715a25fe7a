# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Latency over a ladder of loads: what is graded, what is drawn, and which load a threshold is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from campaign_folders import TEXT, run_campaign
from campaign_models import Tape
from matplotlib.axes import Axes

from testbed.campaign.acceptance.threshold import parse_threshold
from testbed.campaign.csv_files import unit_of
from testbed.campaign.diff.values import values_of
from testbed.campaign.folder import read_folder
from testbed.campaign.measurements import latency
from testbed.campaign.measurements.latency import LatencyFound, LatencySettings, measure_latency
from testbed.campaign.presets import PRESETS
from testbed.campaign.report import curves, tables
from testbed.campaign.report.charts import Line
from testbed.campaign.report.sections import campaign_sections
from testbed.campaign.report.tables import PERCENTILES
from testbed.campaign.scenario_error import ScenarioError
from testbed.campaign.scenario_file import parse_scenario
from testbed.campaign.simulated import DeviceModel, SimulatedGenerator
from testbed.campaign.summary import Verdict
from testbed.campaign.trial import Stream, TrialResult
from testbed.campaign.validity import Trials

SMALL = Stream(size=64)
MODEL = DeviceModel(throughput_fps={64: 1e6}, latency_base_ns=5000, latency_rest_ns=1000, generator_ns=2000)
LADDER = TEXT.replace("tests: [", "tests: [throughput, latency] #").replace("sizes: [64, 512, 1518]", "sizes: [64]")
LADDER = LADDER.replace("latency_base_ns: 5000", "generator_ns: 2000\n      latency_base_ns: 5000")
LADDER = LADDER.replace("noise: 0.002", "noise: 0").replace("shortfalls: 0.05", "shortfalls: 0")
LADDER += """\
settings:
  latency: {ladder: [0.1, 0.5]}
thresholds:
  - average latency at 50 % ≤ 9 µs at 64 bytes for l2fwd-c
  - average latency at 10 % ≤ 7 µs
  - average latency ≤ 10 µs
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_campaign(tmp_path_factory.mktemp("ladder"), LADDER)


def test_the_full_preset_measures_10_50_and_90_percent_beside_the_rate_itself_and_quick_keeps_its_time() -> None:
    assert PRESETS["rfc2544"].latency.shares == (0.1, 0.5, 0.9, 1.0)
    assert PRESETS["csit"].latency.shares == (0.1, 0.5, 0.9)
    assert PRESETS["quick"].latency.shares == PRESETS["rehearsal"].latency.shares == (1.0,)
    # A load that is both is measured once.
    assert LatencySettings(ladder=(1, 0.5, 0.5)).shares == (0.5, 1.0)


def test_each_load_has_its_latency_and_only_that_at_the_throughput_is_graded() -> None:
    settings = LatencySettings(ladder=(0.9, 0.25))
    # The rate is a little more than the device forwards: its buffer is full at the rate alone.
    found = measure_latency(Trials(SimulatedGenerator(MODEL)), SMALL, 1.001e6, settings)
    assert [(at.share, at.load_fps, at.lossy) for at in found.loads] == [
        (0.25, 0.25 * 1.001e6, 0),
        (0.9, 0.9 * 1.001e6, 0),
        (1.0, 1.001e6, 20),
    ]
    assert [at.average_ns.mean for at in found.loads[:2]] == [pytest.approx(8000), pytest.approx(8000)]
    assert found.average_ns.mean > 1e6
    assert [len(at.repetitions) for at in found.loads] == [3, 3, 20]
    assert {at.baseline.avg for at in found.loads} == {2000}
    alone = measure_latency(Trials(SimulatedGenerator(MODEL)), SMALL, 1.001e6, LatencySettings(ladder=()))
    assert found.graded == alone.graded
    assert found.percentiles == alone.percentiles
    assert latency.REPEATED not in [one.clause for one in found.graded.missing]
    assert (found.trials, alone.trials) == (26, 20)
    assert found.at(0.9) is found.loads[1]
    assert found.at(0.3) is None


def test_a_load_without_a_valid_trial_costs_no_other_figure() -> None:
    def change(result: TrialResult) -> TrialResult:
        return result.invalidated(["a cable is out"]) if result.plan.load_fps == 0.5e6 else result

    tape = Tape(SimulatedGenerator(MODEL), change=change)
    found = measure_latency(Trials(tape), SMALL, 1e6)
    assert [at.share for at in found.loads] == [0.1, 0.9, 1.0]
    (reason,) = found.left_out
    assert re.fullmatch(r"50 % of the throughput: \d+ trials of 64 bytes at 500,000 .* a cable is out", reason)


def test_a_threshold_says_at_which_load_and_its_verdict_too(folder: Path) -> None:
    judged = read_folder(folder).summary.acceptance
    assert [one.verdict for one in judged] == [Verdict.PASSED, *[Verdict.FAILED] * 2, *[Verdict.PASSED] * 2]
    first, _, at_10_percent, *_ = judged
    # Half of the lowest throughput, that of l2fwd-rs.
    assert re.fullmatch(r"8 µs at 5\.\d{4} Mpps", first.measured)
    assert re.fullmatch(r"9 µs at 1\.\d{4} Mpps", at_10_percent.measured)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("throughput at 50 % ≥ 1 Mpps", "'throughput' has no load to choose: only a latency is measured at several"),
        ("PDV at 30 % ≤ 1 ms", "latency is not measured at 30 % of the throughput: choose from 10 %, 50 %, 100 %, or"),
    ],
)
def test_a_load_that_is_not_measured_is_refused(text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(message)):
        parse_scenario(LADDER + f"  - '{text}'\n", "s.yaml")
    with pytest.raises(ScenarioError, match=r"settings\.latency\.ladder\.0: Input should be less than or equal to 1"):
        parse_scenario(LADDER.replace("[0.1, 0.5]", "[50]"), "s.yaml")


def test_percentages_of_a_figure_s_name_are_no_load() -> None:
    named, loaded = (
        parse_threshold("99.9 % latency ≤ 9 µs"),
        parse_threshold("99.9 % latency at 10 % ≤ 9 µs at 64 bytes"),
    )
    assert (named.figure, named.share) == (loaded.figure, None)
    assert (loaded.share, loaded.sizes) == (0.1, (64,))


def test_the_report_has_a_row_for_each_load_and_curves_by_load(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = read_folder(folder)
    table = tables.latency_table(record)
    share = table.columns.index("Load [%]")
    assert [(row.cells[1], row.cells[share]) for row in table.rows] == [
        (device, load) for device in ("l2fwd-c", "l2fwd-rs") for load in ("10", "50", "100")
    ]
    lines: list[tuple[str, int]] = []

    def line(axes: Axes, of: Line, points: Sequence[tuple[float, float]]) -> None:
        lines.append((of.label, len(points)))
        axes.plot(*zip(*points, strict=True), label=of.label)

    monkeypatch.setattr(curves, "_line", line)
    (section,) = [one for one in campaign_sections(record) if one.title == "Latency"]
    assert [caption for caption, _ in section.charts] == [
        "Latency percentiles, 64 bytes",
        "Median latency by load, 64 bytes",
        "99.9th percentile of latency by load, 64 bytes",
    ]
    # One line a device, and the generator alone at their loads, which are the same.
    assert lines[2:] == 2 * [("l2fwd-c", 3), ("l2fwd-rs", 3), ("generator alone", 3)]


def test_a_generator_without_a_distribution_has_a_curve_of_the_average(folder: Path) -> None:
    record = read_folder(folder)
    for place, result in record.results.items():
        if isinstance(result, LatencyFound):
            plain = {"repetitions": [one.model_copy(update=dict.fromkeys(PERCENTILES)) for one in result.repetitions]}
            ladder = [at.model_copy(update=plain) for at in result.ladder]
            record.results[place] = result.model_copy(update={"ladder": ladder} | plain)
    assert [caption for caption, _ in curves.load_curves(record)] == ["Average latency by load, 64 bytes"]


def test_one_load_has_no_curve_by_load(folder: Path) -> None:
    record = read_folder(folder)
    for place, result in record.results.items():
        if isinstance(result, LatencyFound):
            record.results[place] = result.model_copy(update={"ladder": []})
    assert curves.load_curves(record) == []


def test_each_load_is_a_figure_of_its_own_for_diff_and_csv(folder: Path) -> None:
    figures = {key.figure for key in values_of(read_folder(folder)) if key.test == "latency"}
    assert {"average", "average at 10 % of the throughput", "PDV at 50 % of the throughput"} <= figures
    rows = (folder / "summary.csv").read_text()
    assert ",ladder.1.average_ns.mean," in rows
    assert unit_of("ladder.1.repetitions.0.p99_9") == unit_of("ladder.1.baseline.avg") == "ns"
    assert unit_of("ladder.0.load_fps") == "frames/s"
    assert unit_of("ladder.0.repetitions.0.count") == unit_of("ladder.0.share") == ""
