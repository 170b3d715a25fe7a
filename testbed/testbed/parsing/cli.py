# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of `./x bench parsing`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from testbed.command_line.console import fail, new_console, say
from testbed.command_line.options import (
    JsonOption,
    OutOption,
    ResumeOption,
    check_resume,
    command_words,
    end_with,
    json_file,
    results_parent,
)
from testbed.parsing.matrix import MATRICES
from testbed.parsing.record import Workload


def parsing(
    workloads: Annotated[
        str | None,
        typer.Option("--workload", metavar="W1,W2…", help="Workloads out of W1, W2, W3 and W4. Default: all."),
    ] = None,
    libs: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Libraries, such as smoltcp,pnet. Default: all.")
    ] = None,
    matrix: Annotated[
        str,
        typer.Option(
            metavar="|".join(MATRICES),
            help="default: without and with LTO, x86-64-v3, cross-language LTO. full: all combinations.",
        ),
    ] = "default",
    quick: Annotated[
        bool, typer.Option("--quick", help="Only check that everything works: without and with LTO, short times.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Build from scratch, to measure the build time.")] = False,
    alone: Annotated[
        bool | None,
        typer.Option(
            "--alone/--no-alone",
            help="Measure what each library alone adds to a program. Default: yes, except with --quick or --no-times.",
        ),
    ] = None,
    times: Annotated[
        bool, typer.Option("--times/--no-times", help="Time the kernels. On a busy machine, only counting is useful.")
    ] = True,
    json: JsonOption = None,
    out: OutOption = None,
    resume: ResumeOption = None,
    renew: Annotated[
        bool, typer.Option("--renew", help="Only count, and write the figures to parsing-bench/counts.json.")
    ] = False,
    raw: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR", help="Measure nothing; rebuild the page of a results folder."),
    ] = None,
    renew_results: Annotated[
        bool, typer.Option("--renew-results", help="Also write parsing-bench/RESULTS.md, its charts and its data.")
    ] = False,
) -> None:
    """Compare packet parser crates on the same workloads.

    Measures instructions, time, machine code, size and build time.
    """
    if matrix not in MATRICES:
        raise typer.BadParameter(f"'{matrix}': give {' or '.join(MATRICES)}", param_hint="--matrix")
    chosen = _workloads(workloads)
    if raw is not None and not raw.is_dir():
        raise typer.BadParameter(f"the folder '{raw}' does not exist", param_hint="--from")
    if renew_results and raw is None and (quick or len(chosen) < len(Workload) or libs):
        raise typer.BadParameter(
            "use it without --quick, --workload and --libs: RESULTS.md needs all results", param_hint="--renew-results"
        )
    if renew_results and not times and matrix != "full":
        raise typer.BadParameter("needs times, or --matrix full", param_hint="--renew-results")
    if resume is not None:
        check_resume(resume, [workloads, libs, matrix != "default", quick, fresh, alone is not None, not times, raw])
    # These imports take a second, which --help avoids.
    from testbed.bench.count.binary import BinaryError
    from testbed.bench.count.gate import FiguresError
    from testbed.parsing.baseline import BaselineError, renew_baseline
    from testbed.parsing.build import BuildError
    from testbed.parsing.command import Parsing, ParsingOptions
    from testbed.parsing.libraries import LibraryError
    from testbed.parsing.record import read_record
    from testbed.parsing.report import write_report
    from testbed.parsing.results_page import renew_results as renew_page
    from testbed.parsing.source import SourceError
    from testbed.run.results_folder import ResultsError, Status

    options = ParsingOptions(
        workloads=chosen,
        libraries=tuple(dict.fromkeys(name for name in (libs or "").split(",") if name)),
        matrix=matrix,
        quick=quick,
        fresh=fresh,
        alone=times and not quick if alone is None else alone,
        times=times,
        resume=resume.absolute() if resume else None,
        out=results_parent(out),
        json=json_file(json),
        command=shlex.join(command_words("bench", "parsing")),
    )
    console = new_console()
    try:
        if renew:
            say(console, f"renewed {renew_baseline()}")
            return
        if raw is not None:
            record = read_record(raw)
            say(console, f"Report: {write_report(raw)}")
            status = Status.PASSED
        else:
            run = Parsing(options, console)
            status, record = run.run(), run.record
        if renew_results and status is not Status.INTERRUPTED:
            say(console, f"renewed {renew_page(record)}")
    except (BaselineError, BinaryError, BuildError, FiguresError, LibraryError, ResultsError, SourceError) as error:
        fail(str(error))
    end_with(status, "some measurements failed: the reasons are above")


def _workloads(text: str | None) -> tuple[Workload, ...]:
    if text is None:
        return tuple(Workload)
    found = []
    for name in text.split(","):
        if name.upper() not in Workload.__members__:
            raise typer.BadParameter(
                f"'{name}' is not a workload: choose from {', '.join(Workload)}", param_hint="--workload"
            )
        found.append(Workload(name.upper()))
    return tuple(dict.fromkeys(found))
