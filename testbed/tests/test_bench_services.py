# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What `bench services` measures, and what its tables and report say of a run that is made by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer

from testbed.bench.services import cli, command, contestants, report
from testbed.bench.services.articles import article_tables
from testbed.bench.services.contestants import CONTESTANTS, Contestant
from testbed.bench.services.record import ServicesRecord
from testbed.bench.services.tables import findings, matrix_tables, overhead_table, ramp_table, telling
from testbed.bench.sockets.race import compared, messages, requests
from testbed.bench.sockets.record import Latency
from testbed.bench.sockets.tables import latency_table
from testbed.comparison.condition import Condition
from testbed.comparison.figures import figures
from testbed.comparison.noise_floor import again
from testbed.comparison.record import Block, Measurement, Run, Slices
from testbed.run.environment import record_environment
from testbed.run.results_folder import ResultsError, Status

PROGRAMS = ("rust-dpdk", "c-dpdk", "rust-kernel", "c-kernel", "go-kernel", "origin-dpdk", "origin-kernel")
# Answers in a second of CPU time.
RATES = dict(zip(PROGRAMS, (60_000, 60_000, 10_000, 10_000, 5_000, 90_000, 20_000), strict=True))


def run_of(label: str, rate: int) -> Run:
    each = {"seconds": [0.5, 0.5], "cpu_seconds": [0.5, 0.5], "tx_packets": [rate // 2] * 2}
    slices = Slices(round=[1, 1], rx_packets=[rate // 2] * 2, clock_error_s=[0.0, 0.0], **each)
    return Run(label=label, start_s=0.1, rss_kb=1, hugepages_kb=0, slices=slices)


def measurement_of(condition: Condition, names: tuple[str, ...]) -> Measurement:
    labels = [*names, again(names[0])]
    rates = [*(RATES[name] for name in names), RATES[names[0]]]
    blocks = [
        Block(number=number, runs=[run_of(*one) for one in zip(labels, rates, strict=True)]) for number in range(1, 9)
    ]
    measurement = Measurement(condition=condition, labels=labels, blocks=blocks)
    measurement.figures = figures(measurement, None)
    return measurement


def latency(server: str, planned: float | None, p50: float) -> Latency:
    names = ("p50", "p75", "p90", "p99", "p99_9", "p99_99", "max", "mean", "standard_deviation", "tm99_9")
    times = {f"{name}_us": p50 + place for place, name in enumerate(names)}
    return Latency(
        server=server,
        connections=100,
        per_connection=0 if planned is None else 50,
        load=0.5,
        planned=planned,
        requests_per_second=planned or 1,
        count=1,
        client_pause_us=1,
        **times,
    )


def record_of(service: str, conditions: list[Condition]) -> ServicesRecord:
    wanted = {one.name: one for one in CONTESTANTS[service] if one.name in PROGRAMS}
    record = ServicesRecord(
        service=service,
        status=Status.PASSED,
        started=datetime(2026, 1, 2, tzinfo=UTC),
        command="./x bench services",
        versions="DPDK 1",
        quick=False,
        hugepages=True,
        seed=1,
        blocks=8,
        rounds=1,
        slice_ms=500,
        lcores={"client": 0, "server": 1},
        servers={name: one.what for name, one in wanted.items()},
        environment=record_environment([], hugepages=False),
        measurements=[measurement_of(one, tuple(wanted)) for one in conditions],
    )
    record.pairs, record.noise_floor = compared(record.measurements)
    record.fill(list(wanted.values()))
    return record


def test_pairs_that_tell_something_have_a_stack_or_a_program_in_common():
    pairs = telling(record_of("proxy", [requests(100)]).pairs)
    assert [(one.a, one.b) for one in pairs] == [
        ("rust-dpdk", "c-dpdk"),
        ("rust-dpdk", "rust-kernel"),
        ("c-dpdk", "c-kernel"),
        ("rust-kernel", "c-kernel"),
        ("rust-kernel", "go-kernel"),
    ]


def test_programs_are_below_each_other_and_stacks_beside_each_other():
    (content,) = matrix_tables(record_of("proxy", [requests(100)]))
    assert content.columns[:3] == ["Program", "Linux's sockets", "dpdk-sockets"]
    assert [row.cells[:4] for row in content.rows] == [
        ["rust", "10,000", "60,000", "6.00"],
        ["c", "10,000", "60,000", "6.00"],
        ["go", "5,000", "–", "–"],
        ["origin", "20,000", "90,000", "4.50"],
    ]


def test_messages_are_counted_as_such_and_in_megabytes():
    record = record_of("echo", [messages(16, 4096)])
    (one,) = (one for one in record.services if one.name == "rust-dpdk")
    # Each four of the client's units of 1,024 bytes.
    assert (one.rate, one.cpu_s_per_request) == (15_000, pytest.approx(1 / 15_000))
    (content,) = matrix_tables(record)
    assert content.title == "16 connections, messages of 4,096 bytes: MB per second of CPU time"
    assert content.rows[0].cells[:3] == ["rust", "10", "61"]
    (article,) = article_tables(record)
    assert article.rows[1].cells == ["Rust", "227 to 588", "rust 10", "rust 61"]


def test_what_a_proxy_adds_is_against_the_origin_on_its_stack_at_its_rate():
    found = [
        *(latency("rust-dpdk", rate, 50) for rate in (5_000, 10_000)),
        latency("rust-kernel", 5_000, 300),
        latency("go-kernel", 15_000, 500),
        latency("origin-dpdk", 5_000, 20),
        latency("origin-dpdk", 10_000, 40),
        latency("origin-kernel", 5_000, 100),
        latency("rust-dpdk", None, 7),
    ]
    rows = [row.cells for row in overhead_table(found).rows]
    assert [row[:4] for row in rows] == [
        ["100, 50 requests each", "rust-dpdk", "5,000", "30.0 (+150 %)"],
        ["100, 50 requests each", "rust-dpdk", "10,000", "10.0 (+25 %)"],
        ["100, 50 requests each", "rust-kernel", "5,000", "200.0 (+200 %)"],
    ]
    assert (len(ramp_table(found).rows), len(latency_table(found).rows)) == (7, 1)


def test_the_report_has_the_answers_and_says_what_it_lacks():
    record = record_of("proxy", [requests(100), requests(100, 50)])
    record.latencies = [latency(name, 5_000, 50) for name in PROGRAMS]
    record.missing = ["without java-kernel: no program"]
    page = report.render(record)
    assert "rust-dpdk answers 6.000 times as much as rust-kernel" in page
    assert "What a proxy adds" in page
    assert "100 connections, 50 requests each" in page
    assert "without java-kernel: no program" in page
    assert "Network service performance" in page
    assert findings(record)[0].startswith("rust-dpdk answers 1.000 times as much as c-dpdk")


def test_a_report_of_a_run_that_gave_nothing_is_made():
    record = record_of("adder", [])
    assert "No block gave a result." in report.render(record)


def conditions(service: str, *given: list[int], quick: bool = False) -> list[Condition]:
    return cli._conditions(service, *given, quick)


def test_what_is_measured():
    nothing: list[int] = []
    assert conditions("adder", nothing, nothing, nothing) == [requests(many) for many in (1, 100, 1_000, 10_000)]
    assert conditions("adder", nothing, nothing, nothing, quick=True) == [requests(100)]
    of_echo = conditions("echo", nothing, nothing, nothing)
    assert of_echo[4:9] == [messages(many, 4096) for many in (16, 1, 100, 1_000, 10_000)]
    assert [one.message for one in of_echo[9:]] == [64, 1_024, 65_536, 1_048_576]
    assert conditions("echo", [7], [99], nothing) == [requests(7), messages(7, 99)]
    assert conditions("echo", nothing, [99], nothing) == [messages(16, 99)]
    assert conditions("proxy", nothing, nothing, nothing)[4:] == [requests(100, 50), requests(100, 1)]
    assert conditions("proxy", nothing, nothing, nothing, quick=True) == [requests(100, 50)]
    assert conditions("proxy", [7], nothing, [0, 3]) == [requests(7), requests(7, 3)]


@pytest.mark.parametrize(("option", "service"), [("messages", "adder"), ("per_connection", "echo")])
def test_options_of_another_service_are_refused(option: str, service: str):
    with pytest.raises(typer.BadParameter, match=rf"only for \w+, not for {service}"):
        cli.services(service, **{option: [100]})


def test_a_run_is_continued_with_its_own_settings(tmp_path: Path):
    with pytest.raises(typer.BadParameter, match=f"the folder '{tmp_path}/none' does not exist"):
        cli.services(resume=tmp_path / "none")
    for others in ({"service": "echo"}, {"names": ["c-dpdk"]}, {"seed": 0}, {"hugepages": False}):
        with pytest.raises(typer.BadParameter, match="omit the options that change them"):
            cli.services(resume=tmp_path, **others)
    record = record_of("adder", [requests(100)])
    (tmp_path / "summary.json").write_text(record.model_dump_json())
    with pytest.raises(ResultsError, match="it does not say what was to be measured"):
        command.go_on(tmp_path, None, None)


def test_a_thread_for_each_connection_has_a_limit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Contestant, "_check", lambda _: None)
    pool = next(one for one in CONTESTANTS["echo"] if one.name == "pool-kernel").server()
    assert pool.argv(messages(16, 4096))[-2:] == ["--threads", "16"]
    assert "at most" in (pool.refuses(contestants._MOST_THREADS[0] + 1) or "")
