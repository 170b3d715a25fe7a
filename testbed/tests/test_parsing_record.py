# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The record of `bench parsing`: written, read back, and refused where it is another's."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from testbed.parsing.record import (
    LTO_FAT,
    LTO_OFF,
    Build,
    GateVerdict,
    Kernel,
    Library,
    Lto,
    Memory,
    Outcome,
    Panic,
    ParsingRecord,
    Residency,
    Target,
    Timing,
    Variant,
    Versions,
    Workload,
    read_record,
    write_record,
)
from testbed.run.environment import record_environment
from testbed.run.results_folder import ResultsError, Status


def parsing_record() -> ParsingRecord:
    """A record of one library in one variant."""
    timing = Timing(residency=Residency.HOT, ns_per_frame=12.5, low=12.4, high=12.7, samples=10)
    kernel = Kernel(library="smoltcp", workload=Workload.W2, instructions_per_frame=62.5, timings=[timing])
    return ParsingRecord(
        status=Status.PASSED,
        started=datetime(2026, 11, 22, tzinfo=UTC),
        command="./x bench parsing",
        quick=True,
        workloads=[Workload.W2],
        matrix="default",
        environment=record_environment([], hugepages=False),
        versions=Versions(
            rustc="1.95.0",
            llvm="22.1.2",
            gcc="12.2.0",
            clang=None,
            linker=None,
            criterion="0.8.0",
            valgrind=None,
            objdump=None,
            crates={"smoltcp": "0.14.0"},
        ),
        memory=Memory(
            l1d_bytes=None,
            l2_bytes=None,
            l3_bytes=None,
            pool_bytes={Residency.HOT: 2048},
            most_bytes=1 << 30,
            transparent_hugepages="madvise",
        ),
        libraries=[
            Library(
                name="smoltcp",
                package="smoltcp",
                version="0.14.0",
                licence="0BSD",
                no_std=True,
                cannot={Workload.W4: "has no ports"},
                gate={
                    Workload.W1: GateVerdict(
                        outcome=Outcome.PANIC, reason="index out of bounds", case="00ff", frames=7
                    ),
                    Workload.W2: GateVerdict(outcome=Outcome.PASSES, frames=7),
                },
            )
        ],
        builds=[Build(variant=LTO_OFF, kernels=[kernel])],
    )


def test_written_and_read(tmp_path: Path) -> None:
    record = parsing_record()
    write_record(tmp_path / "summary.json", record)
    assert read_record(tmp_path) == record == read_record(tmp_path / "summary.json")


def test_what_is_asked_of_it() -> None:
    record = parsing_record()
    build = record.build(Variant(lto=Lto.OFF, codegen_units=16))
    assert build is not None
    assert record.build(LTO_FAT) is None
    kernel = build.kernel("smoltcp", Workload.W2)
    assert kernel is not None
    assert kernel.timing(Residency.HOT) is kernel.timings[0]
    assert kernel.timing(Residency.COLD) is None
    assert list(record.cells()) == [(LTO_OFF, kernel)]
    library = record.library("smoltcp")
    assert library is not None
    # Panics, passes, was not judged, cannot.
    assert [library.measurable(workload) for workload in Workload] == [False, True, True, False]


def test_names_of_variants_differ() -> None:
    every = [
        Variant(lto=lto, codegen_units=units, target=target, panic=panic, cross_language=cross)
        for lto in Lto
        for units in (1, 16)
        for target in Target
        for panic in Panic
        for cross in (False, True)
    ]
    assert len({variant.name for variant in every}) == len(every) == len({variant.describe() for variant in every})
    assert LTO_FAT.name == "fat-1"
    assert LTO_OFF.describe() == "no LTO, 16 codegen units, x86-64"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"schema_version": 1', '"schema_version": 2', "has schema version 2, this tool reads version 1"),
        ('"bench-parsing"', '"bench-overload"', "is not a record of 'bench parsing': kind"),
        ('"quick"', '"quickly"', "is not a record of 'bench parsing': quick"),
    ],
)
def test_another_record_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "summary.json"
    write_record(path, parsing_record())
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ResultsError, match=message):
        read_record(path)


def test_no_record(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="cannot read"):
        read_record(tmp_path)
