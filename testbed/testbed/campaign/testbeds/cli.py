# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of campaigns over several testbeds: `./x testbed run` and `./x testbed worker`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from testbed.campaign import cli
from testbed.programs import repository_root


def run(
    inventory: Annotated[Path, typer.Option(metavar="FILE", help="Which testbeds there are.", dir_okay=False)],
    scenario: cli.ScenarioOption = Path("virtual-wire"),
    preset: cli.PresetOption = None,
    sizes: cli.SizesOption = None,
    devices: cli.DevicesOption = None,
    tests: cli.TestsOption = None,
    resets: cli.ResetsOption = None,
    out: cli.OutOption = None,
    bin_dir: cli.BinDirOption = None,
    seed: cli.SeedOption = None,
) -> None:
    """A campaign over several testbeds: each idle one is given the next frames to measure."""
    from testbed.campaign.campaign import Campaign, Settings
    from testbed.campaign.journal import JournalError
    from testbed.campaign.scenario import ScenarioError
    from testbed.campaign.testbeds.controller import Controller
    from testbed.campaign.timeplan import print_plan
    from testbed.campaign.workshop import find_programs, workshop
    from testbed.process import ProcessError
    from testbed.programs import ProgramMissing
    from testbed.results import ResultsError

    chosen, text = cli._chosen(scenario, preset, sizes, devices, tests, seed, resets)
    folders = [folder.absolute() for folder in bin_dir or []]
    console = cli._console()
    try:
        read = cli._read_inventory(inventory, chosen)
        programs = find_programs(chosen, folders)
        settings = Settings(
            kind="rfc2544",
            command=shlex.join(["./x", "testbed", *cli._words_after("run")]),
            scenario=chosen,
            bin_dirs=folders,
            programs=programs.hashes(),
        )
        print_plan(chosen, console)
        console.print(f"That is on one testbed; there are {len(read.testbeds)}.", highlight=False)
        parent = (out or repository_root() / "results").absolute()
        shop = workshop(programs)
        campaign = Campaign.create(parent, settings, text, shop)
        console.print(f"Results: {campaign.folder}", highlight=False, soft_wrap=True)
        cli._report(Controller.create(campaign, read, shop, console).run())
    except (ResultsError, JournalError, ProgramMissing, ProcessError, ScenarioError) as error:
        cli._fail(str(error))


def worker(
    scheduler: Annotated[str, typer.Option(metavar="ADDRESS", help="Of Dask's scheduler: tcp://lab:8786.")],
    name: Annotated[str, typer.Option(metavar="NAME", help="Of the testbed, as the inventory has it.")],
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="How long the scheduler may be unreachable at the start.")
    ] = 30,
    bin_dir: cli.BinDirOption = None,
) -> None:
    """Makes this machine a testbed: waits for parts of campaigns and measures them, one at a time."""
    from testbed.campaign.testbeds.worker import work

    try:
        work(scheduler, name, [folder.absolute() for folder in bin_dir or []], wait)
    except (OSError, TimeoutError, ValueError) as error:
        cli._fail(f"cannot work for the scheduler at {scheduler}: {error or 'no answer'}: see that it runs")


def add_commands(app: typer.Typer) -> None:
    """Makes the commands known."""
    app.command()(run)
    app.command()(worker)
