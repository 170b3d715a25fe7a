# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x bench services --loss`: requests on a path that loses frames."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console

from testbed.bench.services import loss, loss_run
from testbed.bench.services.contestants import CONTESTANTS, Contestant
from testbed.bench.services.loss import NAMES, LossPlan, LossSample, Tools, find_contestants, loaded
from testbed.bench.services.loss_run import LossRecord, loss_table, run_loss
from testbed.bench.sockets.lossy_path import impaired
from testbed.run.environment import record_environment
from testbed.run.namespaces import NamespacesUnavailable, TwoHosts, check_available
from testbed.run.process import ProcessError
from testbed.run.programs import IMPAIR, LOAD, ORIGIN, Program, ProgramMissing, find_program, repository_root
from testbed.run.results_folder import Status

DEBUG = "target/debug"
PLAN = LossPlan(losses=(1.0,), rounds=2)
NO_TOOLS = Tools(*(Program(name, "Rust", Path(name)) for name in (LOAD, IMPAIR, ORIGIN)))


def sample(contestant: str, seed: int, first_ms: float, answered: int = 400, broken: int = 0) -> LossSample:
    """Its 50th percentile is the first time; the others are one, two, three and four times ten milliseconds longer."""
    keys = ("p50", "p90", "p99", "p99_9", "max")
    times = {key: int(1e6 * (first_ms + 10 * number)) for number, key in enumerate(keys)}
    step = {
        "planned": 400,
        "answered": answered,
        "broken": broken,
        "requests_per_second": answered / 2,
        "latency_ns": times if answered else dict.fromkeys(keys, 0),
        "reasons": [f"broken connections: {broken}"] if broken else [],
    }
    return LossSample(contestant, 1.0, seed, step, {"answered": answered + 20, "wrong": 0, "reasons": []})


def console() -> Console:
    return Console(record=True, width=200)


def row(samples: Sequence[LossSample], name: str) -> list[str]:
    environment = record_environment([], hugepages=False)
    record = LossRecord(
        service="adder",
        started=datetime(2026, 1, 2, tzinfo=UTC),
        command="./x",
        environment=environment,
        plan=PLAN,
        samples=list(samples),
    )
    return next(row.cells for row in loss_table(record).rows if row.cells[1] == name)


def test_a_row_has_medians_sums_and_the_highest_maximum() -> None:
    ours = [sample("rust-dpdk", seed, first) for seed, first in enumerate((1.0, 5.0))]
    ours.append(sample("rust-dpdk", 2, 2.0, answered=394, broken=3))
    others = [sample("c-dpdk", 0, 7.0, broken=9), replace(sample("rust-dpdk", 0, 7.0, broken=9), loss_percent=5.0)]
    expected = ["1 %", "rust-dpdk", "99.50 %", "200.0", "2.00", "12.00", "22.00", "32.00", "45.00", "3", "2 of 3"]
    assert row([*ours, *others], "rust-dpdk") == expected


def test_without_an_answer_there_is_no_latency() -> None:
    samples = [sample("c-kernel", 0, 1.0, answered=0)]
    expected = ["1 %", "c-kernel", "0.00 %", "0.0", "none", "none", "none", "none", "none", "0", "1 of 1"]
    assert row(samples, "c-kernel") == expected
    # Rounds without one do not shorten the others.
    assert row([*samples, sample("c-kernel", 1, 3.0)], "c-kernel")[4] == "3.00"


def run_stand_in(status: int, folder: Path) -> tuple[dict[str, object], dict[str, object]]:
    lines = [{"type": "start"}, {"type": "step", "answered": 7}, {"type": "result", "answered": 9}]
    script = "".join(f"echo '{json.dumps(line)}'\n" for line in lines)
    return loaded(["/bin/sh", "-c", f"{script}echo it says why >&2; exit {status}"], folder)


@pytest.mark.parametrize("status", [0, 3])
def test_what_load_finds_invalid_is_a_result(status: int, tmp_path: Path) -> None:
    step, result = run_stand_in(status, tmp_path)
    assert (step["answered"], result["answered"]) == (7, 9)


def test_a_load_that_fails_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ProcessError, match=r"load: ended with status 1(?s:.)*it says why"):
        run_stand_in(1, tmp_path)


def test_who_does_not_take_part_is_refused() -> None:
    with pytest.raises(ProgramMissing, match="'go-kernel' does not take part with --loss: choose from rust-kernel, "):
        find_contestants("adder", ["go-kernel"])


def run_measured(
    measured: Generator[LossSample, None, None], monkeypatch: pytest.MonkeyPatch, told: Console, path: Path
) -> Status:
    monkeypatch.setattr(loss_run, "measure_loss", lambda *_: measured)
    # Neither tools nor contestants need to be built.
    monkeypatch.setattr(Contestant, "_check", lambda _: None)
    monkeypatch.setattr(loss_run, "record_environment", lambda *_, **__: record_environment([], hugepages=False))
    return run_loss("adder", CONTESTANTS["adder"][:1], PLAN, NO_TOOLS, told, path)


@pytest.mark.parametrize("end", [KeyboardInterrupt, ProcessError("impair: ended")])
def test_what_ends_a_run_leaves_the_results_so_far(
    end: BaseException | type[BaseException], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def measured() -> Generator[LossSample, None, None]:
        yield sample("rust-dpdk", 0, 4.0, broken=2)
        raise end

    told, path = console(), tmp_path / "loss.json"
    if end is KeyboardInterrupt:
        assert run_measured(measured(), monkeypatch, told, path) is Status.INTERRUPTED
    else:
        with pytest.raises(ProcessError, match="impair: ended"):
            run_measured(measured(), monkeypatch, told, path)
    record, text = json.loads(path.read_text()), told.export_text()
    status = "interrupted" if end is KeyboardInterrupt else "failed"
    assert (record["schema_version"], record["status"], len(record["samples"])) == (1, status, 1)
    assert ("interrupted: reporting the results so far" in text) == (end is KeyboardInterrupt)
    assert "invalid: rust-dpdk, 1 %, round 1: broken connections: 2" in text
    assert "420 answers were checked: none wrong" in text


def test_wrong_answers_are_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def measured() -> Generator[LossSample, None, None]:
        yield replace(sample("c-kernel", 0, 4.0), result={"answered": 400, "wrong": 2, "reasons": []})

    told, path = console(), tmp_path / "loss.json"
    assert run_measured(measured(), monkeypatch, told, path) is Status.FAILED
    assert json.loads(path.read_text())["status"] == "failed"
    assert "402 answers were checked: 2 wrong" in told.export_text()


@pytest.fixture
def tools() -> Tools:
    try:
        check_available()
        return Tools(
            *(find_program(name, [repository_root() / DEBUG], for_figures=False) for name in (LOAD, IMPAIR, ORIGIN))
        )
    except (NamespacesUnavailable, ProgramMissing) as error:
        pytest.skip(str(error))


def contestants(service: str, names: Sequence[str]) -> list[Contestant]:
    """Those in Rust as the debug profile builds them."""
    all_of_it = [
        replace(one, folder=DEBUG) if one.language == "Rust" else one
        for one in CONTESTANTS[service]
        if one.name in names
    ]
    for one in all_of_it:
        if not one.path.is_file():
            pytest.skip(f"{one.path} is missing: run cargo build -p services, and make -C services/c")
    return all_of_it


@pytest.fixture
def lost(monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """How many frames `impair` says that it lost in each direction, sample by sample."""
    all_lost = []

    @contextmanager
    def counted(impair: Program, options: Sequence[str], hosts: TwoHosts, lcore: int, folder: Path) -> Iterator[None]:
        with impaired(impair, options, hosts, lcore, folder):
            yield
        result = json.loads((folder / "impair.stdout").read_text().splitlines()[-1])
        all_lost.append([direction["lost"] for direction in result["directions"]])

    monkeypatch.setattr(loss, "impaired", counted)
    return all_lost


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("service", "names"), [("adder", NAMES), ("echo", ("rust-dpdk",)), ("proxy", ("rust-kernel", "c-dpdk"))]
)
def test_all_are_asked(service: str, names: Sequence[str], tools: Tools, lost: list[list[int]], tmp_path: Path) -> None:
    plan = LossPlan(losses=(5.0,), rounds=1, rate=50, connections=5, seconds=0.5)
    chosen = contestants(service, names)
    told = console()
    assert run_loss(service, chosen, plan, tools, told, tmp_path / "loss.json") is Status.PASSED
    record = json.loads((tmp_path / "loss.json").read_text())
    assert (record["status"], record["plan"]["rate"]) == ("passed", 50)
    assert [one["contestant"] for one in record["samples"]] == [one.name for one in chosen]
    assert [all(sample) for sample in lost] == [True for _ in chosen], lost
    for one in record["samples"]:
        assert one["step"]["planned"] == 25
        # The others could not be sent in time.
        assert 0 < one["step"]["answered"] <= 25
    text = told.export_text()
    assert all(f" {one.name} " in text for one in chosen), text
