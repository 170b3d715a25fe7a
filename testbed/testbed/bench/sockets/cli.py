# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of `./x bench sockets`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from testbed.bench.count.binary import BinaryError
from testbed.bench.count.gate import FiguresError
from testbed.bench.count.instructions import CountError
from testbed.bench.sockets.count import CONNECTIONS, QUICK_CONNECTIONS, run_counts
from testbed.command_line.console import fail, new_console
from testbed.command_line.options import BinDirOption, absolute, json_file
from testbed.run.programs import COSTS, ProgramMissing, find_program


def sockets(
    connections: Annotated[
        list[int] | None,
        typer.Option(
            "--connections",
            min=1,
            max=100_000,
            metavar="N",
            help=f"Connections; repeatable. Default: {', '.join(map(str, CONNECTIONS))}.",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Only check that everything works: up to 100.")] = False,
    json: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write the figures to this file.")
    ] = None,
    bin_dir: BinDirOption = None,
    renew: Annotated[bool, typer.Option("--renew", help="Also write the figures to testbed/counts.json.")] = False,
) -> None:
    """Count the instructions of a request to dpdk-sockets.

    Prints them by the number of connections, for the poll interface, the async sockets, and checksum offloads.
    """
    chosen = sorted(set(connections or (QUICK_CONNECTIONS if quick else CONNECTIONS)))
    try:
        run_counts(find_program(COSTS, absolute(bin_dir)), chosen, new_console(), json_file(json), renew=renew)
    except (BinaryError, CountError, FiguresError, ProgramMissing, OSError) as error:
        fail(str(error))
