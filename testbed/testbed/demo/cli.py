# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of `./x demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from testbed.command_line.console import fail, new_console
from testbed.command_line.options import (
    BinDirOption,
    HugepagesOption,
    OutOption,
    SeedOption,
    absolute,
    drawn,
    end_with,
    results_parent,
    use_hugepages,
)
from testbed.demo.command import Demo, DemoOptions
from testbed.demo.overload import BLOCKS, QUICK_BLOCKS
from testbed.run.process import ProcessError
from testbed.run.results_folder import ResultsError
from testbed.wire.frames import CaptureError, read_frames


def demo(
    hugepages: HugepagesOption = None,
    pcap: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The capture that act d replays. Default: the traffic of act c."),
    ] = None,
    blocks: Annotated[
        int | None,
        typer.Option(min=1, max=1000, metavar="N", help="Blocks of act a. Default: 7. A verdict needs 6."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0.5, max=3600, metavar="SECONDS", help="Load time for each forwarder in act b. Default: 3."),
    ] = None,
    size: Annotated[
        int,
        typer.Option(min=64, max=9000, metavar="BYTES", help="Frame size with FCS."),
    ] = 64,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Only check that everything works: 2 blocks and short acts."),
    ] = False,
    out: OutOption = None,
    bin_dir: BinDirOption = None,
    seed: SeedOption = None,
) -> None:
    """Show which forwarder is faster, and write a report.

    Act a overloads the forwarders and compares their rates. Act b checks every frame on a virtual wire, act c connects
    two hosts, act d replays a capture, act e fetches pages through proxies on two network stacks.
    """
    console = new_console()
    if pcap is not None:
        try:
            next(read_frames(pcap), None)
        except CaptureError as error:
            raise typer.BadParameter(str(error), param_hint="--pcap") from error
    options = DemoOptions(
        out=results_parent(out),
        size=size,
        seconds=seconds or (1 if quick else 3),
        blocks=blocks or (QUICK_BLOCKS if quick else BLOCKS),
        seed=drawn(seed),
        hugepages=use_hugepages(hugepages),
        pcap=pcap.absolute() if pcap else None,
        quick=quick,
        bin_dirs=absolute(bin_dir),
    )
    try:
        status = Demo(options, console).run()
    except (ResultsError, ProcessError) as error:
        fail(str(error))
    end_with(status, "the demo did not pass: the reasons are above")
