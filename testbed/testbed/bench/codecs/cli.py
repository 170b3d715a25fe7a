# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of `./x bench codecs`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Annotated

import typer

from testbed.bench.codecs.contestants import CASES, MODES, choose, conditions
from testbed.bench.count.binary import BinaryError
from testbed.bench.count.gate import FiguresError
from testbed.bench.count.instructions import CountError
from testbed.command_line.console import fail, new_console, say
from testbed.command_line.options import (
    BinDirOption,
    JsonOption,
    OutOption,
    SeedOption,
    absolute,
    command_words,
    drawn,
    end_with,
    json_file,
    results_parent,
)
from testbed.comparison.blocks import Protocol
from testbed.run.lcores import plan_lcores
from testbed.run.process import ProcessError
from testbed.run.programs import ProgramMissing
from testbed.run.results_folder import ResultsError


def codecs(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="LIBRARY…", help="Libraries, such as capnp-rust. Default: all.", show_default=False),
    ] = None,
    case: Annotated[
        list[str] | None, typer.Option("--case", metavar="|".join(CASES), help="Repeatable. Default: all.")
    ] = None,
    mode: Annotated[
        list[str] | None, typer.Option("--mode", metavar="|".join(MODES), help="Repeatable. Default: all.")
    ] = None,
    reuse: Annotated[
        bool | None,
        typer.Option(
            "--reuse/--no-reuse",
            help="Use buffers again, or new ones for each message. Default: both; with --quick, again.",
        ),
    ] = None,
    blocks: Annotated[int | None, typer.Option(min=1, max=1000, metavar="N", help="Blocks. Default: 12.")] = None,
    count: Annotated[bool, typer.Option("--count", help="Only count instructions.")] = False,
    race: Annotated[bool, typer.Option("--race", help="Only measure time.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only check that everything works: 3 short blocks, without TCP.")
    ] = False,
    json: JsonOption = None,
    out: OutOption = None,
    bin_dir: BinDirOption = None,
    seed: SeedOption = None,
    renew: Annotated[
        bool, typer.Option("--renew", help="Only count, and write the figures to codec-bench/counts.json.")
    ] = False,
) -> None:
    """Compare serialization libraries in Rust and C++ on the same work.

    In a round, a client builds a request from random numbers, a server reads it and builds a response, and the client
    checks that. Messages are passed as objects, as bytes in memory, by pipes, or by TCP over loopback; the last two to
    another process on a CPU of its own. It counts the instructions of a round, and prints rounds per second of CPU time
    of both processes, the ratio of each pair with an interval, and the noise floor.
    """
    if race and (count or renew):
        raise typer.BadParameter("with --count or --renew there is no race", param_hint="--race")
    cases, modes = _of(case, CASES, "--case"), _of(mode, MODES[:-1] if quick else MODES, "--mode")
    buffers = [reuse] if reuse is not None else [True] if quick else [False, True]
    try:
        chosen = choose(names or [], absolute(bin_dir) or None)
        if renew:
            from testbed.bench.codecs.count import count_all, counted_conditions, renew_counts, versions

            with new_console().status("counting"):
                path = renew_counts(versions(), list(count_all(chosen, counted_conditions())))
            say(new_console(), f"renewed {path}")
            return
        from testbed.bench.codecs.command import CodecsOptions, run_codecs

        options = CodecsOptions(
            codecs=chosen,
            conditions=conditions(cases, modes, buffers),
            count=not race,
            race=not count,
            protocol=Protocol(rounds=1, slice_s=0.05 if quick else 0.2),
            blocks=blocks or (3 if quick else 12),
            seed=drawn(seed),
            quick=quick,
            lcores=plan_lcores(),
            out=results_parent(out),
            json=json_file(json),
            command=shlex.join(command_words("bench", "codecs")),
        )
        status = run_codecs(options, new_console())
    except (BinaryError, CountError, FiguresError, ProcessError, ProgramMissing, ResultsError, OSError) as error:
        fail(str(error))
    end_with(status, "some measurements failed: the reasons are above")


def _of(given: Sequence[str] | None, known: Sequence[str], option: str) -> list[str]:
    if strange := [one for one in given or () if one not in known]:
        raise typer.BadParameter(f"'{strange[0]}': choose from {', '.join(known)}", param_hint=option)
    return list(dict.fromkeys(given or known))
