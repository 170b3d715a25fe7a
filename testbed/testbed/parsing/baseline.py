# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Instructions per kernel as they are checked in, to notice growth: parsing-bench/counts.json.

A figure depends on the compiler of the kernel, so there is one for each version: of rustc, and of gcc or clang for C;
and on the C library where a kernel has it copy or allocate memory.
"""

from __future__ import annotations

import platform
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from testbed.bench.count.gate import GROWTH_MAX, growth, renew_figures
from testbed.parsing.build import BuildError, build_release
from testbed.parsing.code import Program
from testbed.parsing.count import CountError, count_kernels
from testbed.parsing.libraries import LibraryError, list_libraries
from testbed.parsing.record import MachineCode, Versions, Workload
from testbed.parsing.versions import tool_versions
from testbed.run.programs import repository_root
from testbed.run.scratch import scratch_folder

RENEW = "./x bench parsing --renew"
_ABOUT = (
    "Of each kernel in the release profile: instructions executed for a frame, calls in its code, panic paths in all "
    f"that it may call. By compiler, workload and library. Made by: {RENEW}"
)


class BaselineError(Exception):
    """The kernels could not be counted; the message says why."""


@dataclass(frozen=True)
class Figures:
    """Of one kernel."""

    compiler: str
    row: str
    instructions: float
    calls: int
    panic_paths: int

    def as_row(self) -> dict[str, float]:
        """As they are written."""
        return {"instructions": self.instructions, "calls": self.calls, "panic_paths": self.panic_paths}


def baseline_path() -> Path:
    """The file with the figures."""
    return repository_root() / "parsing-bench" / "counts.json"


def compiler_of(library: str, versions: Versions, code: MachineCode | None = None) -> str:
    """'rustc 1.95.0'; for C with the version of its compiler as well, since rustc compiles what is around it."""
    more = {"c-gcc": f", gcc {versions.gcc}", "c-clang": f", clang {versions.clang}"}.get(library, "")
    if code is not None and code.reachable_memory_calls:
        more += ", " + " ".join(platform.libc_ver())
    return f"rustc {versions.rustc}{more}"


def count_program(program: Path, folder: Path) -> list[Figures]:
    """All kernels of a program `measure`.

    Raises `BaselineError` and `BinaryError`.
    """
    versions = tool_versions()
    try:
        listed = list_libraries(program, versions, folder)
        counts = count_kernels(program, list(Workload), [one.library.name for one in listed], folder)
    except (CountError, LibraryError) as error:
        raise BaselineError(str(error)) from error
    machine = Program(program)
    symbols = {(one.library.name, workload): symbol for one in listed for workload, symbol in one.symbols.items()}
    found = []
    for count in counts:
        code = machine.kernel(symbols[count.library, count.workload])
        found.append(
            Figures(
                compiler_of(count.library, versions, code),
                f"{count.workload} {count.library}",
                round(count.instructions, 2),
                code.calls,
                code.reachable_panic_paths,
            )
        )
    return found


def complaints(figures: Iterable[Figures], checked_in: dict[str, dict[str, dict[str, float]]]) -> list[str]:
    """What has become worse than the figures that are checked in, and what has none beside others of its compiler."""
    found = []
    for one in figures:
        if one.compiler not in checked_in:
            continue
        then = checked_in[one.compiler].get(one.row)
        if then is None:
            found.append(f"{one.row}: no figure with {one.compiler} is checked in: {RENEW}")
            continue
        if growth(one.instructions, then["instructions"]) > GROWTH_MAX:
            found.append(
                f"{one.row}: {then['instructions']} instructions became {one.instructions}; if this is meant: {RENEW}"
            )
        if not then["panic_paths"] and one.panic_paths:
            found.append(f"{one.row}: it could not panic, and now has {one.panic_paths} panic paths")
        if not then["panic_paths"] and one.calls > then["calls"]:
            found.append(f"{one.row}: {then['calls']:.0f} calls became {one.calls}; if this is meant: {RENEW}")
    return found


def renew_baseline() -> Path:
    """Builds the program in the release profile, counts, and writes the figures.

    Raises `BaselineError`, `BinaryError` and `FiguresError`.
    """
    rows: defaultdict[str, dict[str, dict[str, float]]] = defaultdict(dict)
    with scratch_folder() as folder:
        try:
            program = build_release(folder)
        except BuildError as error:
            raise BaselineError(str(error)) from error
        for one in count_program(program, folder):
            rows[one.compiler][one.row] = one.as_row()
    for compiler, figures in rows.items():
        renew_figures(baseline_path(), compiler, figures, _ABOUT)
    return baseline_path()
