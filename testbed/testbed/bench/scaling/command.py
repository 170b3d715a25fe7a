# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command `bench scaling`: a bundle, a measurement with one, or a report of what came back."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from testbed.bench.scaling.bundle import measure, static_programs, write_bundle
from testbed.bench.scaling.evaluate import RAW_NAME, evaluate, read_raw
from testbed.command_line.console import say
from testbed.run.results_folder import ResultsError, new_results_folder, write_atomically
from testbed.run.scratch import scratch_folder


@dataclass(frozen=True)
class ScalingOptions:
    """The command line, checked."""

    out: Path
    json: Path | None
    bin_dirs: list[Path]
    # For the script of the bundle.
    options: list[str] = field(default_factory=list)
    quick: bool = False
    bundle: Path | None = None
    raw: Path | None = None
    command: str = "./x bench scaling"


def run_scaling(options: ScalingOptions, console: Console) -> None:
    """Raises `BundleError` and `ResultsError`."""
    if options.bundle is not None:
        write_bundle(options.bundle, static_programs(options.bin_dirs))
        say(console, f"{options.bundle}: run ./measure there, on whichever machine")
        return
    folder = new_results_folder(options.out, "bench-scaling")
    raw = folder / "raw" / RAW_NAME
    if options.raw is not None:
        source = options.raw / RAW_NAME if options.raw.is_dir() else options.raw
        read_raw(source)
        shutil.copy(source, raw)
    else:
        with scratch_folder() as scratch:
            write_bundle(scratch, static_programs(options.bin_dirs))
            measure(scratch, raw, options.options)
    _report(folder, raw, options, console)


def _report(folder: Path, raw: Path, options: ScalingOptions, console: Console) -> None:
    # Imported here: matplotlib takes a second, which the command line's own errors need not.
    from testbed.bench.scaling.report import sweep_tables, write_report

    machine, runs = read_raw(raw)
    scaling = evaluate(machine, runs, options.command, options.quick)
    text = scaling.model_dump_json(indent=2) + "\n"
    for path in (folder / "summary.json", options.json):
        if path is not None:
            write_atomically(path, text)
    written = write_report(folder, scaling)
    for table in sweep_tables(scaling):
        console.print(table.rich(console.width))
    for remark in scaling.remarks:
        say(console, remark)
    say(console, f"\nResults: {folder}\nReport:  {written}")
    if not scaling.points:
        raise ResultsError(f"no run has a result: see '{raw}'")
