# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The report: complete, self-contained, and the same words as the terminal's."""

from __future__ import annotations

import io
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from rich.console import Console
from test_bench_statistics import blocks_of
from test_virtual_wire import filled, final, result

from testbed.comparison.condition import Condition
from testbed.comparison.figures import figures
from testbed.comparison.pair_verdict import headline, judge
from testbed.comparison.pairs import pairs
from testbed.comparison.record import Measurement
from testbed.comparison.statistics import PairRatio
from testbed.demo import tables, virtual_wire
from testbed.demo.report import write_report
from testbed.demo.summary import (
    Answers,
    CaptureAct,
    CaptureTrial,
    HostsAct,
    HostsTrial,
    OverloadAct,
    Ping,
    ProxiesAct,
    ProxyTrial,
    Stack,
    Summary,
    TcpTransfer,
    WireAct,
    write_summary,
)
from testbed.page.charts import draw
from testbed.page.tables import ABSENT, Row, Table
from testbed.run.environment import Binary, Cpu, Environment, Hugepages
from testbed.run.lcores import LcorePlan
from testbed.run.results_folder import ResultsError, Status
from testbed.wire.frames import FrameDifference

NOW = datetime(2026, 3, 1, 12, 0, 5, tzinfo=UTC)
EVIL = "<script>alert('1 & 2')</script>"


def environment(hypervisor: str = "kvm") -> Environment:
    return Environment(
        recorded=NOW,
        cpu=Cpu(
            model="A CPU of some kind",
            logical=2,
            usable=2,
            mhz="2000",
            microcode="0x1",
            smt="off",
            governor="performance",
            isolated="none",
            hypervisor=hypervisor,
        ),
        memory_mb=24105,
        hugepages=Hugepages(used=True, size_kb=2048, total=1024, free=1000),
        kernel="6.1.0",
        boot_parameters="none",
        system="Debian",
        python="3.11.2",
        dpdk="22.11.11",
        commit="0123456789abcdef",
        uncommitted_changes=True,
        binaries=[
            Binary(name="l2fwd-c", path="/p", sha256="ab" * 32, version="l2fwd-c 0.1.0", dpdk_linking="shared"),
        ],
    )


LABELS = ["l2fwd-rs", "l2fwd-c", "l2fwd-rs (again)"]


def overload(ratio: float = 1.2, count: int = 10) -> OverloadAct:
    blocks = blocks_of(ratio, count)
    for block in blocks:
        for run, label in zip(block.runs, LABELS, strict=True):
            run.label = label
    measurement = Measurement(condition=Condition(), labels=LABELS, blocks=blocks, skipped={"testpmd-mac": "not there"})
    measurement.figures = figures(measurement, None)
    found, floor = pairs(measurement, False)
    return OverloadAct(
        status=Status.PASSED,
        blocks=count,
        rounds=1,
        slice_ms=100,
        seed=1,
        lcores={"generator": 0, "forwarder": 1},
        measurement=measurement,
        pairs=found,
        noise_floor=floor,
    )


def wire() -> WireAct:
    act = virtual_wire.new_act(virtual_wire.WirePlan(64, 5.0, True, LcorePlan(0, 1)))
    for language, sent in (("C", 902_000_000), ("Rust", 910_000_000)):
        trial = filled(result(sent=sent + 100, received=sent, lost=100), final(sent + 100, sent))
        trial.language, trial.reasons, trial.notes = language, [], []
        trial.forwarder.rx_burst_avg = 31.5
        act.trials.append(trial)
    return act


def hosts() -> HostsAct:
    good = HostsTrial(
        program="l2fwd-c",
        language="C",
        ping=Ping(sent=100, received=99, loss_percent=1.0, rtt_avg_ms=0.164),
        tcp=TcpTransfer(seconds=3.0, bytes=1_200_000_000, bits_per_second=3.2e9, retransmits=17),
        rx_packets=900_000,
        tx_packets=900_000,
        tx_dropped=0,
    )
    bad = HostsTrial(program="l2fwd-rs", language="Rust", reasons=[EVIL])
    return HostsAct(status=Status.FAILED, reason="1 of 2 trials invalid", trials=[good, bad])


def capture() -> CaptureAct:
    trial = CaptureTrial(
        program="l2fwd-c",
        language="C",
        reasons=["1 frame changed"],
        frames_in=3000,
        frames_short=0,
        frames_out=3000,
        identical=2999,
        differences=[FrameDifference(kind="changed", frame=17, detail="byte 40 is 0x01 instead of 0x00")],
    )
    return CaptureAct(
        status=Status.FAILED, source="raw/b.pcap", sha256="cd" * 32, frames=3000, bytes=4_000_000, trials=[trial]
    )


ANSWERS = Answers(sent=1500, answered=1499, wrong=0, p50_us=128.4, p99_us=1234.5)


def proxies() -> ProxiesAct:
    good = [ProxyTrial(program="proxy-c", language="C", stack=stack, answers=ANSWERS) for stack in (None, *Stack)]
    bad = ProxyTrial(
        program="proxy-rs",
        language="Rust",
        stack=Stack.DPDK,
        reasons=["wrong answers: 3"],
        answers=ANSWERS.model_copy(update={"wrong": 3}),
    )
    return ProxiesAct(status=Status.FAILED, seconds=1, rate=500, connections=10, trials=[*good, bad])


def summary(**changes: object) -> Summary:
    fields = {
        "status": Status.PASSED,
        "started": NOW,
        "finished": NOW,
        "command": "./x demo --blocks=7",
        "quick": False,
        "hugepages": True,
        "overload": overload(),
        "wire": wire(),
        "hosts": hosts(),
        "capture": capture(),
        "proxies": proxies(),
    }
    return Summary(**{**fields, **changes})


def page_of(folder: Path, found: Summary, machine: Environment | None = None) -> str:
    (folder / "raw").mkdir(exist_ok=True)
    (folder / "raw" / "c-l2fwd-c.stdout").touch()
    write_summary(folder, found)
    (folder / "environment.json").write_text((machine or environment()).model_dump_json())
    return write_report(folder).read_text()


class Structure(HTMLParser):
    """Checks nesting and collects what a page refers to."""

    VOID = frozenset({"meta", "link", "br", "hr", "img", "input", "path", "use", "rect"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href", "xlink:href", "action"):
                self.references.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


def assert_self_contained(page: str) -> None:
    """Well formed, and refers to nothing but itself."""
    structure = Structure()
    structure.feed(page)
    assert structure.open == []
    assert len(structure.ids) == len(set(structure.ids))
    assert {reference[1:] for reference in structure.references} <= set(structure.ids)
    assert all(reference.startswith("#") for reference in structure.references)
    assert "<script" not in page
    assert "@import" not in page
    assert "url(http" not in page


def test_the_page_is_whole_and_needs_nothing_else(tmp_path: Path):
    page = page_of(tmp_path, summary())
    assert_self_contained(page)
    assert page.count("<svg") == 3


def test_the_charts_take_their_colours_from_the_page(tmp_path: Path):
    page = page_of(tmp_path, summary())
    drawings = "".join(re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL))
    assert "var(--series-1)" in drawings
    assert "var(--kept)" in drawings
    assert "currentColor" in drawings
    assert re.findall(r"#[0-9a-fA-F]{6}\b", drawings) == []


def test_words_in_a_chart_stay_as_they_are():
    def paint(axes: Axes) -> None:
        axes.plot([0.123456, 1], [0, 1], label="$x$ at 0.685")
        axes.legend()

    svg = draw("rates", 2, paint, "loss of at most 0.001 %")
    assert ">$x$ at 0.685</text>" in svg
    assert 'aria-label="loss of at most 0.001 %"' in svg
    assert not re.search(r' (d|x|y)="[^"]*\d\.\d{3}', svg), "drawn to 0.01 points"


def test_the_articles_columns_and_figures_are_there(tmp_path: Path):
    page = page_of(tmp_path, summary())
    for column in ("Language", "Frame size", "Duration", "Generator TX", "Generator RX", "Forwarder TX"):
        assert column in page
    for column in ("Forwarder RX", "Forwarder drops", "Average RX burst"):
        assert column in page
    for value in ("902.000", "910.000", "31.50", "3.200", "0.164"):
        assert f">{value}</td>" in page
    assert "byte 40 is 0x01 instead of 0x00" in page
    assert "0123456789abcdef</code>, with uncommitted changes" in page
    assert "ab" * 32 in page
    assert "./x demo --blocks=7" in page
    assert "c-l2fwd-c.stdout" in page


def test_text_from_outside_is_escaped(tmp_path: Path):
    page = page_of(tmp_path, summary())
    assert EVIL not in page
    assert "&lt;script&gt;alert(&#39;1 &amp; 2&#39;)" in page


def test_a_partial_run_is_said_to_be_one(tmp_path: Path):
    found = summary(status=Status.INTERRUPTED, reason="interrupted: see below", hosts=None, capture=None)
    page = page_of(tmp_path, found)
    assert "<strong>Partial.</strong>" in page
    assert "Real hosts" not in page


def test_a_run_that_was_killed_at_once_can_be_reported(tmp_path: Path):
    found = summary(status=Status.INTERRUPTED, reason="it did not reach its end", overload=None, wire=None, hosts=None)
    assert "it did not reach its end" in page_of(
        tmp_path, found.model_copy(update={"capture": None, "proxies": None, "finished": None})
    )


def test_skipped_acts_say_why(tmp_path: Path):
    found = summary(hosts=HostsAct(status=Status.SKIPPED, reason="network namespaces need root"))
    assert "network namespaces need root" in page_of(tmp_path, found)


@pytest.mark.parametrize(("hypervisor", "warned"), [("kvm", True), ("none", False), ("unknown", False)])
def test_shared_machines_are_labelled(tmp_path: Path, hypervisor: str, warned: bool):
    page = page_of(tmp_path, summary(), environment(hypervisor))
    assert ("describe this machine at that time" in page) is warned


def test_quick_and_hugepages_are_labelled(tmp_path: Path):
    plain = page_of(tmp_path, summary())
    assert "not a measurement" not in plain
    assert "without hugepages" not in plain
    page = page_of(tmp_path, summary(quick=True, hugepages=False))
    assert "Its figures are not a measurement" in page
    assert "Measured without hugepages" in page


def test_a_folder_without_results_is_refused(tmp_path: Path):
    with pytest.raises(ResultsError, match=r"summary\.json"):
        write_report(tmp_path)
    write_summary(tmp_path, summary())
    with pytest.raises(ResultsError, match=r"environment\.json"):
        write_report(tmp_path)
    assert not (tmp_path / "report.html").exists()


def test_the_first_sentence_is_the_verdict(tmp_path: Path):
    page = page_of(tmp_path, summary())
    body = page[page.index("<body>") :]
    first = re.search(r'<p class="(?!when)[^"]*">([^<]*)</p>', body)[1]
    assert re.fullmatch(
        r"l2fwd-rs forwards 1\.(20\d|199) times as much as l2fwd-c \(95 % interval [\d.]+ to [\d.]+; "
        r"noise floor [\d.]+ to [\d.]+\): l2fwd-rs is faster than l2fwd-c\.",
        first,
    )
    assert "without testpmd-mac: not there" in page


@pytest.mark.parametrize(
    ("ratio", "count", "conclusion"),
    [
        (1.0, 10, ": equal within 1 %."),
        (0.9, 10, ": l2fwd-rs is slower than l2fwd-c."),
        (1.2, 5, ": no verdict from 5 blocks, since it takes 6."),
        (1.2, 1, "l2fwd-c: no verdict from 1 block, since it takes 6."),
    ],
)
def test_the_answer_in_words(ratio: float, count: int, conclusion: str):
    assert tables.answer(overload(ratio, count)).endswith(conclusion)


@pytest.mark.parametrize(
    ("low", "high", "conclusion"),
    [
        (0.98, 1.03, "no difference found, and any is smaller than 3.0 %"),
        (1.02, 1.05, "inconclusive, since the difference does not stand out from the noise"),
    ],
)
def test_an_inconclusive_answer_says_how_much_is_ruled_out(low: float, high: float, conclusion: str):
    ratio = PairRatio(median=(low + high) / 2, ci95=(low, high), samples=[1.0] * 7, p=0.04)
    floor = PairRatio(median=1.0, ci95=(0.9, 1.1), samples=[1.0] * 7, p=1.0)
    assert headline("a", "b", ratio, floor, judge(ratio, floor)).endswith(f": {conclusion}.")


def test_a_disturbed_comparison_answers_nothing():
    ratio = PairRatio(median=1.2, ci95=(1.1, 1.3), samples=[1.2] * 7, p=0.01)
    words = headline("a", "b", ratio, None, judge(ratio, disturbed=True), disturbed=True)
    assert "no verdict, since other programs" in words
    assert "faster" not in words


def test_no_answer_where_the_twins_were_not_compared():
    assert tables.answer(None) is None
    assert tables.answer(overload(count=0)) is None


def printed(table: Table, width: int) -> str:
    text = io.StringIO()
    Console(width=width, file=text).print(table.rich(width))
    return text.getvalue()


@pytest.mark.parametrize("width", [120, 100, 80, 60])
def test_a_table_is_printed_whole_or_on_its_side(width: int):
    text = printed(tables.wire_table(wire()), width)
    for word in " ".join(tables.WIRE_COLUMNS[1:]).split():
        assert word in text
    for value in ("902.000", "910.000", "31.50", "yes"):
        assert value in text
    assert "…" not in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width


def test_a_table_with_medians_too_wide_on_its_side_shows_these_only():
    rows = [Row(["C", *["1.000"] * 9], "median"), *(Row(["C", *["2.000"] * 9]) for _ in range(9))]
    text = printed(Table("T", ["", *[f"a long heading {n}" for n in range(9)]], rows), 40)
    assert "each round is in the report" in " ".join(text.split())
    assert "2.000" not in text


def test_an_invalid_trial_shows_no_figures():
    act = wire()
    act.trials[0].reasons = ["3 frames came back corrupted"]
    (row,) = [row for row in tables.wire_table(act).rows if row.kind == "invalid"]
    assert row.cells[0] == "C"
    assert set(row.cells[1:-1]) == {ABSENT}
    assert tables.remarks(act.trials) == ["C: invalid: 3 frames came back corrupted"]


def test_a_row_for_each_proxy_says_what_was_asked(tmp_path: Path):
    figures = ["1,500", "1,499", "0", "128", "1,234"]
    assert [row.cells for row in tables.proxies_table(proxies()).rows] == [
        ["C", "origin, without a proxy", *figures],
        ["C", "proxy on Linux's sockets", *figures],
        ["C", "proxy on dpdk-sockets", *figures],
        ["Rust", "proxy on dpdk-sockets", *[ABSENT] * 4, "invalid"],
    ]
    page = page_of(tmp_path, summary())
    assert "A client sends 500 requests a second over 10 connections for 1 s" in page
    assert "Rust, proxy on dpdk-sockets: invalid: wrong answers: 3" in page
    assert summary().acts[-1][0] == "e. A proxy on two network stacks"


def test_the_same_remark_is_made_once():
    act = wire()
    for trial in act.trials:
        trial.notes = ["disturbed"]
    assert tables.remarks(act.trials) == ["every trial: disturbed"]
    act.trials[0].notes = []
    assert tables.remarks(act.trials) == ["Rust: disturbed"]
