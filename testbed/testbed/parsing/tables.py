# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The tables of `bench parsing` on the terminal: one for each workload, and what to know when reading them."""

from __future__ import annotations

from rich.console import Console

from testbed.command_line.console import say
from testbed.page.tables import ABSENT, Row, Table, figure
from testbed.parsing.plan import left_out
from testbed.parsing.record import (
    LTO_FAT,
    LTO_OFF,
    WORKLOADS,
    Build,
    Kernel,
    Library,
    Outcome,
    ParsingRecord,
    Residency,
    Timing,
    Workload,
)

# What the others are compared with: the twin's language, by its compiler.
REFERENCE = "c-gcc"

_COLUMNS = [
    "Library",
    "Instructions, no LTO",
    "fat LTO",
    f"against {REFERENCE}",
    "Hot [ns]",
    "L2",
    "Cold",
    "prefetched",
    "Code",
    "Branches",
    "Calls",
    "Panic paths",
    "Lines",
]


def workload_table(record: ParsingRecord, workload: Workload) -> Table:
    """One row a library; one that cannot do the workload, or that the gate has found fault with, says why below."""
    off, fat = record.build(LTO_OFF), record.build(LTO_FAT)
    reference = _instructions(fat, REFERENCE, workload)
    rows = []
    for library in record.libraries:
        if library.measurable(workload):
            rows.append(Row(_cells(library, workload, off, fat, reference)))
        else:
            rows.append(Row([library.name, *[ABSENT] * (len(_COLUMNS) - 1)], kind="invalid"))
    return Table(f"{workload}, {WORKLOADS[workload]}: per frame", _COLUMNS, rows)


def _cells(
    library: Library, workload: Workload, off: Build | None, fat: Build | None, reference: float | None
) -> list[str]:
    kernel = fat.kernel(library.name, workload) if fat else None
    instructions = _instructions(fat, library.name, workload)
    against = instructions / reference - 1 if instructions is not None and reference else None
    code = kernel.code if kernel else None
    return [
        library.name,
        figure(_instructions(off, library.name, workload), ".1f"),
        figure(instructions, ".1f"),
        ABSENT if against is None else f"{100 * against:+.0f} %",
        *(_time(kernel.timing(residency) if kernel else None) for residency in Residency),
        figure(code.reachable_instructions if code else None, "d"),
        figure(code.branches if code else None, "d"),
        figure(code.calls if code else None, "d"),
        figure(code.reachable_panic_paths if code else None, "d"),
        figure(library.kernel_lines.get(workload), "d"),
    ]


def _instructions(build: Build | None, library: str, workload: Workload) -> float | None:
    kernel: Kernel | None = build.kernel(library, workload) if build else None
    return kernel.instructions_per_frame if kernel else None


def _time(timing: Timing | None) -> str:
    """With half of the interval's width: '12.3 ±0.1'."""
    return ABSENT if timing is None else f"{timing.ns_per_frame:.1f} ±{(timing.high - timing.low) / 2:.1f}"


_BUILD_COLUMNS = ["Variant", "Build [s]", "Program [kB]", "C inlined", "Instructions of W2: C", "Safe Rust"]


def build_table(record: ParsingRecord) -> Table:
    """One row a variant."""
    rows = []
    for build in record.builds:
        c = "c-clang" if build.variant.cross_language else REFERENCE
        inlined = ABSENT if build.cross_language is None else "yes" if build.cross_language.inlined else "no"
        cells = [
            build.variant.describe(),
            figure(build.seconds, ".1f"),
            figure(build.binary_bytes / 1000 if build.binary_bytes else None, ",.0f"),
            inlined,
            figure(_instructions(build, c, Workload.W2), ".1f"),
            figure(_instructions(build, "safe-rust", Workload.W2), ".1f"),
        ]
        rows.append(Row(cells, kind="invalid" if build.reason else "plain"))
    return Table("Variants", _BUILD_COLUMNS, rows)


def remarks(record: ParsingRecord) -> list[str]:
    """What to know when reading the tables."""
    found = [f"less than a run without options has: {what}" for what in left_out(record)]
    for workload in record.workloads:
        for library in record.libraries:
            verdict = library.gate.get(workload)
            if workload in library.cannot:
                found.append(f"{library.name} cannot do {workload}: {library.cannot[workload]}")
            elif verdict is not None and verdict.outcome not in (Outcome.PASSES, Outcome.CANNOT):
                found.append(f"{library.name} is not measured in {workload}: {verdict.outcome}: {verdict.reason}")
    for build in record.builds:
        if build.reason:
            found.append(f"{build.variant.describe()}: {build.reason}")
        floor = {
            workload: next((timing for timing in timings if timing.residency is Residency.HOT), None)
            for workload, timings in build.loop_timings.items()
        }
        if build.variant == LTO_FAT and (known := [f"{w} {_time(t)} ns" for w, t in floor.items() if t]):
            found.append(f"the loop around a kernel, which the times include, takes when hot: {', '.join(known)}")
    return found


def print_record(console: Console, record: ParsingRecord) -> None:
    """All of it, on a terminal."""
    for workload in record.workloads:
        console.print(workload_table(record, workload).rich(console.width))
    console.print(build_table(record).rich(console.width))
    say(console, *(f"  {line}" for line in remarks(record)))
