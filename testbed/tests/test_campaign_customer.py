# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a customer looks for in the report of a campaign: figures with intervals first, identity, contents, print."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from browser import NAMES, Browser, find_browser
from campaign_folders import TEXT, run_campaign
from typer.testing import CliRunner

from testbed.campaign.campaign_settings import read_campaign_settings
from testbed.campaign.folder import read_folder
from testbed.campaign.report.document import MARKDOWN, REPORT, TABLE, make_report, write_report
from testbed.campaign.summary import read_campaign_summary
from testbed.cli import app
from testbed.run.environment import Binary

SCENARIO = TEXT.replace(
    "name: folders\n", "name: folders\noperator: Ada of Lab 3\ndescription: Two forwarders on a bench\n", 1
).replace("  - name: l2fwd-rs\n", "  - name: l2fwd-rs\n    description: release 0.1, card 7\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = run_campaign(
        tmp_path_factory.mktemp("customer"), SCENARIO + "thresholds: ['throughput ≥ 11 Mpps at 64 bytes']\n"
    )
    write_report(made)
    return made


def test_the_first_table_has_throughput_latency_and_loss_with_their_intervals(folder: Path) -> None:
    text = (folder / MARKDOWN).read_text()
    assert text.index("## Overview") == text.index("\n## ") + 1
    found = {
        (one.size, one.device, one.measurement.value): one.result for one in read_campaign_summary(folder).findings
    }
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    for size in (64, 512, 1518):
        for device in ("l2fwd-c", "l2fwd-rs"):
            throughput, latency, loss = (found[size, device, test] for test in ("throughput", "latency", "frame_loss"))
            # The first table is the overview.
            line = next(line for line in lines if line.startswith(f"| {size} bytes | {device} |"))
            rate, bounds, average, span, streams, lost = (cell.strip() for cell in line.strip("|").split("|")[2:8])
            low, high = (float(part) for part in bounds.split(" to "))
            assert float(rate) == low == pytest.approx(throughput["throughput_fps"] / 1e6, abs=1e-4)
            assert high == pytest.approx(throughput["goals"][0]["upper"]["load_fps"] / 1e6, abs=1e-4)
            values = [value / 1e3 for value in latency["average_ns"]["values"]]
            least, most = (float(part) for part in span.split(" to "))
            assert (least, most) == (pytest.approx(min(values), abs=0.01), pytest.approx(max(values), abs=0.01))
            assert float(average) == pytest.approx(sum(values) / len(values), abs=0.01)
            assert int(streams) == len(values)
            assert float(lost.partition(" at ")[0]) == pytest.approx(loss["points"][0]["loss_percent"], rel=1e-3)


WORDS = {"campaign", "started", "campaign_grade", "device", "mixture", "throughput_is"}


def test_the_overview_for_spreadsheets_has_numbers_and_says_of_which_campaign(folder: Path) -> None:
    summary = read_campaign_summary(folder)
    rows = list(csv.DictReader(io.StringIO((folder / TABLE).read_text()), strict=True))
    assert len(rows) == 6
    for row in rows:
        assert [row[name] for name in ("campaign", "started", "campaign_grade", "throughput_is")] == [
            summary.campaign,
            summary.started.isoformat(),
            "non-compliant",
            "found",
        ]
        assert all(value == "" or math.isfinite(float(value)) for name, value in row.items() if name not in WORDS)
        mine = {
            one.measurement.value: one.result
            for one in summary.findings
            if (one.device, str(one.size)) == (row["device"], row["size_bytes"])
        }
        assert float(row["throughput_mpps"]) == mine["throughput"]["throughput_fps"] / 1e6
        assert float(row["upper_bound_mpps"]) == mine["throughput"]["goals"][0]["upper"]["load_fps"] / 1e6
        assert float(row["latency_us"]) == mine["latency"]["average_ns"]["mean"] / 1e3
        assert int(row["latency_streams"]) == len(mine["latency"]["average_ns"]["values"])
        assert float(row["loss_percent"]) == mine["frame_loss"]["points"][0]["loss_percent"]


def test_the_report_names_the_files_beside_it(folder: Path) -> None:
    beside = (folder / REPORT).read_text().partition("Beside this page:")[2].partition("</p>")[0]
    named = re.findall(r"<code>([\w.-]+\.\w+)</code>", beside)
    assert {"report.md", "summary.md", "junit.xml", "overview.csv", "summary.csv"} <= set(named)
    assert [name for name in named if not (folder / name).exists()] == []


def test_the_contents_lead_to_every_section(folder: Path) -> None:
    page = (folder / REPORT).read_text()
    contents = re.search(r'<nav class="contents".*?</nav>', page, flags=re.DOTALL)[0]
    targets = re.findall(r'href="#([^"]+)"', contents)
    anchors = re.findall(r'<section id="([^"]+)"', page)
    assert len(anchors) == page.count("<section")
    assert "environment" in anchors
    assert len(set(anchors)) == len(anchors)
    assert [anchor for anchor in anchors if anchor not in targets] == []
    assert [target for target in targets if target not in anchors] == []
    assert page.index("</nav>") < page.index("<h2>Overview</h2>") < page.index("<h2>Acceptance</h2>")


def test_it_says_who_measured_what(folder: Path) -> None:
    page, text = (folder / REPORT).read_text(), (folder / MARKDOWN).read_text()
    identity = re.search(r'<section id="identity">.*?</section>', page, flags=re.DOTALL)[0]
    for words in (
        "Ada of Lab 3",
        "Two forwarders on a bench",
        "release 0.1, card 7",
        read_campaign_settings(folder).campaign,
    ):
        assert words in identity
        assert words in text
    # A campaign that reached its end is complete: that is no verdict on the device.
    head = page.partition("<main>")[0]
    assert ">passed<" not in head
    assert ">complete<" in head
    assert "Not accepted: 1 of 2 thresholds have passed." in head


def test_a_device_is_named_once_with_its_program_and_nobody_as_operator(folder: Path) -> None:
    record = read_folder(folder)
    found = record.evidence.environment
    binary = Binary(name="l2fwd-c", path="l2fwd-c", sha256="00ff", version="l2fwd-c 0.1.0", dpdk_linking="shared")
    other = binary.model_copy(update={"name": "l2fwd-rs", "version": "unknown"})
    evidence = dataclasses.replace(record.evidence, environment=found.model_copy(update={"binaries": [binary, other]}))
    scenario = record.settings.scenario.model_copy(update={"operator": ""})
    settings = record.settings.model_copy(update={"scenario": scenario})
    identity = dict(make_report(dataclasses.replace(record, evidence=evidence, settings=settings)).identity)
    assert identity["Device l2fwd-c"] == "l2fwd-c 0.1.0; SHA-256 00ff; simulated"
    assert "; l2fwd-rs, version unknown; SHA-256 00ff; " in identity["Device l2fwd-rs"]
    assert identity["Operator"] == "not given"
    page = (folder / REPORT).read_text()
    assert re.search("<footer>Made with testbed [^<]*, a program of the l2fwd-rs project</footer>", page)


# Figures, and names such as l2fwd-rs, in more than one line: a reader takes '2.761 / 3' for two of them.
BROKEN = """[...document.querySelectorAll('table.sheet td.figure, table.sheet td.word')].filter(cell => {
    const range = document.createRange(); range.selectNodeContents(cell);
    return new Set([...range.getClientRects()].map(line => Math.round(line.top))).size > 1;
    }).map(cell => cell.textContent)"""
# Tables that hide columns until they are scrolled.
HIDDEN = """[...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth)
    .map(box => box.querySelector('th').textContent + ': ' + box.scrollWidth + ' in ' + box.clientWidth)"""


@pytest.mark.skipif(find_browser() is None, reason=f"none of {', '.join(NAMES)} is installed")
def test_no_column_is_hidden(folder: Path, tmp_path: Path) -> None:
    program = find_browser()
    assert program is not None
    browser = Browser(program, tmp_path / "profile")
    try:
        for width in (1280, 420):
            browser.open(folder / REPORT, width)
            assert browser.evaluate(HIDDEN) == []
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
        # A4 between the margins of Chromium.
        browser.open(folder / REPORT, 717, medium="print")
        assert browser.evaluate(HIDDEN) == []
        assert browser.evaluate(BROKEN) == []
    finally:
        browser.close()


@pytest.mark.skipif(find_browser() is None, reason=f"none of {', '.join(NAMES)} is installed")
def test_one_command_prints_it(folder: Path) -> None:
    done = CliRunner().invoke(app, ["report", str(folder), "--pdf"])
    assert done.exit_code == 0, done.output
    pdf = folder / "report.pdf"
    assert done.output.split() == [str(folder / REPORT), str(pdf)]
    assert pdf.read_bytes().startswith(b"%PDF")
    assert pdf.stat().st_size > 50_000
    if reader := shutil.which("pdftotext"):
        text = subprocess.run([reader, pdf, "-"], capture_output=True, text=True, check=True).stdout
        # A form feed ends each page.
        pages = text.split("\f")[:-1]
        assert [f"page {number} of {len(pages)}" in one for number, one in enumerate(pages, 1)] == [True] * len(pages)


def test_without_a_browser_the_page_is_made_and_the_message_says_what_is_missing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = CliRunner().invoke(app, ["report", str(folder), "--pdf"])
    assert done.exit_code == 1
    assert "no PDF: none of chromium, chromium-browser, google-chrome is installed: install chromium" in done.output
