# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of `./x bench parsing`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from testbed.parsing.matrix import MATRICES
from testbed.parsing.record import Workload
from testbed.programs import repository_root

NAME = "parsing"


def parsing(
    workloads: Annotated[
        str | None, typer.Option("--workload", metavar="W1,W2…", help="Of W1, W2, W3, W4. Default: all.")
    ] = None,
    libs: Annotated[
        str | None, typer.Option(metavar="NAMES", help="As in smoltcp,pnet. Default: all that there are.")
    ] = None,
    matrix: Annotated[
        str,
        typer.Option(
            metavar="|".join(MATRICES),
            help="default: without and with LTO, x86-64-v3, cross-language LTO. full: all that can be combined.",
        ),
    ] = "default",
    quick: Annotated[
        bool, typer.Option("--quick", help="Without and with LTO, short times: a check, no measurement.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Build from nothing, to learn how long that takes.")] = False,
    alone: Annotated[
        bool | None,
        typer.Option(
            "--alone/--no-alone",
            help="What each library alone adds to a program. Default: unless --quick or --no-times.",
        ),
    ] = None,
    times: Annotated[
        bool, typer.Option("--times/--no-times", help="Whether kernels are timed: a busy machine can only count.")
    ] = True,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write summary.json here too.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the results folder is made. Default: results/ of the source tree."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Go on with the run of a results folder that was cut short, as it was begun."),
    ] = None,
    renew: Annotated[
        bool, typer.Option("--renew", help="Count only, and write the figures that are checked in.")
    ] = False,
    raw: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR", help="Measure nothing: make the page of a results folder anew."),
    ] = None,
    renew_results: Annotated[
        bool, typer.Option("--renew-results", help="Write parsing-bench/RESULTS.md, with its charts and data, too.")
    ] = False,
) -> None:
    """Packet parser crates on the same work: instructions, time, machine code, size and build time."""
    if matrix not in MATRICES:
        raise typer.BadParameter(f"'{matrix}': give {' or '.join(MATRICES)}", param_hint="--matrix")
    if json is not None and not json.absolute().parent.is_dir():
        raise typer.BadParameter(f"there is no folder '{json.absolute().parent}'", param_hint="--json")
    chosen = _workloads(workloads)
    if raw is not None and not raw.is_dir():
        raise typer.BadParameter(f"there is no folder '{raw}'", param_hint="--from")
    if renew_results and raw is None and (quick or len(chosen) < len(Workload) or libs):
        raise typer.BadParameter(
            "give it without --quick, --workload and --libs: all is wanted", param_hint="--renew-results"
        )
    if renew_results and not times and matrix != "full":
        raise typer.BadParameter("without times only a run with --matrix full is kept", param_hint="--renew-results")
    if resume is not None:
        _check_resume(resume, [workloads, libs, matrix != "default", quick, fresh, alone is not None, not times, raw])
    # Imported here: these take a second, which --help need not.
    from testbed.bench.binary import BinaryError
    from testbed.bench.figures import FiguresError
    from testbed.parsing.baseline import BaselineError, renew_baseline
    from testbed.parsing.build import BuildError
    from testbed.parsing.command import Parsing, ParsingOptions
    from testbed.parsing.libraries import LibraryError
    from testbed.parsing.record import read_record
    from testbed.parsing.report import write_report
    from testbed.parsing.results_page import renew_results as renew_page
    from testbed.parsing.source import SourceError
    from testbed.results import ResultsError, Status

    words = sys.argv[sys.argv.index(NAME) + 1 :] if NAME in sys.argv else []
    options = ParsingOptions(
        workloads=chosen,
        libraries=tuple(dict.fromkeys(name for name in (libs or "").split(",") if name)),
        matrix=matrix,
        quick=quick,
        fresh=fresh,
        alone=times and not quick if alone is None else alone,
        times=times,
        resume=resume.absolute() if resume else None,
        out=(out or repository_root() / "results").absolute(),
        json=json.absolute() if json else None,
        command=shlex.join(["./x", "bench", NAME, *words]),
    )
    console = Console()
    console = console if console.is_terminal else Console(width=_LOG_WIDTH)
    try:
        if renew:
            console.print(f"renewed {renew_baseline()}", highlight=False, soft_wrap=True)
            return
        if raw is not None:
            record = read_record(raw)
            console.print(f"Report: {write_report(raw)}", highlight=False, soft_wrap=True)
            status = Status.PASSED
        else:
            run = Parsing(options, console)
            status, record = run.run(), run.record
        if renew_results and status is not Status.INTERRUPTED:
            console.print(f"renewed {renew_page(record)}", highlight=False, soft_wrap=True)
    except (BaselineError, BinaryError, BuildError, FiguresError, LibraryError, ResultsError, SourceError) as error:
        typer.echo(f"testbed: {error}", err=True)
        raise typer.Exit(1) from error
    if status is Status.FAILED:
        typer.echo("testbed: some of it could not be measured: see the reasons above", err=True)
        raise typer.Exit(1)
    raise typer.Exit(130 if status is Status.INTERRUPTED else 0)


# A log file has no width to respect.
_LOG_WIDTH = 160


def _check_resume(folder: Path, others: Sequence[object]) -> None:
    if not folder.is_dir():
        raise typer.BadParameter(f"there is no folder '{folder}'", param_hint="--resume")
    if any(others):
        raise typer.BadParameter(
            "the run goes on as it was begun: leave out what says what is measured", param_hint="--resume"
        )


def _workloads(text: str | None) -> tuple[Workload, ...]:
    if text is None:
        return tuple(Workload)
    found = []
    for name in text.split(","):
        if name.upper() not in Workload.__members__:
            raise typer.BadParameter(f"'{name}': give some of {', '.join(Workload)}", param_hint="--workload")
        found.append(Workload(name.upper()))
    return tuple(dict.fromkeys(found))
