# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of `./x bench handicaps`."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from testbed.bench.count.binary import BinaryError
from testbed.bench.count.instructions import CountError
from testbed.command_line.console import fail, new_console
from testbed.command_line.options import (
    HugepagesOption,
    JsonOption,
    OutOption,
    PerCpuSecondOption,
    SeedOption,
    command_words,
    drawn,
    generator_program,
    json_file,
    results_parent,
    use_hugepages,
)
from testbed.comparison.blocks import Protocol
from testbed.comparison.condition import NET_NULL, VIRTUAL
from testbed.run.lcores import plan_lcores
from testbed.run.process import ProcessError
from testbed.run.programs import ProgramMissing
from testbed.run.results_folder import ResultsError


def handicaps(
    wires: Annotated[
        list[str] | None,
        typer.Option("--wire", metavar="WIRE", help="net_null or virtual; repeatable. Default: both."),
    ] = None,
    blocks: Annotated[
        int | None,
        typer.Option(min=0, max=1000, metavar="N", help="Blocks. Default: 10. With 0, only count instructions."),
    ] = None,
    per_cpu_second: PerCpuSecondOption = False,
    quick: Annotated[bool, typer.Option("--quick", help="Only check that everything works: 4 short blocks.")] = False,
    hugepages: HugepagesOption = None,
    json: JsonOption = None,
    out: OutOption = None,
    seed: SeedOption = None,
) -> None:
    """Measure suspected reasons why Rust is slower than C on DPDK."""
    from testbed.bench.handicaps.command import HandicapOptions, run_handicaps

    chosen_wires = tuple(dict.fromkeys(wires or (NET_NULL, VIRTUAL)))
    if strange := [wire for wire in chosen_wires if wire not in (NET_NULL, VIRTUAL)]:
        raise typer.BadParameter(f"'{strange[0]}': give {NET_NULL} or {VIRTUAL}", param_hint="--wire")
    number = (4 if quick else 10) if blocks is None else blocks
    options = HandicapOptions(
        wires=chosen_wires if number else (),
        blocks=number,
        protocol=Protocol(rounds=4 if quick else 12, slice_s=0.05 if quick else 0.1, by_cpu_time=per_cpu_second),
        seed=drawn(seed),
        hugepages=use_hugepages(hugepages),
        per_cpu_second=per_cpu_second,
        quick=quick,
        lcores=plan_lcores(),
        generator=generator_program([]) if VIRTUAL in chosen_wires and number else None,
        out=results_parent(out),
        json=json_file(json),
        command=shlex.join(command_words("bench", "handicaps")),
    )
    try:
        all_count = run_handicaps(options, new_console())
    except (BinaryError, CountError, ProcessError, ProgramMissing, ResultsError, OSError) as error:
        fail(str(error))
    if not all_count:
        fail("some measurements failed: the reasons are above")
