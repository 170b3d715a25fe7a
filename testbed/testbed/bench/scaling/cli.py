# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of `./x bench scaling`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from testbed.command_line.console import fail, new_console
from testbed.command_line.options import (
    HugepagesOption,
    JsonOption,
    OutOption,
    absolute,
    command_words,
    json_file,
    results_parent,
    use_hugepages,
)
from testbed.run.results_folder import ResultsError


def scaling(
    bundle: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Measure nothing; write a folder that measures on another machine, which needs no DPDK."
        ),
    ] = None,
    raw: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE|DIR", help="Measure nothing; report the results of such a folder."),
    ] = None,
    rounds: Annotated[int | None, typer.Option(min=1, max=1000, metavar="N", help="Rounds. Default: 8.")] = None,
    seconds: Annotated[int | None, typer.Option(min=1, max=3600, metavar="S", help="Per run. Default: 3.")] = None,
    lcores: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Maximum lcores. Default: cores minus one.")
    ] = None,
    most: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Maximum ports and queues of one lcore. Default: 8.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Seed of the random order. Default: random.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Only check that everything works: 3 rounds of 1 s.")] = False,
    hugepages: HugepagesOption = None,
    json: JsonOption = None,
    out: OutOption = None,
    bin_dir: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Folder with statically linked forwarders; repeatable."),
    ] = None,
) -> None:
    """Measure the forwarders on one to N lcores, ports and queues.

    Prints rates, cycles per packet, and the efficiency relative to one lcore.
    """
    from testbed.bench.scaling.bundle import BundleError
    from testbed.bench.scaling.command import ScalingOptions, run_scaling

    if bundle is not None and raw is not None:
        raise typer.BadParameter("--bundle and --from exclude each other: give only one of them")
    given = {
        "--rounds": rounds or (3 if quick else None),
        "--seconds": seconds or (1 if quick else None),
        "--lcores": lcores,
        "--most": most,
        "--seed": seed,
    }
    words = [word for name, value in given.items() if value is not None for word in (name, str(value))]
    with_hugepages = use_hugepages(hugepages)
    options = ScalingOptions(
        out=results_parent(out),
        json=json_file(json),
        bin_dirs=absolute(bin_dir),
        options=[*words, *(["--hugepages"] if with_hugepages else [])],
        quick=quick,
        bundle=bundle.absolute() if bundle else None,
        raw=raw,
        command=shlex.join(command_words("bench", "scaling")),
    )
    try:
        run_scaling(options, new_console())
    except (BundleError, ResultsError) as error:
        fail(str(error))
