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
from rich.console import Console
from test_overload import act_of, trial_of

from testbed import tables
from testbed.environment import Binary, Cpu, Environment, Hugepages
from testbed.report import write_report
from testbed.results import (
    CaptureAct,
    CaptureTrial,
    FrameDifference,
    HostsAct,
    HostsTrial,
    OverloadAct,
    Ping,
    ResultsError,
    Status,
    Summary,
    TcpTransfer,
    write_summary,
)

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


def overload(rounds: int = 3) -> OverloadAct:
    trials = [trial_of("C", n, 900_000_000 + n * 1_000_000) for n in range(1, rounds + 1)]
    trials += [trial_of("Rust", n, 910_000_000) for n in range(1, rounds + 1)]
    for trial in trials:
        trial.forwarder.rx_burst_avg = 31.5
        trial.notes = []
    return act_of(trials, rounds)


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


def summary(**changes: object) -> Summary:
    fields = {
        "status": Status.PASSED,
        "started": NOW,
        "finished": NOW,
        "command": "./x demo --rounds=3",
        "quick": False,
        "hugepages": True,
        "overload": overload(),
        "hosts": hosts(),
        "capture": capture(),
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
    assert "var(--rust)" in drawings
    assert "currentColor" in drawings
    assert re.findall(r"#[0-9a-fA-F]{6}\b", drawings) == []


def test_the_articles_columns_and_figures_are_there(tmp_path: Path):
    page = page_of(tmp_path, summary())
    for column in ("Language", "Frame size", "Duration", "Generator TX", "Generator RX", "Forwarder TX"):
        assert column in page
    for column in ("Forwarder RX", "Forwarder drops", "Average RX burst"):
        assert column in page
    for value in ("902.000", "910.000", "31.50", "182.000", "3.200", "0.164"):
        assert f">{value}</td>" in page
    assert "Rust forwarded 1.009 times the frames that C did (median of 3 rounds, 1.008 to 1.010)" in page
    assert "byte 40 is 0x01 instead of 0x00" in page
    assert "0123456789abcdef</code>, with uncommitted changes" in page
    assert "ab" * 32 in page
    assert "./x demo --rounds=3" in page
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
    found = summary(status=Status.INTERRUPTED, reason="it did not reach its end", overload=None, hosts=None)
    assert "it did not reach its end" in page_of(tmp_path, found.model_copy(update={"capture": None, "finished": None}))


def test_skipped_acts_say_why(tmp_path: Path):
    found = summary(hosts=HostsAct(status=Status.SKIPPED, reason="network namespaces need root"))
    assert "network namespaces need root" in page_of(tmp_path, found)


@pytest.mark.parametrize(("hypervisor", "warned"), [("kvm", True), ("none", False), ("unknown", False)])
def test_shared_machines_are_labelled(tmp_path: Path, hypervisor: str, warned: bool):
    page = page_of(tmp_path, summary(), environment(hypervisor))
    assert ("describe this machine at that time" in page) is warned


def test_quick_and_hugepages_are_labelled(tmp_path: Path):
    plain = page_of(tmp_path, summary())
    assert "no measurement" not in plain
    assert "without hugepages" not in plain
    page = page_of(tmp_path, summary(quick=True, hugepages=False))
    assert "Its figures are no measurement" in page
    assert "Measured without hugepages" in page


def test_a_folder_without_results_is_refused(tmp_path: Path):
    with pytest.raises(ResultsError, match=r"summary\.json"):
        write_report(tmp_path)
    write_summary(tmp_path, summary())
    with pytest.raises(ResultsError, match=r"environment\.json"):
        write_report(tmp_path)
    assert not (tmp_path / "report.html").exists()


def printed(table: tables.Table, width: int) -> str:
    text = io.StringIO()
    Console(width=width, file=text).print(table.rich(width))
    return text.getvalue()


@pytest.mark.parametrize("width", [120, 100, 80, 60])
def test_a_table_is_printed_whole_or_on_its_side(width: int):
    text = printed(tables.overload_table(overload()), width)
    for word in " ".join(tables.OVERLOAD_COLUMNS[2:]).split():
        assert word in text
    for value in ("902.000", "910.000", "182.000", "31.50"):
        assert value in text
    assert "…" not in text
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    assert ("903.000" in text) is (width >= 100)
    assert ("each round is in the report" in " ".join(text.split())) is (width < 100)


def test_an_invalid_round_shows_no_figures():
    act = overload()
    act.trials[0].reasons = ["3 frames came back corrupted"]
    (row,) = [row for row in tables.overload_table(act).rows if row.kind == "invalid"]
    assert row.cells[:2] == ["C", "1"]
    assert set(row.cells[3:-1]) == {tables.ABSENT}
    assert tables.remarks(act.trials)[0] == "C, round 1: invalid: 3 frames came back corrupted"


def test_the_same_remark_is_made_once():
    act = overload()
    for trial in act.trials:
        trial.notes = ["not overloaded"]
    assert "but in 6 of these 6 trials something else" in tables.ratio_sentences(act)[0]
    (remark,) = tables.remarks(act.trials)
    assert remark == "every trial: not overloaded"
    act.trials[0].notes = []
    (remark,) = tables.remarks(act.trials)
    assert remark.startswith("C, round 2; C, round 3; Rust, round 1; ")


@pytest.mark.parametrize(
    ("rounds", "part"),
    [
        (1, "(median of 1 round)."),
        (2, "(median of 2 rounds, 1.009 to 1.010)."),
        (3, "with 3 rounds it is no wider than the range."),
        (6, "95 % bootstrap interval"),
    ],
)
def test_the_ratio_in_words(rounds: int, part: str):
    assert part in " ".join(tables.ratio_sentences(overload(rounds)))
    assert "No ratio" in tables.ratio_sentences(act_of([]))[0]
