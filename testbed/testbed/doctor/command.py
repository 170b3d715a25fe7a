# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x testbed doctor`."""

from __future__ import annotations

from dataclasses import replace
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
    scenario: Annotated[
        Path | None,
        typer.Option(metavar="FILE|NAME", help="Its NICs, CPUs and TRex, in place of naming them one by one."),
    ] = None,
    root: Annotated[
        Path, typer.Option(metavar="DIR", help="A tree recorded on another machine, in place of this one.", hidden=True)
    ] = Path("/"),
) -> None:
    """What of this machine stands in the way of a figure, and what to do about it.

    Exits with 0 if all is well, 1 if the worst is a warning, and 2 if something failed.
    """
    host = Host(root)
    question = Question(read_nics(nics), read_cores(cores), trex_home, marches=marches(host))
    if scenario is not None:
        question = _of_scenario(scenario, question)
    checks = examine(host, question)
    if json:
        print(as_json(checks))
    else:
        console = Console()
        show(checks, console if console.is_terminal else Console(width=_LOG_WIDTH))
    raise typer.Exit(exit_status(checks))


def _of_scenario(path: Path, question: Question) -> Question:
    """What is asked, and all that a scenario names for this machine.

    Raises `typer.BadParameter`.
    """
    try:
        # The doctor alone needs less than a scenario does.
        from testbed.campaign.needs import needs
        from testbed.campaign.scenario import ScenarioError, find_scenario, read_scenario
    except ImportError as error:
        raise typer.BadParameter(f"it takes all of the testbed: {error}", param_hint="--scenario") from error
    try:
        found = needs(read_scenario(find_scenario(path)))
    except ScenarioError as error:
        raise typer.BadParameter(str(error), param_hint="--scenario") from error
    for host in found.hosts:
        typer.echo(f"testbed: {host} is another host: ask its doctor too", err=True)
    if found.trex and found.trex_home is None and question.trex_home is None:
        typer.echo("testbed: nobody says where TRex is: give --trex-home, or trex_home in the scenario", err=True)
    return replace(
        question,
        nics=tuple(dict.fromkeys((*question.nics, *found.nics))),
        cores=tuple(sorted({*question.cores, *found.cpus})),
        trex_home=question.trex_home or found.trex_home,
        trex_config=found.trex_config,
    )
