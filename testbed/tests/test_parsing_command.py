# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`bench parsing` from the command line to the record, with what builds and measures replaced by what is known."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from test_parsing_measures import libraries
from typer.testing import CliRunner

from testbed.cli import app
from testbed.parsing import command, measurement
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
    write_record,
)
from testbed.parsing.timing import NOTHING, Pool, Timed, TimingError
from testbed.run.results_folder import Status

NAMES = ("c-gcc", "swift", "clumsy", "reader")


class Laboratory:
    """What `measurement` calls, with known answers; `fails` makes one of them fail in one variant."""

    def __init__(self) -> None:
        self.fails: dict[str, Exception | KeyboardInterrupt] = {}
        # What was done, and not known from before.
        self.counted: list[tuple[str, Workload]] = []
        self.timed: list[tuple[str, Workload, tuple[str, ...]]] = []
        self.judged: list[int] = []
        self.kept: set[str] = set()

    def fail(self, what: str, variant: str) -> None:
        if (error := self.fails.get(f"{what} {variant}")) is not None:
            raise error

    def build_variant(self, variant: Variant, *_: object) -> Built:
        self.fail("build", variant.name)
        return Built(Path(variant.name), 12.5, 40, 500_000, "ab")

    def build_other(self, *_: object) -> Built:
        return Built(Path("other"), 1.5, 4, 5000, "cd")

    def kept_program(self, variant: Variant, sha256: str | None, *_: object) -> Built | None:
        return Built(Path(variant.name), None, 0, 500_000, sha256) if sha256 and variant.name in self.kept else None

    def list_libraries(self, program: Path, versions: object, folder: Path) -> list[Listed]:
        listed = [
            Listed(one, one.name, {w: f"pb_{w.lower()}_{one.name}" for w in Workload}) for one in libraries(*NAMES)
        ]
        listed[-1].library.cannot[Workload.W2] = "only reads"
        return listed

    def judge(self, found: list, workloads: list[Workload], frames: int, *_: object) -> None:
        self.judged.append(frames)
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
        self.counted.append((program.name, workloads[0]))
        return [KernelCount(name, workloads[0], 60.0 if name == "swift" else 50.0, 1.0) for name in names]

    def time_kernels(
        self,
        timer: Path,
        program: Path,
        workloads: list[Workload],
        names: list[str],
        residencies: list[Residency],
        *_: object,
    ) -> Iterator[Timed | Pool]:
        assert timer.name == "other"
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
    for name in ("build_variant", "kept_program", "list_libraries", "judge", "count_kernels", "time_kernels"):
        monkeypatch.setattr(measurement, name, getattr(made, name))
    for name in ("build_gate", "build_timer"):
        monkeypatch.setattr(measurement, name, made.build_other)
    monkeypatch.setattr(measurement, "Program", made.program)
    # Its charts take seconds; the page has tests of its own.
    monkeypatch.setattr(command, "write_report", lambda folder: folder / "report.html")
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
        assert [timing.residency for timing in swift.timings] == [Residency.HOT]
        assert len(build.loop_timings[Workload.W2]) == 1
        assert build.kernel("reader", Workload.W2) is None
    assert record.memory.pool_bytes == {Residency.HOT: 2048}
    assert laboratory.judged == [5000]
    assert "times of hot frames only" in output
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
    status, output, record = run(tmp_path / "results", "--workload=W2")
    assert status == 130
    assert record.status is Status.INTERRUPTED
    swift = record.builds[1].kernel("swift", Workload.W2)
    assert swift is not None
    assert [timing.residency for timing in swift.timings] == [Residency.HOT]
    # All variants were counted before anything was timed.
    assert all(
        kernel.instructions_per_frame
        for build in record.builds
        for kernel in build.kernels
        if kernel.library != "clumsy"
    )
    assert "interrupted: reporting the results so far" in output
    assert "W2, NAT" in output
    folder = next((tmp_path / "results").iterdir())
    assert f"continue with ./x bench parsing --resume {folder}" in output


def resume(folder: Path, *words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["bench", "parsing", f"--resume={folder}", *words], terminal_width=300)
    return done.exit_code, done.output


def test_a_run_goes_on_where_it_stopped(laboratory: Laboratory, tmp_path: Path) -> None:
    laboratory.fails["time swift thin-1-cross"] = KeyboardInterrupt()
    run(tmp_path / "results", "--libs=swift,clumsy")
    folder = next((tmp_path / "results").iterdir())
    before = read_record(folder)
    timed = {build.variant.name: [k for k in build.kernels if k.timings] for build in before.builds}
    assert [bool(timed[name]) for name in ("off-16", "fat-1", "thin-1-cross", "fat-1-v3")] == [True, True, True, False]
    laboratory.fails.clear()
    laboratory.kept = {"off-16", "fat-1", "thin-1-cross"}
    laboratory.counted, laboratory.timed = [], []
    status, _ = resume(folder)
    record = read_record(folder)
    # Nothing was left to be counted, and what was timed to the end is not timed again.
    assert laboratory.counted == []
    assert {name for name, _, _ in laboratory.timed} == {"thin-1-cross", "fat-1-v3"}
    assert laboratory.judged == [100_000]
    assert len(record.resumed) == 1
    assert [library.name for library in record.libraries] == ["swift", "clumsy"]
    assert record.libraries[1].gate[Workload.W2].outcome is Outcome.PANIC
    # The laboratory's C is never inlined.
    assert (status, record.reason) == (1, "1 of 4 variants are not complete")
    for build in record.builds:
        swift = build.kernel("swift", Workload.W3)
        assert swift is not None
        assert len(swift.timings) == (4 if build.variant.name in ("off-16", "fat-1") else 1)
        assert all(len(timings) == len(swift.timings) for timings in build.loop_timings.values())


def test_another_program_is_counted_anew(laboratory: Laboratory, tmp_path: Path) -> None:
    laboratory.fails["count fat-1"] = CountError("no")
    run(tmp_path / "results", "--quick", "--workload=W1")
    folder = next((tmp_path / "results").iterdir())
    laboratory.fails.clear()
    laboratory.counted = []
    record = read_record(folder)
    record.builds[0].sha256 = "another"
    write_record(folder / "summary.json", record)
    status, _ = resume(folder)
    assert (status, read_record(folder).status) == (0, Status.PASSED)
    assert laboratory.counted == [("off-16", Workload.W1), ("fat-1", Workload.W1)]


@pytest.mark.parametrize(
    ("spoil", "words", "status", "reason"),
    [
        (lambda record: setattr(record, "status", Status.PASSED), [], 1, "it is complete"),
        (
            lambda record: setattr(record.versions, "rustc", "1.2.3"),
            [],
            1,
            "it was begun with rustc 1.2.3, and this is ",
        ),
        (lambda record: record.versions.crates.clear(), [], 1, "other versions of the crates in Cargo.lock"),
        (lambda record: setattr(record, "sources", "abc"), [], 1, "the sources of its programs have changed"),
        (lambda record: None, ["--quick"], 2, "omit the options that change them"),
        (lambda record: None, ["--no-times"], 2, "omit the options that change them"),
    ],
)
def test_what_cannot_be_gone_on_with(
    laboratory: Laboratory,
    tmp_path: Path,
    spoil: Callable[[ParsingRecord], object],
    words: list[str],
    status: int,
    reason: str,
) -> None:
    laboratory.fails["count fat-1"] = KeyboardInterrupt()
    run(tmp_path / "results", "--quick", "--workload=W1")
    folder = next((tmp_path / "results").iterdir())
    record = read_record(folder)
    spoil(record)
    write_record(folder / "summary.json", record)
    before = (folder / "summary.json").read_bytes()
    found, output = resume(folder, *words)
    assert found == status
    assert reason in " ".join(output.split())
    assert (folder / "summary.json").read_bytes() == before


def test_a_busy_machine_can_count(laboratory: Laboratory, tmp_path: Path) -> None:
    status, output, record = run(tmp_path / "results", "--no-times", "--workload=W1", "--libs=swift", "--matrix=full")
    assert len(record.builds) == 26
    assert laboratory.timed == []
    assert {build.kernels[0].instructions_per_frame for build in record.builds} == {60.0}
    assert (status, record.times) == (1, False)
    assert "no times" in output


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        (["--workload=W5"], 2, "'W5' is not a workload: choose from W1, W2, W3, W4"),
        (["--matrix=some"], 2, "'some': give default or full"),
        (["--json=/no/such/folder/x.json"], 2, "the folder '/no/such/folder' does not exist"),
        (["--resume=/no/such/folder"], 2, "the folder '/no/such/folder' does not exist"),
        (["--renew-results", "--no-times"], 2, "needs times, or --matrix full"),
        (["--libs=slow"], 1, "no library 'slow': choose from c-gcc, swift, clumsy, reader"),
    ],
)
def test_bad_input(laboratory: Laboratory, tmp_path: Path, words: list[str], status: int, reason: str) -> None:
    done = CliRunner().invoke(app, ["bench", "parsing", f"--out={tmp_path}", *words], terminal_width=300)
    assert done.exit_code == status
    assert reason in done.output
