# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The tables of the page and of RESULTS.md, made once for both. A column that a record has nothing for is left out."""

from __future__ import annotations

from testbed.page.tables import ABSENT, Row, Table, figure, without_empty_columns
from testbed.parsing.comparison import (
    C_KERNELS,
    HOT,
    INSTRUCTIONS,
    LIMIT,
    RESIDENCIES,
    Quantity,
    fault,
    time_in,
    value_of,
)
from testbed.parsing.record import (
    LTO_FAT,
    LTO_OFF,
    WORKLOADS,
    Build,
    Library,
    MachineCode,
    Outcome,
    ParsingRecord,
    Residency,
    Timing,
    Workload,
)

# As parsing-gate counts them. The first two are allowed.
BEHAVIOURS = {
    "error": "Error",
    "accepted": "Accepted",
    "wrong": "Wrong",
    "wrote": "Wrote and rejected",
    "panic": "Panic",
}


def workload_table(record: ParsingRecord, workload: Workload) -> Table:
    """Instructions and times of each library, and what they are to the limit and to C."""
    off, fat = record.build(LTO_OFF), record.build(LTO_FAT)
    columns = ["Library", "Instructions, no LTO", "fat LTO", f"× {LIMIT}", *(f"to {name} [%]" for name in C_KERNELS)]
    columns += ["Hot [ns]", f"× {LIMIT}", "L2 [ns]", "Memory [ns]", "prefetched [ns]"]
    table = Table(f"{workload}, {WORKLOADS[workload]}", columns)
    for library in record.libraries:
        reason = fault(library, workload)
        if reason:
            table.rows.append(_reason_row(library, reason, len(columns)))
            continue
        kernel = fat.kernel(library.name, workload) if fat else None
        if kernel is None and value_of(off, library.name, workload, INSTRUCTIONS) is None:
            table.rows.append(_reason_row(library, "not measured", len(columns)))
            continue
        times = {residency: kernel.timing(residency) if kernel else None for residency in Residency}
        cells = [
            library.name,
            figure(value_of(off, library.name, workload, INSTRUCTIONS), ",.1f"),
            figure(value_of(fat, library.name, workload, INSTRUCTIONS), ",.1f"),
            figure(ratio_to(LIMIT, fat, library, workload, INSTRUCTIONS), ".2f"),
            *(_percent(ratio_to(name, fat, library, workload, INSTRUCTIONS)) for name in C_KERNELS),
            time_text(times[Residency.HOT]),
            figure(ratio_to(LIMIT, fat, library, workload, HOT), ".2f"),
            *(time_text(times[one]) for one in (Residency.L2, Residency.COLD, Residency.COLD_PREFETCH)),
        ]
        table.rows.append(Row(cells))
    return without_empty_columns(table)


def ratio_to(other: str, build: Build | None, library: Library, workload: Workload, quantity: Quantity) -> float | None:
    """What a library's figure is to another's."""
    value = value_of(build, library.name, workload, quantity)
    reference = value_of(build, other, workload, quantity)
    return value / reference if value is not None and reference else None


def _percent(ratio: float | None) -> str:
    return ABSENT if ratio is None else f"{100 * (ratio - 1):+.0f}"


def time_text(timing: Timing | None) -> str:
    """With half of the interval's width: '12.3 ±0.1'."""
    return ABSENT if timing is None else f"{timing.ns_per_frame:.1f} ±{(timing.high - timing.low) / 2:.1f}"


def _reason_row(library: Library, reason: str, columns: int) -> Row:
    return Row([library.name, *[ABSENT] * (columns - 1)], kind="without", reason=reason)


def lto_table(record: ParsingRecord, workload: Workload, quantity: Quantity) -> Table:
    """What link-time optimisation makes of each library: the article's Figures 7 to 13 in one."""
    off, fat = record.build(LTO_OFF), record.build(LTO_FAT)
    table = Table(f"{workload}: {quantity.unit}", ["Library", "no LTO", "fat LTO", "fat / no LTO"])
    for library in record.libraries:
        without, with_lto = (value_of(build, library.name, workload, quantity) for build in (off, fat))
        if without is not None or with_lto is not None:
            ratio = with_lto / without if with_lto is not None and without else None
            cells = [library.name, figure(without, ",.1f"), figure(with_lto, ",.1f"), figure(ratio, ".2f")]
            table.rows.append(Row(cells))
    return table


def code_table(record: ParsingRecord, workload: Workload) -> Table:
    """The kernels as compiled with fat LTO."""
    columns = ["Library", "Instructions", "with all it calls", "Branches", "Calls", "Panic paths", "with all it calls"]
    table = Table(f"{workload}: machine code", [*columns, "Memory functions", "Bytes"])
    fat = record.build(LTO_FAT)
    for library in record.libraries:
        kernel = fat.kernel(library.name, workload) if fat else None
        if kernel is not None and kernel.code is not None:
            table.rows.append(Row([library.name, *_code_cells(kernel.code)]))
    return table


def _code_cells(code: MachineCode) -> list[str]:
    memory = ", ".join(f"{name} {count}" for name, count in sorted(code.memory_calls.items()))
    return [
        f"{code.instructions:,d}",
        f"{code.reachable_instructions:,d}",
        f"{code.branches:,d}",
        f"{code.calls:,d}",
        f"{code.panic_paths:,d}",
        f"{code.reachable_panic_paths:,d}",
        memory or "none",
        f"{code.size_bytes:,d}",
    ]


def gate_table(record: ParsingRecord) -> Table:
    """What the gate says of each library in each workload."""
    table = Table("The gate", ["Library", *record.workloads])
    for library in record.libraries:
        verdicts = [library.gate.get(workload) for workload in record.workloads]
        if any(verdicts):
            cells = [str(verdict.outcome) if verdict else ABSENT for verdict in verdicts]
            table.rows.append(Row([library.name, *cells]))
    return table


def behaviour_table(record: ParsingRecord, workload: Workload) -> Table:
    """How many frames of bad input each library met in which way."""
    table = Table(f"{workload}: bad input", ["Library", *BEHAVIOURS.values(), "Not as it should, by what was done"])
    table.ends_in_text = True
    for library in record.libraries:
        verdict = library.gate.get(workload)
        if verdict is None or not verdict.bad_input:
            continue
        sums = {name: sum(counts.get(name, 0) for counts in verdict.bad_input.values()) for name in BEHAVIOURS}
        wrong = {
            kind: sum(count for name, count in counts.items() if name not in ("error", "accepted"))
            for kind, counts in verdict.bad_input.items()
        }
        text = ", ".join(f"{kind} {count:,d}" for kind, count in sorted(wrong.items()) if count)
        table.rows.append(Row([library.name, *(f"{count:,d}" for count in sums.values()), text or "none"]))
    return table


def first_cases(record: ParsingRecord) -> list[tuple[str, Workload, str, str | None]]:
    """(library, workload, what happened, the frame) of each library that the gate has found fault with."""
    return [
        (library.name, workload, f"{verdict.outcome}: {verdict.reason or 'no reason given'}", verdict.case)
        for library in record.libraries
        for workload, verdict in library.gate.items()
        if workload in record.workloads and verdict.outcome not in (Outcome.PASSES, Outcome.CANNOT)
    ]


def ease_table(record: ParsingRecord) -> Table:
    """Lines of source of each kernel, how it works, and what it alone adds to a program."""
    columns = ["Library", "Way", *(f"Lines of {workload}" for workload in record.workloads)]
    columns += ["Crates", "Build adds [s]", "Program grows by [kB]", "Note"]
    table = Table("Ease of use", columns, text_columns=2, ends_in_text=True)
    for library in record.libraries:
        alone = library.alone
        cells = [
            library.name,
            library.way or ABSENT,
            *(figure(library.kernel_lines.get(workload), "d") for workload in record.workloads),
            figure(alone.crates if alone else None, "d"),
            figure(alone.more_seconds if alone else None, ".1f"),
            figure(alone.more_bytes / 1000 if alone else None, ",.1f"),
            library.note or ABSENT,
        ]
        table.rows.append(Row(cells))
    return without_empty_columns(table)


def crate_table(record: ParsingRecord) -> Table:
    """Versions, licences and releases, one row a package."""
    columns = ["Package", "Licence", "no_std", "Version", "Released", "Newest version", "Released", "unsafe"]
    table = Table("The packages", [*columns, "Lines of code"], text_columns=3)
    packages: dict[str, list[Library]] = {}
    for library in record.libraries:
        packages.setdefault(library.package or library.name, []).append(library)
    for package, libraries in packages.items():
        library, crate = libraries[0], libraries[0].crate
        cells = [
            package,
            library.licence,
            _no_std(libraries),
            library.version or ABSENT,
            _text(crate.released if crate else None),
            _text(crate.newest if crate else None),
            _text(crate.newest_released if crate else None),
            figure(crate.unsafe_count if crate else None, ",d"),
            figure(crate.code_lines if crate else None, ",d"),
        ]
        table.rows.append(Row(cells))
    return without_empty_columns(table)


def _no_std(libraries: list[Library]) -> str:
    """Of several ways to use one package some may need the standard library."""
    needing = [library.name for library in libraries if not library.no_std]
    if len(needing) == len(libraries):
        return "no"
    return f"yes, but not {', '.join(needing)}" if needing else "yes"


def _text(value: object) -> str:
    return ABSENT if value is None else str(value)


def loop_text(record: ParsingRecord, workload: Workload) -> str | None:
    """What of the times is the loop's around a kernel."""
    fat = record.build(LTO_FAT)
    found = [
        f"{time_in(timing.residency).title.removeprefix('time, ')} {time_text(timing)}"
        for timing in (fat.loop_timings.get(workload, []) if fat else [])
    ]
    return "; ".join(found) or None


def tools(record: ParsingRecord) -> list[tuple[str, str]]:
    """(name, version) of what made the programs and the figures, and the caches."""
    versions, memory = record.versions, record.memory
    found = [
        ("rustc", f"{versions.rustc}, LLVM {versions.llvm}"),
        ("gcc", versions.gcc),
        ("clang", versions.clang),
        ("rust-lld", versions.linker),
        ("criterion", versions.criterion),
        ("valgrind", versions.valgrind),
        ("objdump", versions.objdump),
    ]
    caches = [("L1d", memory.l1d_bytes), ("L2", memory.l2_bytes), ("L3", memory.l3_bytes)]
    found.append(("Caches", ", ".join(f"{name} {size / 1024:,.0f} kB" for name, size in caches if size)))
    pools = [
        f"{RESIDENCIES[residency]}: {size / 1024:,.0f} kB"
        for residency, size in sorted(memory.pool_bytes.items(), key=lambda item: list(Residency).index(item[0]))
    ]
    found.append(("Cache lines that a round over the frames touches", "; ".join(pools)))
    found.append(("Transparent hugepages", memory.transparent_hugepages))
    return [(name, version) for name, version in found if version]
