# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of campaigns over several testbeds: `./x testbed run` and `./x testbed worker`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from testbed.campaign.options import (
    DevicesOption,
    PresetOption,
    ResetsOption,
    ScenarioOption,
    SeedOption,
    SizesOption,
    TestsOption,
    chosen_scenario,
    read_testbeds,
)
from testbed.campaign.run_and_report import report_campaign
from testbed.command_line.console import fail, new_console, say
from testbed.command_line.options import BinDirOption, OutOption, absolute, command_words, results_parent


def run(
    inventory: Annotated[Path, typer.Option(metavar="FILE", help="The testbeds.", dir_okay=False)],
    scenario: ScenarioOption = Path("virtual-wire"),
    preset: PresetOption = None,
    sizes: SizesOption = None,
    devices: DevicesOption = None,
    tests: TestsOption = None,
    resets: ResetsOption = None,
    out: OutOption = None,
    bin_dir: BinDirOption = None,
    seed: SeedOption = None,
) -> None:
    """Run a campaign on several testbeds.

    Each idle testbed gets the next frame size.
    """
    from testbed.campaign.campaign import Campaign
    from testbed.campaign.campaign_settings import CampaignSettings
    from testbed.campaign.journal import JournalError
    from testbed.campaign.real_equipment import find_programs, real_equipment
    from testbed.campaign.scenario_error import ScenarioError
    from testbed.campaign.testbeds.campaign import SpreadCampaign
    from testbed.campaign.timeplan import print_plan
    from testbed.run.process import ProcessError
    from testbed.run.programs import ProgramMissing
    from testbed.run.results_folder import ResultsError

    chosen, text = chosen_scenario(scenario, preset, sizes, devices, tests, seed, resets)
    folders = absolute(bin_dir)
    console = new_console()
    try:
        read = read_testbeds(inventory, chosen)
        programs = find_programs(chosen, folders)
        settings = CampaignSettings(
            kind="rfc2544",
            command=shlex.join(command_words("testbed", "run")),
            scenario=chosen,
            bin_dirs=folders,
            programs=programs.hashes(),
        )
        print_plan(chosen, console)
        say(console, f"This is for one testbed; there are {len(read.testbeds)}.")
        parent = results_parent(out)
        equipment = real_equipment(programs)
        campaign = Campaign.create(parent, settings, text, equipment)
        say(console, f"Results: {campaign.folder}")
        report_campaign(SpreadCampaign.create(campaign, read, equipment, console).run())
    except (ResultsError, JournalError, ProgramMissing, ProcessError, ScenarioError) as error:
        fail(str(error))


def worker(
    scheduler: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address of the Dask scheduler, such as tcp://lab:8786.")
    ],
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of this testbed in the inventory.")],
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="How long to wait for the scheduler at the start.")
    ] = 30,
    bin_dir: BinDirOption = None,
) -> None:
    """Make this machine a testbed.

    It waits for jobs of campaigns and runs them, one at a time.
    """
    from testbed.campaign.testbeds.worker import work

    try:
        work(scheduler, name, absolute(bin_dir), wait)
    except (OSError, TimeoutError, ValueError) as error:
        fail(f"cannot work for the scheduler at {scheduler}: {error or 'no answer'}: check that it runs")


def add_commands(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    app.command()(run)
    app.command()(worker)
