# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The page of `bench parsing` and RESULTS.md: all that a record holds, nothing that it lacks, what follows from it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from browser import NAMES, Browser, find_browser
from parsing_records import CASE, EVIL, LIBRARIES, full_record, small_record
from test_report import assert_self_contained
from typer.testing import CliRunner

from testbed.cli import app
from testbed.page.tables import Row, Table
from testbed.parsing import results_page
from testbed.parsing.conclusion import conclusion, tiles
from testbed.parsing.matrix import variants
from testbed.parsing.matrix_tables import matrix_tables
from testbed.parsing.plan import left_out
from testbed.parsing.record import (
    LTO_FAT,
    GateVerdict,
    Outcome,
    Panic,
    ParsingRecord,
    Way,
    Workload,
    read_record,
    write_record,
)
from testbed.parsing.report import render
from testbed.parsing.results_page import markdown, markdown_table, refusal, renew_results
from testbed.run.results_folder import ResultsError


@pytest.fixture(scope="module")
def page() -> str:
    return render(full_record())


def text_of(page: str) -> str:
    return re.sub(r"<[^>]*>", " ", re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL))


def test_the_page_is_whole_and_needs_nothing_else(page: str) -> None:
    assert_self_contained(page)
    assert EVIL not in page
    assert "&lt;script&gt;" in page
    drawings = "".join(re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL))
    assert re.findall(r"#[0-9a-fA-F]{6}\b", drawings) == []


def test_every_chart_of_the_article_is_there(page: str) -> None:
    captions = re.findall(r"<figcaption>(.*?)</figcaption><svg", page)
    for number in range(7, 14):
        assert sum(f"(Figure {number})" in caption for caption in captions) == 1
    # Of each library one, of each workload instructions, residencies, and all libraries with and without LTO.
    assert len(captions) == len(LIBRARIES) + 4 * 4


def test_every_library_and_figure_is_there(page: str) -> None:
    text = text_of(page)
    for name, *_ in LIBRARIES:
        assert text.count(f" {name} ") >= 10, name
    for figure in ("1,300.0", "1,950.0", "32.50", "+10", "12.0 ±0.2", "18.0 ±0.4", "1,311", "malloc 2, memcpy 4"):
        assert f">{figure}</td>" in page, figure
    for fact in ("1.2.3", "2025-05-04", "2026-01-02", "MIT OR Apache-2.0", "4,711", "setters", "12.3", "61.5"):
        assert f">{fact}</td>" in page, fact
    assert "cannot: it builds packets only" in text
    assert "truncated 3" in text
    assert CASE in text
    for command in (
        "--workload W2",
        "parsing-gate",
        "objdump --disassemble=pb_w2_smoltcp",
        "--matrix default",
        "--alone",
    ):
        assert command in text


# Exactly what follows from the figures of LIBRARIES.
SENTENCES = {
    "For rewriting in place": "pnet executes the fewest instructions in W2: 60.0 instructions, 1.50 times the limit; "
    "hot 12.0 ns, 1.50 times the limit. Within 5 % of that: smoltcp (62.0). Of these, pnet has the shortest kernel, "
    "15 lines. Note on pnet: what to know of pnet. "
    "pdu executes the most: 90.0 instructions, 2.25 times the limit; hot 18.0 ns, 2.25 times the limit.",
    "For building packets": "etherparse-builder is the only library here that builds packets: in W2 1,300.0 "
    "instructions, 32.50 times the limit; hot 260.0 ns, 32.50 times the limit. "
    "Its code calls malloc in 2 places and memcpy in 4 places.",
    "Safe Rust against C": "The safe kernel with the fewest instructions in W2 is that of safe-rust: 55.0, "
    "+10.0 % against c-gcc (50.0) and +5.8 % against c-clang (52.0). This is within the project's limit of 15 %. "
    "Of the crates, pnet has the fewest, 60.0.",
    "On bad input": "42 of 43 kernels agree with the reference on all frames. Exceptions: packet in W2 (panic).",
}


@pytest.mark.parametrize("question", SENTENCES)
def test_what_follows(question: str) -> None:
    assert dict(conclusion(full_record()))[question] == SENTENCES[question]


def change(record: ParsingRecord, library: str, workload: Workload, instructions: float) -> None:
    build = record.build(LTO_FAT)
    assert build is not None
    kernel = build.kernel(library, workload)
    assert kernel is not None
    kernel.instructions_per_frame = instructions


def test_what_follows_follows_the_figures() -> None:
    record = full_record()
    change(record, "pdu", Workload.W2, 45.0)
    change(record, "safe-rust", Workload.W2, 70.0)
    change(record, "pdu", Workload.W4, 1.0)
    record.libraries[4].way = Way.BUILDS
    answers = dict(conclusion(record))
    assert answers["For rewriting in place"].startswith("pdu executes the fewest instructions in W2: 45.0")
    assert "that of pdu: 45.0, -10.0 % against c-gcc" in answers["Safe Rust against C"]
    assert answers["The limit"].startswith("In W4, pdu 1.0 execute fewer than its 120.0 instructions. There unsafe")
    assert answers["For reading"].startswith("pdu executes the fewest instructions in W4: 1.0")
    assert answers["For building packets"].startswith("Of the 2 libraries that build packets, smoltcp")
    change(record, "pdu", Workload.W2, 58.0)
    answers = dict(conclusion(record))
    assert "not within the project's limit of 15 %" in answers["Safe Rust against C"]


def test_what_follows_tells_of_faults_and_of_work_that_cannot_be_done() -> None:
    record = full_record()
    assert "The limit" not in dict(conclusion(record))
    smoltcp, builder = record.libraries[4], record.libraries[9]
    smoltcp.gate[Workload.W3] = GateVerdict(outcome=Outcome.DISAGREES, reason="wrong checksum")
    builder.cannot[Workload.W2] = "it computes all checksums"
    answers = dict(conclusion(record))
    assert "lines. Faults found by the gate: smoltcp in W3 (disagrees). Note" in answers["For rewriting in place"]
    assert "in W3 2,600.0 instructions, 32.50 times the limit" in answers["For building packets"]
    assert "etherparse-builder" in [figure for label, figure, _ in tiles(record) if label == "Building, W3"]
    record.libraries[9].cannot = dict.fromkeys(Workload, "it does nothing")
    assert dict(conclusion(record))["For building packets"] == "No library that builds packets has a figure."


def test_a_quick_run_says_what_it_leaves_out() -> None:
    record = small_record()
    without_builds(record)
    assert left_out(record) == []
    assert "Not measured in this run" not in render(record)
    record.quick, record.alone = True, False
    text = render(record)
    assert len(left_out(record)) == 5
    for what in (
        "2 of 4 variants: not thin LTO, 1 codegen unit, x86-64, cross-language LTO; not fat LTO, 1 codegen unit, x86-",
        "none of frames in the L2 cache or in memory",
        "10 samples in 0.15 s for each time, instead of 30 samples in 0.8 s",
        "5,000 drawn frames a workload in the gate, instead of 100,000",
        "no library built alone",
    ):
        assert what in text


def test_lto_that_matters_nowhere() -> None:
    record = full_record()
    assert "pdu 2.00 times as many in W" in dict(conclusion(record))["Link-time optimisation"]
    record.builds[0].kernels = [kernel.model_copy() for kernel in record.builds[1].kernels]
    assert "no library executes 5 % more instructions" in dict(conclusion(record))["Link-time optimisation"]


def without_times(record: ParsingRecord) -> None:
    for build in record.builds:
        build.loop_timings = {}
        for kernel in build.kernels:
            kernel.timings = []


def without_counts(record: ParsingRecord) -> None:
    for _, kernel in record.cells():
        kernel.instructions_per_frame = None
        kernel.code = None


def without_facts(record: ParsingRecord) -> None:
    for library in record.libraries:
        library.gate, library.kernel_lines = {}, {}
        library.alone = library.crate = library.way = None


def without_builds(record: ParsingRecord) -> None:
    record.builds = []


def without_libraries(record: ParsingRecord) -> None:
    record.builds, record.libraries, record.finished = [], [], None


def one_workload(record: ParsingRecord) -> None:
    record.workloads = [Workload.W4]
    for build in record.builds:
        build.kernels = [kernel for kernel in build.kernels if kernel.workload is Workload.W4]


@pytest.mark.parametrize(
    ("take_out", "gone", "kept"),
    [
        (without_times, "Hot [ns]", "1,300.0"),
        (without_counts, "Machine code", "12.0 ±0.2"),
        (without_facts, "Bad input", "1,300.0"),
        (without_builds, "Link-time", "2025-05-04"),
        (without_libraries, "Conclusions", "Environment"),
        (one_workload, "W2", "W4"),
    ],
)
def test_what_a_record_lacks_is_absent(
    page: str, take_out: Callable[[ParsingRecord], None], gone: str, kept: str
) -> None:
    record = small_record()
    assert gone in text_of(page)
    take_out(record)
    text = text_of(render(record)).replace("pb_w2", "")
    assert gone not in text
    assert kept in text
    assert gone not in markdown(record, {}).replace("pb_w2", "")


def test_a_table_in_markdown() -> None:
    table = Table("", ["A", "B", "C"], [Row(["a|b", "1", "x_y"]), Row(["c", "–", "–"], reason="why\n<b>")])
    assert markdown_table(table).splitlines() == [
        "| A | B | C |",
        "| --- | ---: | ---: |",
        "| a\\|b | 1 | x\\_y |",
        "| c | why \\<b\\> |  |",
    ]


def test_the_results_are_written(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "figure-99.svg").touch()
    page = renew_results(full_record(), tmp_path).read_text()
    names = set(re.findall(r"\]\(results/([^)]*)\)", page))
    assert names == {path.name for path in (tmp_path / "results").iterdir()}
    assert names == {"figure-12.svg", "figure-13.svg", "summary.json.xz"}
    assert "- **On bad input.** 42 of 43" in page
    caption = "W1, fat LTO: time, one burst of 32 frames, hot (Figure 12)"
    assert f"**{caption}**\n\n![{caption}](results/figure-12.svg)" in page
    assert "| unsafe-rust | 16.0 | 16.0 | 1.00 |" in page
    chart = (tmp_path / "results" / "figure-12.svg").read_text()
    assert "prefers-color-scheme: dark" in chart
    assert "--text:" in chart
    # Compact, and whole: a parser reads it, each id is there for a reference, and each reference has its id.
    assert ElementTree.fromstring(chart).findall(".//{*}text")
    assert set(re.findall(r'\bid="([^"]+)"', chart)) == set(re.findall(r'(?:href="|url\()#([^")]+)', chart))
    assert not re.search(r"\d\.\d{3}|DejaVu|<g>\s*</g>", chart)


def full_matrix() -> ParsingRecord:
    """Counted only; with 16 codegen units pnet executes 20 % more, and where panics abort smoltcp does 10 % less."""
    record = small_record()
    record.libraries.append(full_record().libraries[4])
    record.matrix, record.times, record.alone = "full", False, False
    template = full_record().builds[1]
    record.builds = []
    for variant in variants("full", quick=False):
        build = template.model_copy(deep=True, update={"variant": variant, "loop_timings": {}})
        build.kernels = [kernel for kernel in build.kernels if record.library(kernel.library)]
        for kernel in build.kernels:
            kernel.timings = []
            assert kernel.instructions_per_frame is not None
            if kernel.library == "pnet" and variant.codegen_units == 16:
                kernel.instructions_per_frame *= 1.2
            if kernel.library == "smoltcp" and kernel.workload is Workload.W2 and variant.panic is Panic.ABORT:
                kernel.instructions_per_frame *= 0.9
        record.builds.append(build)
    return record


def test_the_tables_of_the_full_matrix() -> None:
    spread, *others, aborting = matrix_tables(full_matrix())
    assert spread.title == "Instructions per frame in the best of 26 variants, and the worst"
    assert spread.columns[:3] == ["Library", "W1, least", "most / least"]
    rows = {row.cells[0]: row.cells[1:] for row in spread.rows}
    assert rows["pnet"] == ["24.0", "1.20", "60.0", "1.20", "120.0", "1.20", "180.0", "1.20"]
    assert rows["smoltcp"][2:4] == ["55.8", "1.11"]
    assert [table.title for table in others[:2]] == [
        f"W1: instructions per frame, {target}" for target in ("x86-64", "x86-64-v3")
    ]
    assert len(others) == 2 * 4
    # Six of LTO and codegen units, and cross-language LTO.
    assert others[0].columns == ["Library", "off-16", "fat-1", "thin-1-cross", "thin-16", "fat-16", "off-1", "thin-1"]
    assert [row.cells for row in aborting.rows] == [["smoltcp", "W2", "thin-16-v3", "62.0", "55.8", "0.90"]]


def test_the_full_matrix_is_kept_beside_the_measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Charts take seconds, and have tests of their own.
    monkeypatch.setattr(results_page, "figures", lambda _: {})
    with pytest.raises(ResultsError, match="has no measurement yet"):
        renew_results(full_matrix(), tmp_path)
    renew_results(full_record(), tmp_path)
    page = renew_results(full_matrix(), tmp_path).read_text()
    assert read_record(tmp_path / "results" / "matrix.json.xz") == full_matrix()
    assert read_record(tmp_path / "results") == full_record()
    # Times are of the measurement, variants of the matrix; a new measurement leaves it where it is.
    assert "Hot [ns]" in page
    assert "in the best of 26 variants" in page
    assert "Repeat: `./x bench parsing --matrix full --no-times`" in page
    assert renew_results(full_record(), tmp_path).read_text() == page


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda record: setattr(record, "times", False), "omit --no-times"),
        (lambda record: setattr(record, "only", ["pnet"]), "omit --libs"),
        (lambda record: setattr(record, "quick", True), "omit --quick"),
        (one_workload, "lacks W1, W2, W3"),
        (without_builds, "no LTO, 16 codegen units, x86-64: not measured"),
        (lambda record: setattr(record.builds[1], "reason", "no valgrind"), "fat LTO, 1 codegen unit, x86-64: no val"),
    ],
)
def test_what_is_no_measurement_is_not_quoted(
    tmp_path: Path, spoil: Callable[[ParsingRecord], None], reason: str
) -> None:
    record = full_record()
    assert refusal(record) is None
    spoil(record)
    with pytest.raises(ResultsError, match=reason):
        renew_results(record, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_page_is_made_anew_from_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "parsing-bench"
    home.mkdir()
    monkeypatch.setattr(results_page, "repository_root", lambda: tmp_path)
    write_record(tmp_path / "summary.json", small_record())
    done = CliRunner().invoke(app, ["bench", "parsing", f"--from={tmp_path}", "--renew-results"], terminal_width=300)
    assert done.exit_code == 0, done.output
    assert "renewed" in done.output
    # What is kept is enough to make the same page again.
    again = CliRunner().invoke(app, ["bench", "parsing", f"--from={home / 'results'}"], terminal_width=300)
    assert again.exit_code == 0, again.output
    assert (tmp_path / "report.html").read_text() == (home / "results" / "report.html").read_text()
    for words, message in (
        ([f"--from={tmp_path / 'none'}"], "does not exist"),
        (["--quick", "--renew-results"], "use it without --quick"),
    ):
        done = CliRunner().invoke(app, ["bench", "parsing", *words], terminal_width=300)
        assert done.exit_code == 2
        assert message in done.output


SIZES = """[...document.querySelectorAll('figure svg')].map(svg => {
    const box = svg.getBoundingClientRect();
    return [box.width, box.height, svg.querySelectorAll('path').length];
})"""


@pytest.mark.skipif(find_browser() is None, reason=f"none of {', '.join(NAMES)} is installed")
def test_a_browser_shows_it_all(tmp_path: Path, page: str) -> None:
    file = tmp_path / "report.html"
    file.write_text(page)
    program = find_browser()
    assert program is not None
    browser = Browser(program, tmp_path / "profile")
    try:
        for width in (1280, 420):
            for dark in (False, True):
                browser.open(file, width, dark)
                assert browser.complaints == []
                assert browser.requests == [file.as_uri()]
                assert browser.evaluate("document.documentElement.scrollWidth") <= width
                sizes = browser.evaluate(SIZES)
                assert len(sizes) == page.count("<svg")
                for chart_width, chart_height, paths in sizes:
                    assert 250 < chart_width <= width
                    assert chart_height > 100
                    assert paths > 10
    finally:
        browser.close()
