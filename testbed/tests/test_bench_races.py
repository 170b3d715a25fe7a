# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The races of `bench sockets` and `bench services` with the real programs, as short as they can be: no speed."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from test_bench_statistics import blocks_of, measurement_of

from testbed.bench.services import contestants
from testbed.bench.services.contestants import CONTESTANTS
from testbed.bench.services.record import ServicesRecord
from testbed.bench.sockets.loads import LOADS
from testbed.bench.sockets.race import Race, compared, requests
from testbed.bench.sockets.record import read_record
from testbed.bench.sockets.servers import Server, find_client, find_servers
from testbed.bench.sockets.tables import full, rate_table, remarks, stream_table
from testbed.comparison.blocks import Protocol
from testbed.comparison.measurement import off_the_forwarders_cpu
from testbed.comparison.pair_verdict import Verdict
from testbed.comparison.platform import Platform
from testbed.run.lcores import plan_lcores
from testbed.run.programs import RACE_CLIENT, RACE_SERVER, Program, ProgramMissing
from testbed.run.results_folder import Status
from testbed.run.scratch import scratch_folder

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
CONNECTIONS = 20
# An echo server that changes the last byte of each request.
WRONG = f"""
import socket
listener = socket.create_server(("", 80), backlog={CONNECTIONS})
connections = [listener.accept()[0] for _ in range({CONNECTIONS})]
while True:
    for connection in connections:
        request = connection.recv(128)
        connection.sendall(request[:-1] + bytes([request[-1] ^ 1]))
"""


def race_of(server: Server, folders: list[Path] | None, platform: Platform) -> Race:
    return Race([server], find_client(folders), platform, Protocol(rounds=1, slice_s=0.1), 1, 0.1, seed=1)


def folders_of(program: Callable[[str], Program]) -> list[Path]:
    return sorted({program(name).path.parent for name in (RACE_CLIENT, RACE_SERVER)})


@pytest.mark.e2e
def test_a_short_race(program: Callable[[str], Program], tmp_path: Path) -> None:
    # The kernel's need a network namespace.
    names = ("polled", "epoll") if os.geteuid() == 0 else ("polled",)
    argv = [sys.executable, "-m", "testbed", "bench", "sockets", *names, "--race", "--quick", "--blocks=1"]
    argv += [f"--connections={CONNECTIONS}", f"--out={tmp_path}", f"--json={tmp_path / 'copy.json'}"]
    argv += [f"--bin-dir={folder}" for folder in folders_of(program)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=170, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    record = read_record(tmp_path / "copy.json")
    assert record.status is Status.PASSED
    (measurement,) = record.measurements
    (block,) = measurement.blocks
    assert measurement.condition.connections == CONNECTIONS
    assert [run.label for run in block.runs] == [*names, f"{names[0]} (again)"]
    for run in block.runs:
        assert run.slices.round == [1, 1]
        assert sum(run.slices.tx_packets) > 0
        # Never more answers than requests, and those on their way when the counters are read.
        assert all(
            abs(requests - answers) <= CONNECTIONS
            for requests, answers in zip(run.slices.rx_packets, run.slices.tx_packets, strict=True)
        )
        # Wide bounds: times are read one after the other, while other programs may have the CPU.
        assert run.client_idle_share is not None
        assert run.idle_share is not None
        assert 0 <= run.client_idle_share < 2
        assert 0 <= run.idle_share < 2
    loads = [(name, load) for name in names for load in LOADS]
    assert [(one.server, one.load) for one in record.latencies] == loads
    assert all(one.p50_us <= one.p99_us <= one.max_us for one in record.latencies)
    assert sum(one.count for one in record.latencies) > 0
    assert [one.server for one in record.churn] == list(names)
    assert sum(sum(one.per_second) for one in record.churn) > 0
    assert all(name in done.stdout for name in names)


def race_services(service: str, names: Sequence[str], words: Sequence[str], client: Program, out: Path) -> tuple:
    """The record of a short race of services, and what is printed."""
    if not all(one.path.is_file() for one in CONTESTANTS[service] if one.name in names):
        pytest.skip(f"the {service} in C is missing: run make -C services/c")
    argv = [sys.executable, "-m", "testbed", "bench", "services", service, *names, "--quick", "--blocks=1", *words]
    argv += [f"--out={out}", f"--json={out / 'copy.json'}", f"--bin-dir={client.path.parent}"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=170, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    record = ServicesRecord.model_validate_json((out / "copy.json").read_text())
    assert record.status is Status.PASSED
    return record, done.stdout


@pytest.mark.e2e
def test_messages_in_bulk_come_back(program: Callable[[str], Program], tmp_path: Path) -> None:
    # Neither length is one of segments.
    words = ["--connections=3", "--messages=100", "--messages=70001"]
    record, _ = race_services("echo", ["c-dpdk"], words, program(RACE_CLIENT), tmp_path)
    assert [one.message for one in record.services] == [None, 100, 70_001]
    assert all(one.rate > 0 for one in record.services)
    runs = [run for one in record.measurements for run in one.blocks[0].runs]
    assert all(run.idle_share is not None and 0 <= run.idle_share <= 1 for run in runs)


@pytest.mark.e2e
def test_pages_on_connections_that_end(program: Callable[[str], Program], tmp_path: Path) -> None:
    words = [f"--connections={CONNECTIONS}", "--per-connection=2"]
    record, _ = race_services("proxy", ["c-dpdk"], words, program(RACE_CLIENT), tmp_path)
    (one,) = record.services
    assert (one.per_connection, one.rate > 0) == (2, True)
    # More than connections that are opened once could have.
    (block,) = record.measurements[0].blocks
    assert all(sum(run.slices.tx_packets) > 10 * 2 * CONNECTIONS for run in block.runs)
    (folder,) = tmp_path.glob("bench-services-*")
    assert (folder / "report.html").is_file()


@pytest.mark.e2e
def test_a_short_race_of_services(program: Callable[[str], Program], tmp_path: Path) -> None:
    names = ("c-dpdk", "c-kernel") if os.geteuid() == 0 else ("c-dpdk",)
    words = [f"--connections={CONNECTIONS}"]
    record, told = race_services("adder", names, words, program(RACE_CLIENT), tmp_path)
    found = [(one.name, one.language, one.stack, one.connections) for one in record.services]
    assert found == [(name, "C", name.removeprefix("c-"), CONNECTIONS) for name in names]
    for one in record.services:
        assert one.rate > 0
        assert one.cpu_s_per_request > 0
        assert one.latency_us["p50"] <= one.latency_us["p99_99"] <= one.latency_us["max"]
        assert one.rss_kb is not None
        assert one.shared_kb is not None
        assert 0 < one.shared_kb <= one.rss_kb
    assert all(cost.user_us + cost.system_us + cost.softirq_us > 0 for cost in record.costs)
    assert all(name in told for name in names)
    (folder,) = tmp_path.glob("bench-services-*")
    check_that_it_goes_on(folder, record, program(RACE_CLIENT))


def check_that_it_goes_on(folder: Path, whole: ServicesRecord, client: Program) -> None:
    """As if the run had been interrupted before its last program had shown its costs."""
    last = whole.costs[-1].server
    half = whole.model_copy(deep=True)
    half.status = Status.INTERRUPTED
    half.blocks += 1
    for found in (half.costs, half.latencies, half.churn):
        found[:] = [one for one in found if one.server != last]
    file = folder / "summary.json"
    file.write_text(half.model_dump_json())
    argv = [
        sys.executable,
        "-m",
        "testbed",
        "bench",
        "services",
        f"--resume={folder}",
        f"--bin-dir={client.path.parent}",
    ]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=170, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    record = ServicesRecord.model_validate_json(file.read_text())
    assert record.status is Status.PASSED
    assert len(record.resumed) == 1
    (before,), (after,) = whole.measurements, record.measurements
    assert after.blocks[: whole.blocks] == before.blocks
    assert len(after.blocks) == half.blocks
    # What was there is as it was, and the rest has been measured.
    assert record.costs[: len(half.costs)] == half.costs
    assert [one.server for one in record.costs] == [one.server for one in whole.costs]
    assert [one.server for one in record.churn] == [one.server for one in whole.churn]
    # It is complete now.
    again = subprocess.run(argv, capture_output=True, text=True, timeout=170, check=False, env=ENVIRONMENT)
    assert again.returncode == 1
    assert f"cannot continue '{folder}': it is complete" in again.stderr
    file.write_text(half.model_copy(update={"lcores": {"client": 70, "server": 71}}).model_dump_json())
    other = subprocess.run(argv, capture_output=True, text=True, timeout=170, check=False, env=ENVIRONMENT)
    assert "it was begun on the CPUs {'client': 70, 'server': 71}" in other.stderr


def test_programs_of_a_service_that_cannot_be_had_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contestants, "repository_root", lambda: tmp_path)
    with pytest.raises(ProgramMissing, match="no program 'perl' of adder: choose from rust-dpdk, "):
        contestants.choose("adder", ["perl"])
    with pytest.raises(ProgramMissing, match=r"no program of adder is built: run ./x services build"):
        contestants.choose("adder", [])
    built = tmp_path / "target/services-c/adder"
    built.parent.mkdir(parents=True)
    built.touch(mode=0o755)
    chosen, missing = contestants.choose("adder", [])
    assert [one.name for one in chosen] == ["c-dpdk", "c-kernel"]
    assert any(line.startswith("without go-kernel: no program") for line in missing)
    with pytest.raises(ProgramMissing, match=r"target/dist/adder': run ./x services build"):
        contestants.choose("adder", ["rust-dpdk"])


@pytest.mark.e2e
def test_a_short_race_with_streams(program: Callable[[str], Program], tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "testbed", "bench", "sockets", "polled", "segmented", "async", "--race", "--quick"]
    argv += ["--blocks=1", "--streams=2", f"--out={tmp_path}", f"--json={tmp_path / 'copy.json'}"]
    argv += [f"--bin-dir={folder}" for folder in folders_of(program)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=170, check=False, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout + done.stderr
    record = read_record(tmp_path / "copy.json")
    (measurement,) = record.measurements
    (block,) = measurement.blocks
    assert (measurement.condition.streams, measurement.describe()) == (True, "2 streams")
    assert [run.label for run in block.runs] == ["polled", "segmented", "polled (again)"]
    assert all(sum(run.slices.tx_packets) > 0 for run in block.runs)
    assert not rate_table(record.measurements).rows
    assert len(stream_table(record.measurements).rows) == 3
    # What the device cuts leaves the stack in longer segments.
    (raw,) = tmp_path.glob("bench-sockets-*/raw")
    assert [
        _segment_size(raw / f"2-streams-block1-{name}-server.stdout") > 1_460 for name in ("polled", "segmented")
    ] == [
        False,
        True,
    ]


def _segment_size(told: Path) -> float:
    """Bytes of data in a segment of the server, by its counters."""
    counters = dict(re.findall(r"(\w+): (\d+)", told.read_text()))
    return int(counters["bytes_sent"]) / int(counters["segments_sent"])


@pytest.mark.e2e
def test_a_server_that_answers_wrongly_is_found(
    program: Callable[[str], Program], need_root: None, hugepages: bool, tmp_path: Path
) -> None:
    folders = folders_of(program)
    wrong = Server("wrong", "", True, Program("wrong", "Python", Path(sys.executable)), lambda *_: ["-c", WRONG])
    lcores = plan_lcores()
    with scratch_folder() as runtime, off_the_forwarders_cpu(lcores):
        race = race_of(wrong, folders, Platform(lcores, hugepages, runtime, tmp_path, None))
        measurement, able = race.measurement(requests(CONNECTIONS))
        (block,) = race.run_blocks(measurement, able, lambda _: None)
    assert "segments were wrong" in " ".join(block.reasons), block.reasons
    assert any("block 1 is invalid" in remark for remark in remarks([measurement]))
    assert not rate_table([measurement]).rows


@pytest.mark.e2e
def test_servers_that_cannot_take_part_are_named(program: Callable[[str], Program], tmp_path: Path) -> None:
    (polled,) = find_servers(["polled"], folders_of(program))
    kernel = dataclasses.replace(polled, name="many", on_kernel=True)
    platform = Platform(plan_lcores(), False, tmp_path, tmp_path, None)
    measurement, able = race_of(kernel, folders_of(program), platform).measurement(requests(10_000_000))
    assert not able
    assert "a process has at most" in measurement.skipped["many"]


@pytest.mark.parametrize(
    ("server_idle", "client_idle", "who"),
    [
        (0.05, 0.8, "server"),
        (0.8, 0.05, "client"),
        (0.5, 0.5, "neither"),
        (0.05, 0.05, "server and client"),
        (None, 0.5, "–"),
        (None, 0.05, "client"),
    ],
)
def test_who_is_full(server_idle: float | None, client_idle: float, who: str) -> None:
    assert full(server_idle, client_idle) == who


@pytest.mark.parametrize(("disturbed", "verdict"), [(5, Verdict.FASTER), (6, Verdict.INCONCLUSIVE)])
def test_no_verdict_where_others_had_the_servers_cpu(disturbed: int, verdict: Verdict) -> None:
    blocks = blocks_of(1.1)
    for block in blocks[:disturbed]:
        block.notes.append("disturbed")
    ((pair,), (floor,)) = compared([measurement_of(blocks)])
    assert (pair.verdict, pair.disturbed, floor.disturbed) == (verdict, disturbed == 6, disturbed == 6)


def test_an_unknown_server_is_named() -> None:
    argv = [sys.executable, "-m", "testbed", "bench", "sockets", "polled", "nginx"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, env=ENVIRONMENT)
    assert done.returncode == 2
    assert "unknown server 'nginx'" in done.stderr
