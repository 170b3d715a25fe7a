# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x testbed doctor`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from testbed.command_line.console import new_console, warn
from testbed.doctor.builds import marches
from testbed.doctor.check import Question
from testbed.doctor.examination import examine, exit_status
from testbed.doctor.report import as_json, show
from testbed.host.arguments import read_cores, read_nics
from testbed.host.files import Host


def doctor(
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    nics: Annotated[
        list[str] | None,
        typer.Option("--nic", metavar="PCI", help="A NIC for the measurement, such as 18:00.0; repeatable."),
    ] = None,
    cores: Annotated[
        str | None, typer.Option(metavar="LIST", help="CPUs for the forwarder and the generator, such as 2-5.")
    ] = None,
    trex_home: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Also check the installation of TRex in this folder.")
    ] = None,
    scenario: Annotated[
        Path | None,
        typer.Option(metavar="FILE|NAME", help="Check the NICs, CPUs and TRex of this scenario."),
    ] = None,
    root: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="Check a tree recorded on another machine instead of this machine.", hidden=True
        ),
    ] = Path("/"),
) -> None:
    """Check whether this machine is fit for measurements.

    Prints a remedy for each problem. Exits with 0 if there is no problem, 1 if there are warnings, 2 if a check failed.
    """
    host = Host(root)
    question = Question(read_nics(nics), read_cores(cores), trex_home, marches=marches(host))
    if scenario is not None:
        question = _of_scenario(scenario, question)
    checks = examine(host, question)
    if json:
        print(as_json(checks))
    else:
        show(checks, new_console())
    raise typer.Exit(exit_status(checks))


def _of_scenario(path: Path, question: Question) -> Question:
    """The question with everything that a scenario names for this machine.

    Raises `typer.BadParameter`.
    """
    try:
        # The doctor alone needs fewer packages than a scenario.
        from testbed.campaign.needs import needs
        from testbed.campaign.scenario_error import ScenarioError
        from testbed.campaign.scenario_file import find_scenario, read_scenario
    except ImportError as error:
        raise typer.BadParameter(f"needs the whole testbed: {error}", param_hint="--scenario") from error
    try:
        found = needs(read_scenario(find_scenario(path)))
    except ScenarioError as error:
        raise typer.BadParameter(str(error), param_hint="--scenario") from error
    for host in found.hosts:
        warn(f"{host} is another host: run doctor there too")
    if found.trex and found.trex_home is None and question.trex_home is None:
        warn("the path of TRex is unknown: give --trex-home, or trex_home in the scenario")
    return replace(
        question,
        nics=tuple(dict.fromkeys((*question.nics, *found.nics))),
        cores=tuple(sorted({*question.cores, *found.cpus})),
        trex_home=question.trex_home or found.trex_home,
        trex_config=found.trex_config,
    )
