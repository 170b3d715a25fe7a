# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x testbed doctor`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from testbed.doctor.builds import marches
from testbed.doctor.check import Question
from testbed.doctor.examination import examine, exit_status
from testbed.doctor.report import as_json, show
from testbed.host.arguments import read_cores, read_nics
from testbed.host.files import Host

# A log file has no width to respect.
_LOG_WIDTH = 140


def doctor(
    json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
    nics: Annotated[
        list[str] | None,
        typer.Option("--nic", metavar="PCI", help="A NIC to be measured with, such as 18:00.0; may be repeated."),
    ] = None,
    cores: Annotated[
        str | None, typer.Option(metavar="LIST", help="CPUs to forward and to generate on, such as 2-5.")
    ] = None,
    trex_home: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The tree of TRex, to be looked at too.")
    ] = None,
    root: Annotated[
        Path, typer.Option(metavar="DIR", help="A tree recorded on another machine, in place of this one.", hidden=True)
    ] = Path("/"),
) -> None:
    """What of this machine stands in the way of a figure, and what to do about it.

    Exits with 0 if all is well, 1 if the worst is a warning, and 2 if something failed.
    """
    host = Host(root)
    question = Question(read_nics(nics), read_cores(cores), trex_home, marches(host))
    checks = examine(host, question)
    if json:
        print(as_json(checks))
    else:
        console = Console()
        show(checks, console if console.is_terminal else Console(width=_LOG_WIDTH))
    raise typer.Exit(exit_status(checks))
