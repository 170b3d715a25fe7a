# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`bench parsing` from the command line to the record, with what builds and measures replaced by what is known."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from test_parsing_measures import libraries
from typer.testing import CliRunner

from testbed.cli import app
from testbed.parsing import command
from testbed.parsing.build import BuildError, Built
from testbed.parsing.count import CountError, KernelCount
from testbed.parsing.libraries import Listed
from testbed.parsing.record import (
    GateVerdict,
    MachineCode,
    Outcome,
    ParsingRecord,
    Residency,
    Timing,
    Variant,
    Workload,
    read_record,
)
from testbed.parsing.timing import NOTHING, Pool, Timed, TimingError
from testbed.results import Status

NAMES = ("c-gcc", "swift", "clumsy", "reader")


class Laboratory:
    """What `command` calls, with known answers; `fails` makes one of them fail in one variant."""

    def __init__(self) -> None:
        self.fails: dict[str, Exception | KeyboardInterrupt] = {}
        self.timed: list[tuple[str, Workload, tuple[str, ...]]] = []

    def fail(self, what: str, variant: str) -> None:
        if (error := self.fails.get(f"{what} {variant}")) is not None:
            raise error

    def build_variant(self, variant: Variant, *_: object) -> Built:
        self.fail("build", variant.name)
        return Built(Path(variant.name), 12.5, 40, 500_000, "ab")

    def list_libraries(self, program: Path, versions: object, folder: Path) -> list[Listed]:
        listed = [
            Listed(one, one.name, {w: f"pb_{w.lower()}_{one.name}" for w in Workload}) for one in libraries(*NAMES)
        ]
        listed[-1].library.cannot[Workload.W2] = "only reads"
        return listed

    def judge(self, found: list, workloads: tuple[Workload, ...], *_: object) -> None:
        for library in found:
            for workload in workloads:
                library.gate[workload] = GateVerdict(outcome=Outcome.PASSES, frames=100)
        for library in found:
            if library.name == "clumsy" and Workload.W2 in workloads:
                library.gate[Workload.W2] = GateVerdict(
                    outcome=Outcome.PANIC, reason="cut at 14", case="00", frames=100
                )

    def count_kernels(
        self, program: Path, workloads: list[Workload], names: list[str], *_: object
    ) -> list[KernelCount]:
        self.fail("count", program.name)
        return [KernelCount(name, workloads[0], 60.0 if name == "swift" else 50.0, 1.0) for name in names]

    def time_kernels(
        self, program: Path, workloads: list[Workload], names: list[str], residencies: list[Residency], *_: object
    ) -> Iterator[Timed | Pool]:
        for residency in residencies:
            yield Pool(residency, 2048)
            for name in (NOTHING, *names):
                self.timed.append((program.name, workloads[0], tuple(residencies)))
                yield Timed(name, workloads[0], Timing(residency=residency, ns_per_frame=9, low=8, high=10, samples=10))
                self.fail(f"time {name}", program.name)

    def program(self, path: Path) -> SimpleNamespace:
        code = MachineCode(
            instructions=50, size_bytes=200, branches=4, calls=0, panic_paths=0, reachable_instructions=50,
            reachable_panic_paths=0,
        )  # fmt: skip
        return SimpleNamespace(kernel=lambda _: code, names=lambda: {"c_clang_w2"} if "cross" in path.name else set())


@pytest.fixture
def laboratory(monkeypatch: pytest.MonkeyPatch) -> Laboratory:
    made = Laboratory()
    for name in ("build_variant", "list_libraries", "judge", "count_kernels", "time_kernels"):
        monkeypatch.setattr(command, name, getattr(made, name))
    monkeypatch.setattr(command, "Program", made.program)
    return made


def run(folder: Path, *words: str) -> tuple[int, str, ParsingRecord]:
    done = CliRunner().invoke(app, ["bench", "parsing", f"--out={folder}", "--no-alone", *words], terminal_width=300)
    made = sorted(folder.iterdir())
    assert len(made) == 1, done.output
    return done.exit_code, done.output, read_record(made[0])


def test_all_is_measured_that_may_be(laboratory: Laboratory, tmp_path: Path) -> None:
    copy = tmp_path / "copy.json"
    status, output, record = run(tmp_path / "results", "--quick", "--workload=W2", f"--json={copy}")
    assert status == 0
    assert (record.status, record.workloads) == (Status.PASSED, [Workload.W2])
    assert [build.variant.name for build in record.builds] == ["off-16", "fat-1"]
    for build in record.builds:
        swift, clumsy = build.kernel("swift", Workload.W2), build.kernel("clumsy", Workload.W2)
        assert swift is not None
        assert clumsy is not None
        assert (swift.instructions_per_frame, clumsy.instructions_per_frame) == (60.0, None)
        # Its machine code is looked at, but it is not run.
        assert clumsy.code is not None
        assert clumsy.timings == []
        assert [timing.residency for timing in swift.timings] == [Residency.HOT, Residency.COLD]
        assert len(build.loop_timings[Workload.W2]) == 2
        assert build.kernel("reader", Workload.W2) is None
    assert record.memory.pool_bytes == {Residency.HOT: 2048, Residency.COLD: 2048}
    assert json.loads(copy.read_text())["kind"] == "bench-parsing"
    assert "+20 %" in output
    assert "clumsy is not measured in W2: panic: cut at 14" in output
    assert "reader cannot do W2: only reads" in output


def test_one_library_of_all(laboratory: Laboratory, tmp_path: Path) -> None:
    _, _, record = run(tmp_path / "results", "--quick", "--libs=swift")
    assert [library.name for library in record.libraries] == ["swift"]
    assert {kernel.workload for _, kernel in record.cells()} == set(Workload)


def test_c_that_is_not_inlined_is_told(laboratory: Laboratory, tmp_path: Path) -> None:
    status, output, record = run(tmp_path / "results", "--workload=W2")
    assert status == 1
    assert record.status is Status.FAILED
    cross = next(build for build in record.builds if build.variant.cross_language)
    assert cross.cross_language is not None
    assert (cross.cross_language.inlined, cross.cross_language.symbols_left) == (False, ["c_clang_w2"])
    assert "clang's code was not inlined: c_clang_w2" in output
    assert [build.reason for build in record.builds if not build.variant.cross_language] == [None] * 3


@pytest.mark.parametrize(
    ("what", "error"),
    [
        ("build off-16", BuildError("off-16: error: no such crate")),
        ("count off-16", CountError("'pb_w2_swift' was to be called")),
        ("time swift off-16", TimingError("measure: ended with signal SIGILL")),
    ],
)
def test_one_variant_that_fails_leaves_the_others(
    laboratory: Laboratory, tmp_path: Path, what: str, error: Exception
) -> None:
    laboratory.fails[what] = error
    status, output, record = run(tmp_path / "results", "--quick", "--workload=W2")
    assert status == 1
    assert record.reason == "1 of 2 variants are not complete"
    assert [build.reason for build in record.builds] == [str(error), None]
    assert str(error) in output
    assert record.builds[1].kernels[0].timings != []


def test_what_was_measured_outlasts_an_interrupt(laboratory: Laboratory, tmp_path: Path) -> None:
    laboratory.fails["time swift fat-1"] = KeyboardInterrupt()
    status, output, record = run(tmp_path / "results", "--quick", "--workload=W2")
    assert status == 130
    assert record.status is Status.INTERRUPTED
    swift = record.builds[1].kernel("swift", Workload.W2)
    assert swift is not None
    assert [timing.residency for timing in swift.timings] == [Residency.HOT]
    assert "interrupted: reporting what there is" in output
    assert "W2, NAT" in output


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        (["--workload=W5"], 2, "'W5': give some of W1, W2, W3, W4"),
        (["--matrix=some"], 2, "'some': give default or full"),
        (["--json=/no/such/folder/x.json"], 2, "there is no folder '/no/such/folder'"),
        (["--libs=slow"], 1, "there is no library 'slow': there are c-gcc, swift, clumsy, reader"),
    ],
)
def test_bad_input(laboratory: Laboratory, tmp_path: Path, words: list[str], status: int, reason: str) -> None:
    done = CliRunner().invoke(app, ["bench", "parsing", f"--out={tmp_path}", *words], terminal_width=300)
    assert done.exit_code == status
    assert reason in done.output
