# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Thresholds of a scenario: how they are read and judged, the exit status, and JUnit XML."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from campaign_folders import begin_campaign, console, run_campaign
from typer.testing import CliRunner

from testbed.campaign.acceptance.junit import JUNIT, as_junit
from testbed.campaign.acceptance.threshold import parse_threshold
from testbed.campaign.report.document import MARKDOWN, REPORT, write_report
from testbed.campaign.scenario_error import ScenarioError
from testbed.campaign.scenario_file import parse_scenario, read_scenario, scenarios_folder
from testbed.campaign.summary import CampaignSummary, Verdict, read_campaign_summary
from testbed.cli import app
from testbed.page.tables import markdown_text
from testbed.run.results_folder import Status

# On a line of 25 Gbit/s; device 'line' forwards everything at 512 bytes.
TEXT = """\
name: accepted
generator: {kind: simulated}
devices:
  - name: slow
    model: &slow
      throughput_fps: {64: 12.4e+6, 512: 5.1e+6}
      latency_base_ns: 5000
      latency_rest_ns: 1000
      buffer_frames: 1024
  - name: line
    model: {<<: *slow, throughput_fps: {64: 12.4e+6, 512: 5.874e+6}}
frames: {sizes: [64, 512]}
tests: [throughput, latency, frame_loss, back_to_back, recovery, reset, forwarding_rate]
preset: quick
"""


def text_with(*thresholds: str, text: str = TEXT) -> str:
    return text + "thresholds:\n" + "".join(f"  - '{one}'\n" for one in thresholds)


def verdicts(summary: CampaignSummary) -> dict[tuple[str, str, Any], Verdict]:
    return {(one.threshold, one.device, one.size): one.verdict for one in summary.acceptance}


THRESHOLDS = {
    # What is known of device 'slow' at 64 bytes, from the model: 12.4 Mpps of 37.2.
    "throughput ≥ 12.2 Mpps at 64 bytes for slow": Verdict.PASSED,
    "throughput ≥ 12200 kpps at 64 bytes for slow": Verdict.PASSED,
    "throughput ≥ 6.2 Gbit/s at 64 bytes for slow": Verdict.PASSED,
    "throughput ≥ 6.5 Gbit/s at 64 bytes for slow": Verdict.FAILED,
    "throughput ≥ 32 % at 64 bytes for slow": Verdict.PASSED,
    "throughput ≥ 34 % at 64 bytes for slow": Verdict.FAILED,
    "throughput >= 12.6 Mpps at 64 bytes for slow": Verdict.FAILED,
    "forwarding rate ≥ 12.3 Mpps at 64 bytes for slow": Verdict.PASSED,
    "forwarding rate ≥ 12.5 Mpps at 64 bytes for slow": Verdict.FAILED,
    "average latency ≤ 6.1 µs at 64 bytes for slow": Verdict.PASSED,
    "average latency ≤ 5.9 us at 64 bytes for slow": Verdict.FAILED,
    "99.9 % latency ≤ 12 µs at 64 bytes for slow": Verdict.PASSED,
    "99.9 % latency ≤ 11 µs at 64 bytes for slow": Verdict.FAILED,
    "jitter ≤ 1.01 µs at 64 bytes for slow": Verdict.PASSED,
    "frame loss ≤ 70 % at 64 bytes for slow": Verdict.PASSED,
    "frame loss ≤ 60 % at 64 bytes for slow": Verdict.FAILED,
    "back-to-back frames ≥ 1500 frames at 64 bytes for slow": Verdict.PASSED,
    "back-to-back frames ≥ 1600 frames at 64 bytes for slow": Verdict.FAILED,
    "recovery time ≤ 300 ms at 64 bytes for slow": Verdict.PASSED,
    "recovery time ≤ 0.2 s at 64 bytes for slow": Verdict.FAILED,
    # The longer one: of the process.
    "reset time ≤ 1.6 s for slow": Verdict.PASSED,
    "reset time ≤ 1 s for slow": Verdict.FAILED,
    # It forwards the line's rate: there is no burst to search for, and no overload.
    "back-to-back frames ≥ 10 frames at 512 bytes for line": Verdict.NOT_TOLD,
    "recovery time ≤ 1 s at 512 bytes for line": Verdict.NOT_TOLD,
    "frame loss ≤ 0 % at 512 bytes for line": Verdict.PASSED,
    "forwarding rate ≥ 99.9 % at 512 bytes for line": Verdict.PASSED,
}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_campaign(tmp_path_factory.mktemp("judged"), text_with(*THRESHOLDS))


def test_thresholds_are_judged_by_what_is_known_of_the_devices(judged: Path) -> None:
    summary = read_campaign_summary(judged)
    assert summary.status is Status.PASSED
    assert {one.threshold: one.verdict for one in summary.acceptance} == THRESHOLDS
    assert all(one.measured for one in summary.acceptance if one.verdict is not Verdict.NOT_TOLD)
    assert all(one.reason for one in summary.acceptance if one.verdict is Verdict.NOT_TOLD)
    first = summary.acceptance[0]
    assert re.fullmatch(r"12\.[23]\d* Mpps", first.measured)


def test_a_threshold_without_sizes_and_device_is_about_all(tmp_path: Path) -> None:
    text = text_with("throughput ≥ 5.05 Mpps", "throughput ≥ 5.3 Mpps at 512, 64 bytes", text=TEXT)
    folder = run_campaign(tmp_path, re.sub("tests: .*", "tests: [throughput]", text))
    found = verdicts(read_campaign_summary(folder))
    assert len(found) == 2 * 2 * 2
    failed = [key for key, verdict in found.items() if verdict is not Verdict.PASSED]
    assert failed == [("throughput ≥ 5.3 Mpps at 512, 64 bytes", "slow", 512)]


def test_a_limit_of_the_generator_is_no_pass_and_no_failure(tmp_path: Path) -> None:
    text = re.sub("tests: .*", "tests: [throughput, frame_loss, forwarding_rate]", TEXT)
    thresholds = (
        "throughput ≥ 12 Mpps at 64 bytes for slow",
        "throughput ≥ 3.9 Mpps at 64 bytes for slow",
        "forwarding rate ≥ 12 Mpps at 64 bytes for slow",
        "frame loss ≤ 1 % at 64 bytes for slow",
    )
    folder = run_campaign(tmp_path, text_with(*thresholds, text=text), {"max_fps": lambda size: 4e6})
    summary = read_campaign_summary(folder)
    assert [one.verdict for one in summary.acceptance] == [
        Verdict.NOT_TOLD,
        Verdict.PASSED,
        Verdict.NOT_TOLD,
        Verdict.NOT_TOLD,
    ]
    assert "the highest rate that the generator could offer" in summary.acceptance[0].reason
    assert "the generator offered 4.0000 Mpps at most" in summary.acceptance[3].reason
    assert summary.not_accepted


def changed(summary: CampaignSummary, judged: Path, place: str, **fields: Any) -> dict[str, Any]:
    """The verdicts, had the finding at a place these fields."""
    from testbed.campaign.acceptance.judgement import judgements

    scenario = parse_scenario(text_with(*THRESHOLDS), "s.yaml")
    findings = [
        one.model_copy(update=fields.get("finding", {}) | {"result": {**one.result, **fields.get("result", {})}})
        if one.place == place
        else one
        for one in summary.findings
    ]
    return {one.threshold: one for one in judgements(scenario, findings) if one.place == place}


def test_figures_in_doubt_are_not_told(judged: Path) -> None:
    summary = read_campaign_summary(judged)
    throughput, latency = "slow/64B/1way/1flows/throughput", "slow/64B/1way/1flows/latency"
    refuted = changed(summary, judged, throughput, result={"at_rate": {"trials": 3, "lossy": 2}})
    assert {one.verdict for one in refuted.values()} == {Verdict.NOT_TOLD}
    assert all(one.reason == "2 of 3 trials at this rate lost frames" for one in refuted.values())
    lossy = changed(summary, judged, latency, result={"lossy": 1})
    assert {one.verdict for one in lossy.values()} == {Verdict.NOT_TOLD}
    failed = changed(summary, judged, latency, finding={"status": "failed", "reason": "6 trials were invalid"})
    assert {(one.verdict, one.reason) for one in failed.values()} == {
        (Verdict.NOT_TOLD, "failed: 6 trials were invalid")
    }


def test_between_the_bounds_of_the_search_nothing_is_told(judged: Path) -> None:
    summary = read_campaign_summary(judged)
    place = "slow/64B/1way/1flows/throughput"
    goals = next(one for one in summary.findings if one.place == place).result["goals"]
    goals[0]["upper"]["load_fps"] = 13e6
    found = changed(summary, judged, place, result={"goals": goals})
    between = found["throughput >= 12.6 Mpps at 64 bytes for slow"]
    assert between.verdict is Verdict.NOT_TOLD
    assert "the first rate with loss is 13 Mpps" in between.reason
    assert found["throughput ≥ 12.2 Mpps at 64 bytes for slow"].verdict is Verdict.PASSED


def test_what_an_interrupted_campaign_has_not_measured_is_not_told(tmp_path: Path) -> None:
    text = re.sub("tests: .*", "tests: [throughput]", TEXT)
    campaign = begin_campaign(tmp_path, text_with("throughput ≥ 1 Mpps at 64, 512 bytes for slow", text=text))
    measure, groups = campaign._measure_group, []

    def once(*arguments: Any) -> None:
        if groups:
            raise KeyboardInterrupt
        groups.append(measure(*arguments))

    campaign._measure_group = once
    assert campaign.run(console()) is Status.INTERRUPTED
    assert Verdict.NOT_TOLD in verdicts(campaign.summary).values()
    assert {one.reason for one in campaign.summary.not_accepted} == {"it was not measured"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("throughput > 20 Mpps", "give a figure, ≥ or ≤, a number with its unit"),
        ("throughput ≥ 20", "give a figure, ≥ or ≤, a number with its unit"),
        ("throughput ≥ fast Mpps", "give a figure, ≥ or ≤, a number with its unit"),
        ("goodput ≥ 20 Mpps", "no figure is called 'goodput': choose from throughput, forwarding rate, "),
        ("throughput ≤ 20 Mpps", "more is better for 'throughput': write ≥"),
        ("average latency >= 20 µs", "less is better for 'average latency': write ≤"),
        ("throughput ≥ 20 mpps", "'mpps' is no unit of 'throughput': choose from pps, kpps, Mpps"),
        ("average latency ≤ 20 Mpps", "'Mpps' is no unit of 'average latency': choose from ns, µs, us, ms, s"),
        ("throughput ≥ 20 Mpps at small bytes", "'small bytes' are no sizes: give such as '64 bytes'"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_threshold(text)
    with pytest.raises(ScenarioError, match=rf"s\.yaml:17: thresholds\.1: .*{re.escape(message)}"):
        parse_scenario(text_with("throughput ≥ 1 Mpps", text), "s.yaml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("soak loss ≤ 0 %", "'soak loss' comes of the test 'soak': add it to tests"),
        ("throughput ≥ 1 Mpps for quick", "the scenario has no device 'quick': choose from slow, line"),
        ("throughput ≥ 1 Mpps at 128 bytes", "throughput is not measured at 128 bytes: choose from 64, 512 bytes"),
        ("reset time ≤ 1 s at 512 bytes", "reset is not measured at 512 bytes: choose from 64 bytes"),
    ],
)
def test_a_threshold_on_what_is_not_measured_is_refused(text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(f"s.yaml:16: thresholds.0: {message}")):
        parse_scenario(text_with(text), "s.yaml")


def test_the_exit_status_tells_what_was_not_accepted(tmp_path: Path) -> None:
    file = tmp_path / "accepted.yaml"
    text = re.sub("tests: .*", "tests: [throughput]", TEXT)
    file.write_text(text_with("throughput ≥ 12 Mpps at 64 bytes", "throughput ≥ 5.3 Mpps at 512 bytes", text=text))
    words = ["rfc2544", "--scenario", str(file), "--out"]
    done = CliRunner().invoke(app, [*words, str(tmp_path / "all")])
    assert done.exit_code == 3, done.output
    assert (
        "not accepted: 1 of 4 thresholds have not passed; the first is 'throughput ≥ 5.3 Mpps at 512 bytes' with slow, "
        "512 bytes: failed: 5.0" in done.output
    )
    # What the command line leaves out has no threshold, and that is said.
    done = CliRunner().invoke(app, [*words, str(tmp_path / "some"), "--sizes", "64"])
    assert done.exit_code == 0, done.output
    assert "the threshold 'throughput ≥ 5.3 Mpps at 512 bytes' is left out: throughput is not measured" in done.output


def test_a_ci_gets_a_case_for_each_threshold_and_measurement(judged: Path) -> None:
    top = ElementTree.fromstring((judged / JUNIT).read_text())
    suites = {suite.get("name"): suite for suite in top}
    cases = suites["thresholds"].findall("testcase")
    assert [case.get("name") for case in cases] == list(THRESHOLDS)
    for case in cases:
        kinds = {Verdict.PASSED: [], Verdict.FAILED: ["failure"], Verdict.NOT_TOLD: ["error"]}
        assert [part.tag for part in case] == kinds[THRESHOLDS[case.get("name")]], case.get("name")
    counts = list(THRESHOLDS.values())
    assert suites["thresholds"].get("failures") == str(counts.count(Verdict.FAILED))
    assert suites["thresholds"].get("errors") == str(counts.count(Verdict.NOT_TOLD))
    summary = read_campaign_summary(judged)
    assert len(suites["measurements"]) == len(summary.findings)
    assert suites["campaign"].get("errors") == "0"
    # What a program has printed may be anything.
    summary.status, summary.reason = Status.FAILED, 'it said \x1b[31m<"no">\x00\n& ended'
    top = ElementTree.fromstring(as_junit(summary))
    error = top.find("testsuite[@name='campaign']/testcase/error")
    assert error.get("message") == 'it said �[31m<"no">�'
    assert "& ended" in error.text


def test_the_report_has_the_verdicts_before_the_figures(judged: Path) -> None:
    write_report(judged)
    text = (judged / MARKDOWN).read_text()
    passed = list(THRESHOLDS.values()).count(Verdict.PASSED)
    assert f"{passed} of {len(THRESHOLDS)} thresholds have passed" in text
    section = text.partition("## Acceptance")[2].partition("\n## ")[0]
    assert text.index("## Overview") < text.index("## Acceptance") < text.index("## By frame size")
    for threshold, verdict in THRESHOLDS.items():
        assert re.search(rf"\| {re.escape(markdown_text(threshold))} \| {verdict} \|", section), threshold
    assert "Not accepted" in (judged / REPORT).read_text()


def test_the_ready_scenario_accepts_its_devices(tmp_path: Path) -> None:
    scenario = read_scenario(scenarios_folder() / "acceptance.yaml")
    assert scenario.thresholds
    text = (scenarios_folder() / "acceptance.yaml").read_text()
    folder = run_campaign(tmp_path, text)
    assert read_campaign_summary(folder).not_accepted == []
