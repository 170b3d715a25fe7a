# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The tables of the variants: what LTO, codegen units, target and panic make of each library's instructions."""

from __future__ import annotations

from testbed.page.tables import ABSENT, Row, Table, figure
from testbed.parsing.comparison import INSTRUCTIONS, value_of
from testbed.parsing.record import Build, Panic, ParsingRecord, Target, Workload

# Fewer say nothing that the tables of the workloads do not.
_FEWEST = 3
# What panics that abort change by less is not listed.
_ABORT_MATTERS = 0.01


def variant_table(record: ParsingRecord) -> Table:
    """One row a variant: what it takes to build, and whether clang's code became part of Rust's."""
    table = Table("Variants", ["Variant", "Build [s]", "Program [kB]", "clang's code inlined"])
    for build in record.builds:
        inlined = ABSENT if build.cross_language is None else "yes" if build.cross_language.inlined else "no"
        size = build.binary_bytes / 1000 if build.binary_bytes else None
        cells = [build.variant.describe(), figure(build.seconds, ".1f"), figure(size, ",.0f"), inlined]
        table.rows.append(Row(cells, kind="without" if build.reason else "plain", reason=build.reason))
    return table


def matrix_tables(record: ParsingRecord) -> list[Table]:
    """Instructions by variant, if there are at least three variants. For the full matrix an overview, a table for each
    workload and target, and one of what panics that abort change.
    """
    builds = [build for build in record.builds if any(k.instructions_per_frame is not None for k in build.kernels)]
    if len(builds) < _FEWEST:
        return []
    if record.matrix != "full":
        found = [
            _instructions(record, workload, builds, f"{workload}: instructions per frame")
            for workload in record.workloads
        ]
    else:
        found = [_spread(record, builds)]
        for workload in record.workloads:
            for target in Target:
                chosen = [one for one in builds if (one.variant.target, one.variant.panic) == (target, Panic.UNWIND)]
                found.append(_instructions(record, workload, chosen, f"{workload}: instructions per frame, {target}"))
        found.append(_aborting(record, builds))
    return [table for table in found if table.rows]


def _instructions(record: ParsingRecord, workload: Workload, builds: list[Build], title: str) -> Table:
    """One row a library and one column a variant."""
    table = Table(title, ["Library", *(build.variant.name for build in builds)])
    for library in record.libraries:
        values = [value_of(build, library.name, workload, INSTRUCTIONS) for build in builds]
        if any(value is not None for value in values):
            table.rows.append(Row([library.name, *(figure(value, ",.1f") for value in values)]))
    return table


def _spread(record: ParsingRecord, builds: list[Build]) -> Table:
    """What a library executes in its best variant, and how many times as much in its worst."""
    columns = [column for workload in record.workloads for column in (f"{workload}, least", "most / least")]
    table = Table(f"Instructions per frame in the best of {len(builds)} variants, and the worst", ["Library", *columns])
    for library in record.libraries:
        cells: list[str] = []
        for workload in record.workloads:
            values = [value_of(build, library.name, workload, INSTRUCTIONS) for build in builds]
            known = [value for value in values if value]
            cells.append(figure(min(known) if known else None, ",.1f"))
            cells.append(figure(max(known) / min(known) if known else None, ".2f"))
        if set(cells) != {ABSENT}:
            table.rows.append(Row([library.name, *cells]))
    return table


def _aborting(record: ParsingRecord, builds: list[Build]) -> Table:
    """The kernels whose instructions differ where panics abort, each in the variant where they differ most."""
    percent = f"{100 * _ABORT_MATTERS:.0f} %"
    table = Table(
        f"Where panics abort: kernels that execute more than {percent} more or fewer instructions",
        ["Library", "Workload", "Most of all with", "unwind", "abort", "abort / unwind"],
        text_columns=3,
    )
    by_variant = {build.variant: build for build in builds}
    for library in record.libraries:
        for workload in record.workloads:
            found: list[tuple[float, str, float, float]] = []
            for variant, build in by_variant.items():
                aborting = by_variant.get(variant.model_copy(update={"panic": Panic.ABORT}))
                unwind = value_of(build, library.name, workload, INSTRUCTIONS)
                abort = value_of(aborting, library.name, workload, INSTRUCTIONS)
                if variant.panic is Panic.UNWIND and unwind and abort:
                    found.append((abs(abort / unwind - 1), variant.name, unwind, abort))
            if found and (most := max(found))[0] > _ABORT_MATTERS:
                _, name, unwind, abort = most
                ratio = f"{abort / unwind:.2f}"
                table.rows.append(Row([library.name, workload, name, f"{unwind:,.1f}", f"{abort:,.1f}", ratio]))
    return table
