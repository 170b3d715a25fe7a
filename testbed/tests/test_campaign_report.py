# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The report of a campaign: all that was measured, nothing else, the same in both forms, and a browser shows it."""

from __future__ import annotations

import csv
import dataclasses
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from browser import NAMES, Browser, find_browser
from campaign_folders import (
    COMMAND,
    TEXT,
    begin_campaign,
    begin_comparison,
    change_json,
    run_campaign,
    run_comparison,
)
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from test_report import EVIL, Structure, assert_self_contained
from typer.testing import CliRunner

from testbed.campaign import grade
from testbed.campaign.embedded import calibration
from testbed.campaign.folder import CampaignFolder, read_folder
from testbed.campaign.frame_format import frame_format
from testbed.campaign.measurements.latency import LatencyFound
from testbed.campaign.measurements.reset import Reset
from testbed.campaign.measurements.result import Sample
from testbed.campaign.measurements.throughput import Throughput
from testbed.campaign.report import curves as report_curves
from testbed.campaign.report.charts import labelled
from testbed.campaign.report.curves import left_out, microseconds_axis, time_unit
from testbed.campaign.report.document import MARKDOWN, REPORT, as_markdown, as_page, make_report, write_report
from testbed.campaign.report.evidence import validity_lines, waiting_caution
from testbed.campaign.report.grades import grade_tables
from testbed.campaign.report.loads import ceilings_in_words
from testbed.campaign.report.machine_pauses import (
    causes_in_words,
    pauses_table,
    rings_words,
    slowest_frames_words,
)
from testbed.campaign.report.ranges import averages_explained, latencies_compared
from testbed.campaign.report.tables import latency_remarks, percentile_table
from testbed.campaign.scenario import Measurement
from testbed.campaign.scenario_file import parse_scenario
from testbed.campaign.sizes import ARTICLE_SIZES, RFC_SIZES
from testbed.campaign.summary import read_campaign_summary
from testbed.campaign.traffic_generator import Capabilities
from testbed.campaign.trial import Gaps, Latency, Pacing, ResetKind, ResetPlan, ResetResult, TrialPlan, TrialResult
from testbed.cli import app
from testbed.page.charts import draw
from testbed.run.results_folder import ResultsError, Status

SIZES = (64, 512, 1518)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished campaign with its report."""
    folder = run_campaign(tmp_path_factory.mktemp("campaign"))
    assert read_campaign_summary(folder).status is Status.PASSED
    write_report(folder)
    return folder


@pytest.fixture(scope="module")
def page(campaign: Path) -> str:
    return (campaign / REPORT).read_text()


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = run_comparison(tmp_path_factory.mktemp("comparison"))
    write_report(folder)
    return folder


def report_of(folder: Path) -> str:
    return write_report(folder).read_text()


def captions(page: str) -> list[str]:
    """Of the charts; test_campaign_topology.py looks at the topologies."""
    found = re.findall(r"<figcaption>(.*?)</figcaption><svg", page)
    return [caption for caption in found if not caption.startswith("Topology")]


def results(folder: Path) -> dict[tuple[Measurement, str, int], dict]:
    summary = read_campaign_summary(folder)
    return {(one.measurement, one.device, one.size): one.result for one in summary.findings if one.result}


def is_cell(page: str, text: str) -> bool:
    return f">{text}</td>" in page


def test_the_page_is_whole_and_needs_nothing_else(page: str) -> None:
    assert_self_contained(page)
    drawings = "".join(re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL))
    assert re.findall(r"#[0-9a-fA-F]{6}\b", drawings) == []


def test_the_order(page: str) -> None:
    parts = ['class="verdict"', 'class="status non-compliant"', "Throughput in bit/s", "Difference of"]
    parts += ["Frame loss, 64 bytes", "Latency percentiles, 64 bytes", "Corrected buffer", "<h2>System recovery"]
    parts += ["Reset of the", "At first", "valid, ", "<h2>Time</h2>", "<dt>Processor</dt>", f"<code>{COMMAND}</code>"]
    places = [page.index(part) for part in parts]
    assert places == sorted(places)


def test_the_verdict_is_one_sentence_and_its_figures_are_the_results(campaign: Path, page: str) -> None:
    found = results(campaign)
    verdict = re.search(r'<p class="verdict">(.*?)</p>', page)[1]
    rates = {
        (device, size): found[Measurement.THROUGHPUT, device, size]["throughput_fps"]
        for device in ("l2fwd-c", "l2fwd-rs")
        for size in SIZES
    }
    ratios = [rates["l2fwd-rs", size] / rates["l2fwd-c", size] for size in SIZES]
    small = [f"{rates[device, 64] / 1e6:.4f}" for device in ("l2fwd-rs", "l2fwd-c")]
    assert verdict.startswith(
        f"Without loss, l2fwd-rs forwards {min(ratios):.3f} to {max(ratios):.3f} times as many frames as l2fwd-c "
        f"in this run at 64, 512, 1518 bytes, 1 of which do not distinguish them: at 64 bytes {small[0]} against "
        f"{small[1]} Mpps"
    )
    assert "quick look, never to be called RFC 2544" in page
    shortcoming = "Required: the settings are meant for RFC 2544. Done here: a quick look."
    assert f"The first clause that is not met is of this tool, presets (MUST). {shortcoming}" in page
    assert "≥" not in page


def test_every_chart_is_there(campaign: Path, page: str) -> None:
    drawn = captions(page)
    # By what they show: the numbers are those of an article, which is named.
    named = ["Throughput in bit/s", "Throughput in frames/s", "Average latency", "Jitter, mean |IPDV|", "Difference of"]
    for what in named:
        assert sum(caption.startswith(what) for caption in drawn) == 1, what
    assert [caption for caption in drawn if "Figure" in caption] == []
    article = "The article “Rust vs C: safety and performance in low-level network programming” has the same"
    assert f"{article} of other forwarders in its Figures 2, 3, 4, 5 and 6." in page
    # Nothing was limited by the offer.
    assert "A hollow mark" not in page
    assert "Bars span the repetitions." in page
    for what in ("Latency percentiles", "Soak: average latency"):
        assert sum(caption.startswith(what) for caption in drawn) == len(SIZES)
    found = results(campaign)
    lossy = {size for (test, _, size), one in found.items() if test == "frame_loss" and one["points"][0]["lost"]}
    soaked = {size for (test, _, size), one in found.items() if test == "soak" and one["lost"]}
    assert {64, 512} <= lossy
    assert sum(caption.startswith("Frame loss") for caption in drawn) == len(lossy)
    assert sum(caption.startswith("Soak: frames lost in each trial") for caption in drawn) == len(soaked)
    assert len(drawn) == 5 + 1 + 2 * len(SIZES) + len(lossy) + len(soaked) == page.count("<svg") - 1
    assert "theoretical" in page
    assert "on the wire, with preamble and gap" in page


def test_every_figure_is_there_in_both_forms(campaign: Path, page: str) -> None:
    text = (campaign / MARKDOWN).read_text()
    found = results(campaign)
    expected = []
    for device in ("l2fwd-c", "l2fwd-rs"):
        for size in SIZES:
            rate = found[Measurement.THROUGHPUT, device, size]["throughput_fps"]
            latency = found[Measurement.LATENCY, device, size]
            expected += [f"{rate / 1e6:.4f}", f"{rate * 8 * size / 1e9:.3f}", f"{rate * 8 * (size + 20) / 1e9:.3f}"]
            expected += [f"{latency['average_ns']['mean'] / 1e3:,.2f}", f"{latency['ipdv_ns']['mean'] / 1e3:,.2f}"]
            forwarding = found[Measurement.FORWARDING_RATE, device, size]
            expected += [f"{forwarding['forwarded_fps']['median'] / 1e6:.4f}", f"{forwarding['sent'] / 1e6:,.3f}"]
            expected.append(f"{found[Measurement.FRAME_LOSS, device, size]['points'][0]['loss_percent']:.4g}")
            burst = found[Measurement.BACK_TO_BACK, device, size]
            expected += [f"{1e6 * burst['corrected_buffer_s']:,.1f}"] if burst["corrected_buffer_s"] is not None else []
        expected.append(f"{found[Measurement.RECOVERY, device, 64]['recovery_s']['mean']:.4g}")
        expected.append(f"{found[Measurement.RESET, device, 64]['times'][0]['gap_s']['mean'] * 1e3:,.3f}")
    assert [figure for figure in expected if not is_cell(page, figure)] == []
    assert [figure for figure in expected if f"| {figure} |" not in text] == []
    assert f"```sh\n{COMMAND}\n```" in text
    assert text.index("Without loss, l2fwd-rs") < text.index("Grade: **non-compliant**") < text.index("## ")


# Columns of numbers without a unit: they count.
COUNTS = {"Repetitions", "Trials", "Trials there", "Streams", "Streams with loss", "of these invalid", "p", "Drifts"}
# Columns of words, or of numbers with their units.
WORDS = {"Loss of at most", "Lost at", "Loss in all trials there", "Frames lost under overload", "Traffic"}
TRENDS = {"At first", "At last"}


def test_every_column_of_numbers_has_its_unit(campaign: Path) -> None:
    tables = [table for section in make_report(read_folder(campaign)).sections for table in section.tables]
    columns = {
        column
        for table in tables
        if not table.title.startswith("Invalid trials")
        for column in table.columns[table.text_columns :]
    }
    assert {"Gap [ms]", "50th percentile [µs]", "99.99th percentile [µs]", "Deviation [frames]"} <= columns
    assert {name for name in columns if not name.endswith("]")} - COUNTS - WORDS - TRENDS == set()


def test_notes_explain_only_what_is_there(campaign: Path, capped: Path) -> None:
    notes = {one.title: one.note or "" for one in make_report(read_folder(campaign)).sections}
    assert "on the wire: with 20 bytes" in notes["Throughput"]
    assert "mean |IPDV|" in notes["Latency"]
    assert "TRex" not in notes["Latency"]
    assert "The baseline is that of the generator connected to itself" in notes["Latency"]
    without_rate = {one.title: one.note or "" for one in make_report(read_folder(capped)).sections}
    assert "on the wire" not in without_rate["Throughput"]
    record = read_folder(campaign)
    alone = {one.place: result.model_copy(update={"baseline": None}) for one, result in record.found(LatencyFound)}
    results = record.results | alone
    notes = {one.title: one.note or "" for one in make_report(dataclasses.replace(record, results=results)).sections}
    assert "baseline" not in notes["Latency"]
    assert "What the generator adds to it is not known." in notes["Latency"]


def with_samples(folder: Path, c: list[float], rust: list[float]) -> CampaignFolder:
    """The campaign as if these had been the average latencies in µs, and the gaps of all resets in ms."""
    record, results = read_folder(folder), {}
    for finding, result in record.found(LatencyFound):
        values = {"l2fwd-c": c, "l2fwd-rs": rust}[finding.device]
        results[finding.place] = result.model_copy(update={"average_ns": Sample.of([1e3 * one for one in values])})
    for finding, result in record.found(Reset):
        gap = Sample.of([one / 1e3 for one in {"l2fwd-c": c, "l2fwd-rs": rust}[finding.device]])
        times = [time.model_copy(update={"gap_s": gap}) for time in result.times]
        results[finding.place] = result.model_copy(update={"times": times})
    return dataclasses.replace(record, results=record.results | results)


def test_latencies_and_resets_of_two_devices_are_compared_by_their_ranges(campaign: Path) -> None:
    texts = {one.title: one.text for one in make_report(with_samples(campaign, [7, 8], [7.5, 9])).sections}
    assert texts["Latency"][0] == (
        "Average latency at 64 bytes; 512 bytes; 1518 bytes: the ranges of l2fwd-rs and l2fwd-c overlap in 2 streams "
        "of 2 s with each device, so no difference is shown."
    )
    assert texts["Reset"][0] == (
        "Gap after a reset of the process at 64 bytes: the ranges of l2fwd-rs and l2fwd-c overlap in 2 resets with "
        "each device, so no difference is shown."
    )
    texts = {one.title: one.text for one in make_report(with_samples(campaign, [7, 8], [8.5, 9])).sections}
    assert texts["Latency"][0] == (
        "Average latency at 64 bytes; 512 bytes; 1518 bytes: the ranges of l2fwd-rs and l2fwd-c do not overlap in 2 "
        "streams of 2 s with each device; that of l2fwd-c is lower. So few repetitions are no proof: './x testbed "
        "compare' tests it."
    )
    assert "2 resets with each device; that of l2fwd-c is lower." in texts["Reset"][0]
    assert "that of l2fwd-rs is lower." in latencies_compared(with_samples(campaign, [7, 8], [5, 6]))[0]
    assert latencies_compared(with_samples(campaign, [7], [8])) == [
        "Average latency: l2fwd-rs and l2fwd-c are not compared: one repetition has no range."
    ]
    record = with_samples(campaign, [7, 8], [8.5, 9])
    drift = record.summary.drift.model_copy(update={"again_fps": 0.9 * record.summary.drift.first_fps})
    changed = record.summary.model_copy(update={"drift": drift})
    assert (
        "are not compared: the machine changed" in latencies_compared(dataclasses.replace(record, summary=changed))[0]
    )


def test_an_average_far_above_the_median_is_explained(campaign: Path) -> None:
    assert averages_explained(read_folder(campaign)) == []
    record = read_folder(campaign)
    finding, result = next(iter(record.found(LatencyFound)))
    first, *others = result.repetitions
    slow = first.model_copy(update={"avg": 9 * first.p50})
    record.results[finding.place] = result.model_copy(update={"repetitions": [slow, *others]})
    (line,) = averages_explained(record)
    assert line.startswith(
        f"The average of a stream is up to 9.0 times its median ({finding.device}, 64 bytes), since a"
    )
    assert re.search(r": 1 in 100 took \d+\.\d\d µs or longer there\. ", line)
    # The models have no pauses.
    assert "Pauses of the machine" not in line


def test_an_average_that_one_stream_decides_is_named(campaign: Path) -> None:
    assert not any("decides the average" in line for line in latency_remarks(read_folder(campaign)))
    lines = latency_remarks(with_samples(campaign, [5, 6, 40], [7, 8, 9]))
    line, *others = [line for line in lines if "decides the average" in line]
    assert len(others) == 2
    assert line.startswith("l2fwd-c, 64 bytes: one of 3 streams at ")
    assert line.endswith("those of the streams are 5.00, 6.00, 40.00 µs.")


def test_what_does_not_count_is_named(campaign: Path) -> None:
    record = read_folder(campaign)
    place, stream = next(
        (place, one)
        for place, one in record.evidence.trials
        if isinstance(one, TrialResult) and one.latency is not None
    )
    spoilt = stream.model_copy(update={"valid": False, "lost": 12, "sent": 100})
    evidence = dataclasses.replace(record.evidence, trials=[(place, spoilt)])
    assert "1 of them, resets apart, lost frames: 12 of 100." in validity_lines(evidence)[1]
    average = f"{spoilt.latency.avg / 1e3:.2f}"
    (line,) = [
        line for line in latency_remarks(dataclasses.replace(record, evidence=evidence)) if "invalid streams" in line
    ]
    assert line.endswith(f" Mpps, which do not count, had averages of {average} µs.")


def test_grades_are_explained_and_say_what_was_required_and_what_was_done(campaign: Path) -> None:
    record = read_folder(campaign)
    section = next(one for one in make_report(record).sections if one.title == "Grades")
    assert "Non-compliant: a clause with MUST is not met." in section.text[0]
    shown = {table.title: table for table in section.tables}
    # RFC 8219 grades the percentiles.
    assert {"Choice of frames: conditional", "Throughput: non-compliant", "Latency percentiles: non-compliant"} <= set(
        shown
    )
    for table in section.tables:
        assert table.columns == ["Clause", "Required", "Done here"]
    throughput = shown["Throughput: non-compliant"].rows[0].cells
    assert throughput == ["this tool, presets (MUST)", "the settings are meant for RFC 2544", "a quick look"]
    assert "RFC 2544, section 9.1 (SHOULD)" in {row.cells[0] for row in shown["Choice of frames: conditional"].rows}
    assert "| RFC 8219, section 7.2 (MUST) |" in (campaign / MARKDOWN).read_text()
    whole = {place: result.model_copy(update={"graded": grade.grade([])}) for place, result in record.results.items()}
    section = next(
        one for one in make_report(dataclasses.replace(record, results=whole)).sections if one.title == "Grades"
    )
    assert "Throughput: unconditional." in section.remarks
    # The only table of a campaign whose measurements meet all has its title.
    found = {place: result for place, result in whole.items() if not isinstance(result, LatencyFound)}
    report = make_report(dataclasses.replace(record, results=found))
    assert "<h3>Choice of frames: conditional</h3>" in as_page(report)
    assert "### Choice of frames: conditional\n" in as_markdown(report)


def test_trials_are_counted_with_their_reasons(campaign: Path, page: str) -> None:
    trials = read_campaign_summary(campaign).trials
    assert trials.invalid > 0
    assert f"{trials.total:,} trials: {trials.total - trials.invalid:,} valid, {trials.invalid:,} invalid." in page
    for reason, count in trials.reasons.items():
        assert is_cell(page, str(count))
        assert is_cell(page, reason)
    assert is_cell(page, "drift, measured again")
    assert "checks sequence, length, addresses and payload" in page


@pytest.mark.parametrize(
    ("lost", "share", "told"),
    [
        # While it waited 0.01 s of 2 s, 1,000 of its 100,000 frames/s came.
        ((1000, 900, 100_000), 0.005, "In 2 of 3 trials with loss, no more .*0.5 % of the time or more"),
        ((1001, 1002, 900), 0.005, None),
        ((0, 0, 0), 0.5, None),
        ((100, 100, 100), 0.0, None),
        ((100, 100, 100), None, None),
    ],
)
def test_losses_of_a_busy_machine_are_not_put_down_to_the_device(
    campaign: Path, lost: tuple[int, ...], share: float | None, told: str | None
) -> None:
    plan = TrialPlan(size=64, load_fps=100_000.0, duration_s=2.0)
    trials = [
        TrialResult(
            plan=plan,
            sent=200_000,
            received=200_000 - count,
            lost=count,
            offered_fps=100_000.0,
            duration_s=2.0,
            raw={} if share is None else {"device_waited_share": share},
        )
        for count in lost
    ]
    evidence = dataclasses.replace(read_folder(campaign).evidence, trials=[("place", one) for one in trials])
    found = waiting_caution(evidence)
    assert found is None if told is None else re.search(told, found or "")


def test_the_report_says_how_late_the_generator_was(campaign: Path) -> None:
    plan = TrialPlan(size=64, load_fps=100_000.0, duration_s=2.0)
    fields = {"plan": plan, "sent": 200_000, "received": 200_000, "lost": 0, "offered_fps": 1e5, "duration_s": 2.0}
    one, two = (TrialResult(**fields, pacing=Pacing(worst_lag_s=lag, caught_up=30)) for lag in (0.0004, 0.0021))
    # What its queue did not take has not left it.
    two = two.model_copy(update={"raw": {"generator": {"total": {"tx_failed": 1000}}}})
    evidence = read_folder(campaign).evidence
    late = "In valid trials the generator was late by at most 2.1 ms. 399,000 frames left it, and 60 were offered"
    for trials, said in (([one, two], True), ([TrialResult(**fields)], False)):
        lines = validity_lines(dataclasses.replace(evidence, trials=[("place", trial) for trial in trials]))
        assert any(line.startswith(late) for line in lines) is said
        assert any("was late by" in line for line in lines) is said


def test_the_report_has_the_distribution_of_the_gaps(campaign: Path) -> None:
    """The longest gaps of 201 trials lasted 1 to 201 ms."""
    plan = TrialPlan(size=64, load_fps=100_000.0, duration_s=2.0)
    fields = {"plan": plan, "sent": 200_000, "received": 200_000, "lost": 0, "offered_fps": 1e5, "duration_s": 2.0}
    trials = [
        TrialResult(
            **fields,
            ring_frames=1024,
            generator_gaps=Gaps(longest_s=0.001 * number, above_100us=2, above_1ms=1),
            device_gaps=Gaps(longest_s=0.02, above_100us=3) if number <= 2 else None,
            valid=number < 201,
            reasons=[] if number < 201 else ["disturbed"],
        )
        for number in range(1, 202)
    ]
    record = read_folder(campaign)
    able = Capabilities(generator="x", version="1", max_fps_by_size={64: 2e5}, ring_frames=1024, pause_s=0.004)
    found = dataclasses.replace(record.evidence, trials=[("l2fwd-c/64", one) for one in trials], joined={"a": able})
    rows = [row.cells for row in pauses_table(found, ["l2fwd-c", "l2fwd-rs"]).rows]
    assert rows == [
        ["generator", "201", "402", "201", "0", "0", "101.000", "199.000", "201.000"],
        ["l2fwd-c", "2", "6", "0", "0", "0", "20.000", "20.000", "20.000"],
    ]
    held = "The queue to a device holds 1,024 frames."
    assert rings_words(found) == [
        held,
        "The longest pause, at calibration or in a trial, took 201 ms. At the highest load of a trial, 0.1 Mpps, "
        "20,100 frames are due in it: more than the queues hold: above 0.00509 Mpps a trial with such a pause is "
        "disturbed, and repeated.",
        # The trial with the longest pause was not valid.
        "The valid trial that came closest to a full queue had a load of 0.1 Mpps, and a pause, or a generator late by "
        "several, of 200 ms, in which "
        "20,000 frames were due.",
    ]
    reset = ResetResult(
        plan=ResetPlan(size=64, kind=ResetKind.PORT, load_fps=1e5, patience_s=1.0), sent=9, lost=1, gap_s=0.1
    )
    (*_, recorded) = rings_words(dataclasses.replace(found, trials=[*found.trials, ("l2fwd-c/64/reset", reset)]))
    assert recorded == "The pauses of 201 of 202 trials are recorded. Without them: 1 of reset."
    calm = dataclasses.replace(found, trials=[("l2fwd-c/64", TrialResult(**fields, ring_frames=1024))])
    assert rings_words(calm)[1].endswith("0.1 Mpps, 400 frames are due in it: the queues hold them.")
    # A device that says nothing has no section.
    assert "Pauses of the machine" not in (campaign / REPORT).read_text()
    paused = dataclasses.replace(record, evidence=found)
    assert "<h2>Pauses of the machine" in as_page(make_report(paused))


def test_the_report_says_who_had_the_cpu_in_the_gaps(campaign: Path) -> None:
    plan = TrialPlan(size=64, load_fps=1e6, duration_s=2.0)
    fields = {"plan": plan, "sent": 2_000_000, "received": 2_000_000, "lost": 0, "offered_fps": 1e6, "duration_s": 2.0}
    # At least 0.1, 1 and 5 ms.
    gaps = Gaps(longest_s=0.005, above_100us=3, above_1ms=2, above_3ms=1)
    found = read_folder(campaign).evidence

    def told(*taken_s: float | None) -> list[str]:
        trials = [TrialResult(**fields, ring_frames=1024, device_gaps=gaps, device_taken_s=one) for one in taken_s]
        one = dataclasses.replace(found, trials=[("l2fwd-c/64", trial) for trial in trials])
        return causes_in_words(one, ["l2fwd-c", "l2fwd-rs"])

    begin = (
        "The gaps of l2fwd-c took at least 0.012 s in 2 trials; others (programs, interrupts, the hypervisor) had its"
    )
    assert told(0.01, 0.01) == [f"{begin} CPU in these trials for at most 0.02 s."]
    busy, stalled = told(0.001, 0.002)
    assert busy == f"{begin} CPU in these trials for at most 0.003 s: 0.0092 s or more were its own."
    assert stalled.startswith("In 2 trials l2fwd-c stalled by itself for longer than a queue holds frames.")
    assert told(None) == []
    # The generator counts its own CPU time.
    raw = {"generator": {"cpu_share": 0.999, "duration_s": 2.0}}
    one = dataclasses.replace(found, trials=[("x/64", TrialResult(**fields, generator_gaps=gaps, raw=raw))])
    assert causes_in_words(one, [])[0].endswith(
        "had its CPU in these trials for at most 0.002 s: 0.0041 s or more were its own."
    )


def test_the_report_says_whether_pauses_explain_the_slowest_frame(campaign: Path) -> None:
    record = read_folder(campaign)

    def told(paused_s: float | None) -> list[str]:
        """Of frames that take 5 ms, where the generator pauses for so long in each stream, and the device for 1 ms."""
        ours = None if paused_s is None else Gaps(longest_s=paused_s)
        changes = {"generator_gaps": ours, "device_gaps": ours and Gaps(longest_s=0.001)}
        trials = [
            (place, one.model_copy(update={**changes, "latency": one.latency.model_copy(update={"max": 5e6})}))
            for place, one in record.evidence.trials
            if isinstance(one, TrialResult) and one.latency is not None
        ]
        evidence = dataclasses.replace(record.evidence, trials=trials)
        return slowest_frames_words(dataclasses.replace(record, evidence=evidence))

    for paused_s, begin in (
        (0.005, "A pause of the generator was as long as the slowest frame took"),
        (0.004, "Only a pause of the generator and one of the device together were as long as the slowest frame took"),
        (0.0038, "No recorded pause was as long as the slowest frame took"),
    ):
        (line,) = told(paused_s)
        assert line.startswith(begin)
        assert f"l2fwd-c, 64 bytes: 5 ms, {1000 * paused_s:g} ms and 1 ms; " in line
    assert told(None) == []


def test_the_report_says_how_exactly_a_load_is_known(campaign: Path) -> None:
    plan = TrialPlan(size=64, load_fps=100_000.0, duration_s=2.0)
    fields = {"plan": plan, "sent": 200_000, "received": 200_000, "lost": 0, "offered_fps": 1e5, "duration_s": 2.0}
    trials = [TrialResult(**fields, pacing=Pacing(load_uncertainty=share)) for share in (0.001, 0.0125)]
    evidence = dataclasses.replace(read_folder(campaign).evidence, trials=[("place", trial) for trial in trials])
    assert any("was lower than given by 1.2 % at most" in line for line in validity_lines(evidence))


def test_what_was_not_measured_is_absent_and_said(tmp_path: Path) -> None:
    text = TEXT.replace("tests: [", "tests: [throughput, latency] #")
    one_device = text.replace(text[text.index("  - name: l2fwd-rs") : text.index("frames:")], "")
    able = {"latency": False, "line_rate_bps": None, "max_fps_by_size": {64: 13e6, 512: 5.5e6, 1518: 2.03e6}}
    page = report_of(run_campaign(tmp_path, one_device, able))
    drawn = [caption.partition(",")[0] for caption in captions(page)]
    assert drawn == ["Throughput in bit/s", "Throughput in frames/s"]
    assert "of frames, with FCS" in captions(page)[0]
    assert "in its Figures 2 and 3." in page
    assert "Bars span" not in page
    assert "Not measured: average latency; jitter." in page
    assert "no difference is shown" not in page
    assert "No difference between devices is drawn: it needs the throughput of two devices." in page
    assert "Of the theoretical" not in page
    assert "theoretical" not in "".join(re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL))
    assert "does not measure latency" in page
    assert "Not among the tests of this campaign: frame loss, back to back, recovery, reset." in page
    for heading in ("Latency", "Frame loss", "Back-to-back frames", "Soak", "System recovery", "Reset"):
        assert f"<h2>{heading}</h2>" not in page
    assert "l2fwd-c forwards " in page
    assert "Mpps at 64 bytes and " in page


def test_no_ratio_is_told_of_a_machine_that_changed_nor_of_devices_that_the_run_does_not_tell_apart(
    campaign: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(campaign, folder)
    told = json.loads((folder / "summary.json").read_text())

    def verdict_after(change: float) -> str:
        change_json(folder / "summary.json", drift={**told["drift"], "again_fps": told["drift"]["first_fps"] * change})
        return re.search(r'<p class="verdict">(.*?)</p>', report_of(folder))[1]

    assert "times as many frames as l2fwd-c in this run" in verdict_after(1.001)
    # Within what searches may differ by, but 64 and 512 bytes then are no more apart than that.
    assert "2 of which do not distinguish them: " in verdict_after(1.019)
    changed = verdict_after(0.93)
    assert "times" not in changed
    assert "the machine changed meanwhile (-7.0 % from the beginning to the end), so they are not compared" in changed
    # What the sentence does not compare, no chart does.
    page = (folder / REPORT).read_text()
    assert "Throughput in frames/s" in captions(page)
    assert not any(caption.startswith("Difference") for caption in captions(page))
    assert "No difference between devices is drawn: the machine changed meanwhile (-7.0 %" in page


def test_a_device_that_does_all_that_was_tried_may_do_more(tmp_path: Path) -> None:
    text = TEXT.replace("tests: [", "tests: [throughput] #").replace("sizes: [64, 512, 1518]", "sizes: [64]")
    page = report_of(run_campaign(tmp_path, text, {"max_fps_by_size": {64: 9e6}}))
    assert is_cell(page, "≥ 9.0000")
    assert is_cell(page, "none: highest rate offered")
    assert "A hollow mark is the highest rate offered" in page
    assert not any(caption.startswith("Difference") for caption in captions(page))
    assert (
        "No difference between devices is drawn: at no size do two devices have a limit below the highest rate offered"
        in page
    )


@pytest.fixture(scope="module")
def capped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two devices that lose nothing at the highest rate that the generator offers."""
    text = TEXT.replace("tests: [", "tests: [throughput, latency, back_to_back] #")
    able = {"line_rate_bps": None, "max_fps_by_size": {64: 9e6, 512: 4e6, 1518: 1.5e6}}
    folder = run_campaign(tmp_path_factory.mktemp("capped"), text, able)
    write_report(folder)
    return folder


def test_bursts_that_fill_no_buffer_are_not_measured_and_that_is_said(capped: Path) -> None:
    found = [one for one in read_campaign_summary(capped).findings if one.measurement is Measurement.BACK_TO_BACK]
    assert {(one.status, one.grade, one.result) for one in found} == {("skipped", None, None)}
    assert (capped / "junit.xml").read_text().count("<skipped message=") == len(found) == 6
    text = (capped / "report.md").read_text()
    assert text.count("- Back to back, with all devices and frames: skipped: the device loses nothing") == 1
    assert text.count("no burst fills its buffer") == 1
    assert text.index("## Not measured") < text.index("no burst fills its buffer") < text.index("## Topology")
    assert "## Back-to-back frames" not in text
    assert "back to back" not in text[text.index("## Grades") :].casefold()
    assert "medium's rate" not in text


def test_what_only_the_offer_limited_is_not_compared(capped: Path) -> None:
    text = (capped / "report.md").read_text()
    verdict = text.partition("**")[2].partition("**")[0]
    assert verdict == (
        "Throughput could not be compared: at 64, 512, 1518 bytes both devices lost no frame in valid trials at "
        "the highest rate offered (9.0000, 4.0000, 1.5000 Mpps). Their limits lie above and were not found."
    )
    assert text.count("| ≥ 9.0000 |") == 4
    assert "generator's limit" not in text
    # A spreadsheet reads a number, and that it is a bound.
    rows = list(csv.DictReader((capped / "overview.csv").read_text().splitlines()))
    assert {(row["size_bytes"], row["throughput_mpps"]) for row in rows} == {
        ("64", "9.0"),
        ("512", "4.0"),
        ("1518", "1.5"),
    }
    assert {(row["throughput_is"], row["upper_bound_mpps"]) for row in rows} == {
        ("lower bound: the highest rate offered", "")
    }
    # Nothing is explained that the table does not have.
    note = make_report(read_folder(capped)).sections[0].note
    assert "how many streams" in note
    assert note.endswith("≥: a lower bound, since no higher rate was offered.")
    assert "Loss" not in note


def test_nor_is_a_rate_with_some_loss_that_only_the_offer_limited(capped: Path) -> None:
    """As where pauses of the machine allow no rate without loss, but one with some."""
    record = read_folder(capped)
    findings = {one.place for one, _ in record.found(Throughput)}
    lossy = {place: result for place, result in record.results.items() if place in findings}
    for place, result in lossy.items():
        goal = result.goals[0].model_copy(
            update={"goal": result.goals[0].goal.model_copy(update={"loss_ratio": 0.001})}
        )
        lossy[place] = result.model_copy(update={"goals": [goal], "throughput_fps": None})
    verdict = make_report(dataclasses.replace(record, results=record.results | lossy)).verdict
    assert "both devices lost at most 0.1 % of the frames at the highest rate offered (9.0000, " in verdict
    assert "times" not in verdict


def test_no_drift_is_told_of_a_rate_that_only_the_offer_limited(capped: Path) -> None:
    for name in ("report.md", "summary.md"):
        line = next(line for line in (capped / name).read_text().splitlines() if line.startswith("Drift "))
        assert line.startswith("Drift of the throughput of l2fwd-c at 64 bytes, measured again at the end: unknown: ")
        assert "both times no frame was lost at the highest rate offered" in line
        assert "0.0 %" not in line


def test_what_was_only_a_quick_look_is_neither_passed_nor_rfc_2544(capped: Path) -> None:
    assert (capped / "report.md").read_text().startswith("# Quick campaign: l2fwd-c, l2fwd-rs\n")
    lines = (capped / "summary.md").read_text().splitlines()
    assert "passed" not in lines
    assert lines[2:5] == ["complete", "", "Preset quick: a quick look, never to be called RFC 2544."]
    # Of each measurement but the six that were skipped.
    assert (capped / "junit.xml").read_text().count("Grade: non-compliant</system-out>") == 12


def test_ceilings_that_differ_stand_at_the_top_with_the_one_that_counted(capped: Path) -> None:
    record = read_folder(capped)
    assert ceilings_in_words(record) == []
    joined = dict(record.evidence.joined)
    joined["l2fwd-c/1way"] = joined["l2fwd-c/1way"].model_copy(
        update={"max_fps_by_size": {64: 12e6, 512: 4e6, 1518: 2e6}}
    )
    unlike = dataclasses.replace(record, evidence=dataclasses.replace(record.evidence, joined=joined))
    told = (
        "Ceiling of the set-up at 64, 512, 1518 bytes: 12.0000, 4.0000, 2.0000 Mpps with l2fwd-c; 9.0000, 4.0000, "
        "1.5000 Mpps with l2fwd-rs. All devices were tested up to the lowest of each."
    )
    assert make_report(unlike).cautions[0] == told


def test_the_reserve_of_the_highest_rate_is_described_where_it_was_the_limit(campaign: Path, capped: Path) -> None:
    def note(folder: Path, generator: str) -> str:
        record = read_folder(folder)
        joined = {name: one.model_copy(update={"generator": generator}) for name, one in record.evidence.joined.items()}
        changed = dataclasses.replace(record, evidence=dataclasses.replace(record.evidence, joined=joined))
        return next(one.note or "" for one in make_report(changed).sections if one.title == "Throughput")

    reserve = f"at most {100 * calibration._ASKED:g} % of a rate that the generator kept"
    assert reserve in note(capped, "embedded")
    assert f"with the device for {calibration._CALIBRATION_S:g} s, as a reserve" in note(capped, "embedded")
    bursts = calibration._BURSTS
    assert f"bursts of {min(bursts)} to {max(bursts):,} frames did not keep" in note(capped, "embedded")
    assert reserve not in note(capped, "trex")
    assert reserve not in note(campaign, "embedded")


def test_loss_curves_go_from_0_to_100_percent(campaign: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """RFC 2544, section 26.3: both axes, of the theoretical rate and of loss."""
    limits = {}

    def draw(name: str, height: float, paint: Callable[[Axes], None], words: str) -> str:
        axes = Figure().subplots()
        paint(axes)
        limits[name] = (axes.get_xlim(), axes.get_ylim(), axes.get_xlabel())
        return ""

    monkeypatch.setattr(report_curves, "draw", draw)
    monkeypatch.setattr(report_curves, "_SEEN_PERCENT", 40.0)
    record = read_folder(campaign)
    charts = dict(zip([caption for caption, _ in report_curves.loss_curves(record)], limits.items(), strict=True))
    whole = [found for caption, (_, found) in charts.items() if "closer" not in caption]
    assert whole
    assert set(whole) == {((0, 100), (0, 100), "offered load, % of the theoretical rate")}
    # A loss of little is seen in a second one.
    close = {name: found[1] for name, found in limits.items() if name.startswith("loss-close")}
    assert close
    assert all(0 < top < 1.1 * 40 for _, top in close.values())


def test_the_format_of_the_frames_is_told(tmp_path: Path) -> None:
    scenario = parse_scenario(TEXT, "s.yaml")
    assert frame_format(scenario) == []
    text = "name: s\ngenerator: {kind: embedded}\ndevices: [{name: l2fwd-c}]\n"
    told = frame_format(parse_scenario(text + "frames: {sizes: [64, imix], flows: [1, 300]}\n", "s.yaml"))
    assert any("to 198.19.0.0 to 198.19.1.43, one after another" in line for line in told)
    assert told[0].startswith("Ethernet: from the generator's address to 02:00:00:00:01:00, type 0x0800;")
    both = frame_format(parse_scenario(text + "frames: {directions: [1, 2]}\n", "s.yaml"))
    assert " to 02:00:00:00:01:00 to 02:00:00:00:01:01, one for each port, type" in both[0]
    assert any("imix the frames have, in this order again and again, 64, 594, 64, 64, 594," in line for line in told)
    trex = text.replace("kind: embedded", "kind: trex") + "frames: {flows: [10]}\n"
    assert any("one of 10" in line for line in frame_format(parse_scenario(trex, "s.yaml")))


@pytest.mark.parametrize(
    ("vlan", "told"),
    [
        ("[100]", "tag 0x8100 (802.1Q) of VLAN 100, priority 0, type 0x0800; sizes count the tags, 4 bytes each."),
        (
            "[5, 6]",
            "service tag 0x88a8 (802.1ad) of VLAN 5, tag 0x8100 of VLAN 6, priority 0, type 0x0800; sizes count",
        ),
    ],
)
def test_tags_are_told(vlan: str, told: str) -> None:
    text = (
        f"name: s\ngenerator: {{kind: embedded}}\ndevices: [{{name: l2fwd-c}}]\nframes: {{sizes: [72], vlan: {vlan}}}\n"
    )
    for scenario in (text, text.replace("embedded", "trex")):
        assert told in frame_format(parse_scenario(scenario, "s.yaml"))[0]
    # A simulated device has none, and the report says so.
    model = TEXT.replace("frames: {sizes: [64, 512, 1518]}", f"frames: {{sizes: [72], vlan: {vlan}}}")
    (line,) = frame_format(parse_scenario(model, "s.yaml"))
    assert line.endswith(f"{vlan[1:-1]}: no figure of a model depends on it.")


@pytest.mark.parametrize(
    ("frames", "told"),
    [
        ("{sizes: [84], ipv6: true}", "from 2001:2::1 to 2001:2:0:1::1."),
        ("{sizes: [84], ipv6: true, flows: [1000000]}", "to 2001:2:0:1::1 to 2001:2:0:1::f:4240, one after another."),
        ("{flows: [1000000]}", "from port 10000 to 10015, 1000000 flows with the addresses, to 10000,"),
        ("{sizes: [114], vxlan: 7}", "VXLAN (RFC 7348) of network 7 around each frame"),
        ("{sizes: [134], vxlan: 7, ipv6: true}", "02:00:00:00:03:00, type 0x86dd, no VLAN tag, and:"),
    ],
)
def test_versions_tunnels_and_flows_are_told(frames: str, told: str) -> None:
    text = f"name: s\ngenerator: {{kind: embedded}}\ndevices: [{{name: l2fwd-c}}]\nframes: {frames}\n"
    assert told in "\n".join(frame_format(parse_scenario(text, "s.yaml")))


def test_several_kinds_of_frames_have_charts_of_their_own(tmp_path: Path) -> None:
    text = TEXT.replace("tests: [", "tests: [throughput] #").replace(
        "frames: {sizes: [64, 512, 1518]}", "frames: {sizes: [64, 128], directions: [1, 2], flows: [1, 256]}"
    )
    page = report_of(run_campaign(tmp_path, text))
    assert len(captions(page)) == 4 * 3
    for words in ("both directions", "256 flows", "both directions, 256 flows"):
        assert f"<h2>By frame size: {words}</h2>" in page
    structure = Structure()
    structure.feed(page)
    assert len(structure.ids) == len(set(structure.ids))


def test_a_reset_that_cannot_be_done_is_absent_with_its_reason(tmp_path: Path) -> None:
    text = TEXT.replace("tests: [", "tests: [throughput, reset] #").replace("sizes: [64, 512, 1518]", "sizes: [64]")
    folder = run_campaign(tmp_path, text, {"resets": [ResetKind.PROCESS], "lacks": {"port": "its ports are glued"}})
    page, markdown = report_of(folder), (folder / "report.md").read_text()
    for device in ("l2fwd-c", "l2fwd-rs"):
        assert f"<li>{device}, 64 bytes: no reset of the port: its ports are glued</li>" in page
        assert f"- {device}, 64 bytes: no reset of the port: its ports are glued" in markdown
    assert is_cell(page, "process")
    assert not is_cell(page, "port")
    rows = (folder / "summary.csv").read_text()
    assert "why_left_out.port,,,its ports are glued" in rows
    assert "times.1" not in rows


def test_a_mixture_has_rows_and_points_of_its_own(tmp_path: Path) -> None:
    text = TEXT.replace("sizes: [64, 512, 1518]", "sizes: [512, imix, 64]").replace("recovery, reset, ", "")
    folder = run_campaign(tmp_path, text)
    page = write_report(folder).read_text()
    findings = read_campaign_summary(folder).findings
    of_mixture = {one.measurement: one for one in findings if one.size == "imix" and one.device == "l2fwd-c"}
    found = Throughput.model_validate(of_mixture["throughput"].result)
    line = f"{found.throughput_fps * 8 * (4342 / 12) / 1e9:.3f}"
    assert "imix (361.8 bytes on average)" in page
    assert line in page
    assert of_mixture["back_to_back"].status == "skipped"
    assert "a burst has frames of one size" in page
    assert re.search(r"Back to back, (l2fwd-(c|rs) at imix \(361.8 bytes on average\)(, |: )){2}skipped: a burst", page)
    assert "section 18 (SHOULD): required: a mixture has frames of all the sizes" in " ".join(
        of_mixture["throughput"].missing
    )
    # Between its neighbours by the average frame, wherever it stands in the scenario.
    markdown = (folder / "report.md").read_text()
    assert markdown.index("| 64 bytes |") < markdown.index("| imix (361.8") < markdown.index("| 512 bytes |")
    rows = (folder / "summary.csv").read_text().splitlines()
    assert any(row.startswith("l2fwd-c,361.8333333333333,imix,1,1,throughput,done,") for row in rows)


def test_overload_alone(tmp_path: Path) -> None:
    page = report_of(run_campaign(tmp_path, TEXT.replace("tests: [", "tests: [forwarding_rate] #"), kind="overload"))
    assert captions(page) == ["Forwarding rate under overload"]
    assert "Under the highest load, l2fwd-rs forwards " in page
    assert re.search(r">imissed [\d,]+</td>", page)


def test_a_campaign_that_was_cut_off_has_a_report_that_says_so(tmp_path: Path) -> None:
    folder = begin_campaign(tmp_path).folder
    page = report_of(folder)
    assert "<strong>Unfinished.</strong> it did not reach its end; all results so far are kept: continue with" in page
    assert "Unfinished, with 0 of 44 measurements: no measurement was completed." in page
    assert "Not reached: 44 of 44 measurements." in page
    assert captions(page) == []
    assert "0 trials: 0 valid, 0 invalid." in page


def test_what_failed_is_told(tmp_path: Path) -> None:
    text = TEXT.replace("tests: [", "tests: [throughput, recovery] #").replace("sizes: [64, 512, 1518]", "sizes: [64]")
    folder = run_campaign(tmp_path, text.replace("shortfalls: 0.05", "shortfalls: 1"))
    page = report_of(folder)
    assert "Failed in 2 of 4 measurements: nothing was measured." in page
    assert "it needs the result of: throughput" in page
    assert captions(page) == []


def test_text_from_outside_is_escaped(campaign: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(campaign, tmp_path / "copy")
    summary = json.loads((folder / "summary.json").read_text())
    summary["findings"][0] |= {"status": "failed", "reason": EVIL, "result": None}
    change_json(folder / "summary.json", findings=summary["findings"], reason=EVIL)
    page = report_of(folder)
    assert EVIL not in page
    assert "&lt;script&gt;" in page
    assert "\\<script\\>" in (folder / MARKDOWN).read_text()


def test_what_is_new_in_an_environment_is_shown_and_what_changed_too(campaign: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(campaign, tmp_path / "copy")
    machine = json.loads((folder / "environment.json").read_text())
    change_json(folder / "environment.json", nics=[{"name": "0000:3b:00.0", "firmware": "9.50"}])
    machine["cpu"]["governor"] = "powersave"
    (folder / "environment-resumed-1.json").write_text(json.dumps(machine))
    page = report_of(folder)
    assert "<dt>nics.0000:3b:00.0.firmware</dt><dd>9.50</dd>" in page
    assert re.search(r"cpu\.governor: [^<]*, there powersave", page)


def test_a_comparison_has_its_ratios_and_its_noise(comparison: Path) -> None:
    page = (comparison / REPORT).read_text()
    # At 1,518 bytes the slower one collapses in some of the blocks only.
    assert "By forwarding rate, l2fwd-c is better than l2fwd-rs at 64 bytes, by " in page
    assert captions(page) == ["Forwarding rate: l2fwd-c to l2fwd-rs"]
    assert "noise: l2fwd-c against itself" in page
    verdict = json.loads((comparison / "verdict.json").read_text())
    for found in verdict["comparison"]["verdicts"]:
        assert is_cell(page, f"{found['ratio']['median']:.4f}")
        assert is_cell(page, f"{100 * found['noise']:.2f}")
        assert all(is_cell(page, f"{found[side] / 1e6:.4f}") for side in ("a", "b"))
    assert "l2fwd-c is better than l2fwd-rs" in (comparison / MARKDOWN).read_text()


def test_a_comparison_that_was_cut_off(tmp_path: Path) -> None:
    page = report_of(begin_comparison(tmp_path).folder)
    assert "Unfinished: there is no verdict yet." in page
    assert "<strong>Unfinished.</strong>" in page


def test_a_report_is_made_anew_from_the_command_line(campaign: Path, tmp_path: Path, page: str) -> None:
    folder = shutil.copytree(campaign, tmp_path / "copy")
    (folder / REPORT).unlink()
    (folder / MARKDOWN).unlink()
    done = CliRunner().invoke(app, ["report", str(folder)])
    assert done.exit_code == 0, done.output
    assert done.output.strip() == str(folder / REPORT)
    assert (folder / REPORT).read_text() == page
    assert (folder / MARKDOWN).exists()


def test_damaged_folders_are_refused_and_nothing_is_written(campaign: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(campaign, tmp_path / "copy")
    (folder / REPORT).unlink()
    summary = json.loads((folder / "summary.json").read_text())

    def refused() -> str:
        with pytest.raises(ResultsError) as error:
            write_report(folder)
        assert not (folder / REPORT).exists()
        return str(error.value)

    change_json(folder / "summary.json", schema_version=2)
    assert re.search(r"summary.json' has schema version 2, this tool reads version 1", refused())
    broken = json.loads(json.dumps(summary["findings"]))
    del broken[0]["result"]["max_fps"]
    change_json(folder / "summary.json", schema_version=1, findings=broken)
    assert "throughput: max_fps: Field required" in refused()
    change_json(folder / "summary.json", findings=summary["findings"], devices=["l2fwd-c"])
    assert "'l2fwd-rs', which is not one of its devices" in refused()
    change_json(folder / "summary.json", **summary)
    (folder / "environment.json").unlink()
    assert "cannot read" in refused()
    done = CliRunner().invoke(app, ["report", str(tmp_path)])
    assert done.exit_code == 1
    assert "give the folder of a finished demo or a campaign" in done.output


def test_labels_of_sizes_do_not_overlap() -> None:
    assert labelled(RFC_SIZES) == [64, 128, 256, 512, 1024, 1518]
    assert labelled((64,)) == [64]
    many = labelled(ARTICLE_SIZES)
    assert many[0] == 64
    assert many[-1] == 1518
    assert len(many) < 10
    assert left_out(RFC_SIZES) == []
    assert not set(left_out(ARTICLE_SIZES)) & set(RFC_SIZES)


@pytest.mark.parametrize(
    ("most_us", "labels"), [(300.0, ["20", "50", "200"]), (30_000.0, ["10", "100", "1,000", "10,000"])]
)
def test_a_logarithmic_axis_has_plain_numbers(most_us: float, labels: list[str]) -> None:
    """Also where it spans little more than a decade, and matplotlib would label what is between as powers of ten."""

    def paint(axes: Axes) -> None:
        axes.plot([0, 1], [12.0, most_us], label="device")
        microseconds_axis(axes, [12.0, most_us])

    svg = draw("latency", 3.0, paint, "latency")
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert "mathdefault" not in svg
    assert set(labels) <= set(texts)


CHARTS = """[...document.querySelectorAll('figure svg')].map(svg => {
    const box = svg.getBoundingClientRect();
    return [box.width, box.height, svg.querySelectorAll('path').length];
})"""
# Text of a chart that sticks out of it.
CLIPPED = """[...document.querySelectorAll('figure svg')].flatMap(svg => {
    const all = svg.getBoundingClientRect();
    return [...svg.querySelectorAll('text')].filter(text => {
        const box = text.getBoundingClientRect();
        return box.left < all.left - 2 || box.right > all.right + 2 || box.bottom > all.bottom + 2;
    }).map(text => text.textContent);
})"""


# Of each row of ratios: where the size ends, and where the verdict begins and ends.
VERDICTS = """[...document.querySelectorAll('table')]
    .filter(table => table.querySelector('th:nth-child(2)')?.textContent == 'Verdict')
    .flatMap(table => [...table.querySelectorAll('td:nth-child(2)')]).map(cell => {
        const box = cell.getBoundingClientRect();
        return [cell.previousElementSibling.getBoundingClientRect().right, box.left, box.right];
    })"""


@pytest.mark.skipif(find_browser() is None, reason=f"none of {', '.join(NAMES)} is installed")
def test_a_browser_shows_it_all(tmp_path: Path, campaign: Path, comparison: Path) -> None:
    program = find_browser()
    assert program is not None
    browser = Browser(program, tmp_path / "profile")
    try:
        for file in (campaign / REPORT, comparison / REPORT):
            count = file.read_text().count("<svg")
            for width in (1280, 390):
                for dark in (False, True):
                    browser.open(file, width, dark)
                    assert browser.complaints == []
                    assert browser.requests == [file.as_uri()]
                    assert browser.evaluate("document.documentElement.scrollWidth") <= width
                    drawn = browser.evaluate(CHARTS)
                    assert len(drawn) == count
                    for chart_width, chart_height, paths in drawn:
                        assert 250 < chart_width <= width
                        assert chart_height > 100
                        # A topology has the least: boxes, ports, arrows.
                        assert paths > 8
                    assert browser.evaluate(CLIPPED) == []
                    verdicts = browser.evaluate(VERDICTS)
                    assert bool(verdicts) == (file.parent == comparison)
                    # On a phone a row is a card, in which the verdict stands below the size.
                    beside = width > 640
                    assert all((size if beside else 0) <= left < right <= width for size, left, right in verdicts), (
                        verdicts
                    )
        printed = tmp_path / "report.pdf"
        browser.print_pdf(printed)
        assert printed.read_bytes().startswith(b"%PDF")
    finally:
        browser.close()


@pytest.mark.parametrize(("seconds", "unit"), [(60, "seconds"), (300, "minutes"), (7200, "minutes"), (18_000, "hours")])
def test_a_soak_is_drawn_over_a_time_that_can_be_read(seconds: float, unit: str) -> None:
    assert time_unit(seconds)[1] == unit


@pytest.mark.parametrize(("wire", "quantum"), [("virtual", True), ("veth", False)])
def test_a_reset_on_the_virtual_wire_has_the_second_in_which_the_device_is_looked_for(
    campaign: Path, wire: str, quantum: bool
) -> None:
    record = read_folder(campaign)
    text = f"name: x\ngenerator: {{kind: embedded, wire: {wire}}}\ndevices: [{{name: l2fwd-c}}]\n"
    scenario = parse_scenario(text + "frames: {sizes: [64]}\ntests: [reset]\n", "x.yaml")
    record = dataclasses.replace(record, settings=record.settings.model_copy(update={"scenario": scenario}))
    assert ("looks once a second" in as_page(make_report(record))) is quantum


def test_the_grades_have_that_of_rfc_8219(campaign: Path) -> None:
    record = read_folder(campaign)
    graded = [result.percentiles.grade for result in record.results.values() if isinstance(result, LatencyFound)]
    title = f"Latency percentiles: {', '.join(dict.fromkeys(map(str, graded)))}"
    assert title in {table.title for table in grade_tables(record)}


def test_high_percentiles_have_a_range_and_need_frames_above_them(campaign: Path) -> None:
    record = read_folder(campaign)
    place, found = next((place, one) for place, one in record.results.items() if isinstance(one, LatencyFound))

    def cells(count: int) -> tuple[list[str], list[str]]:
        """The percentiles from 99 % on, and the ranges, of three streams with so many frames."""
        each = [
            Latency(count=count, p50=1e3, p90=2e3, p99=3e3, p99_9=4e3 + number, p99_99=5e3 * number)
            for number in (1, 2, 30)
        ]
        one = found.model_copy(update={"repetitions": each, "ladder": []})
        (row,) = percentile_table(dataclasses.replace(record, results={place: one})).rows
        return row.cells[5:8], [cell for cell in row.cells if " to " in cell]

    assert cells(100_000) == (["3.00", "4.00", "10.00"], ["4.00 to 4.03", "5.00 to 150.00"])
    # 10 frames of 10,000 are above the 99.9th percentile, and one above the next.
    assert cells(10_000) == (["3.00", "4.00", "4.00 to 4.03"], ["4.00 to 4.03"])
    assert cells(9_000)[1] == []
