# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of campaigns over several testbeds: `./x testbed run`, `worker`, `scheduler`, `certificates`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

if TYPE_CHECKING:
    from distributed.security import Security


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


CertificatesOption = Annotated[
    Path | None,
    typer.Option(
        "--certificates", metavar="DIR", help="This machine's folder of ./x testbed certificates.", file_okay=False
    ),
]
TrustedOption = Annotated[
    bool,
    typer.Option("--trusted-network", help="Allow tcp://: everybody who reaches this machine may run programs on it."),
]


def worker(
    scheduler: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address of the scheduler, such as tls://lab:8786.")
    ],
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of this testbed in the inventory.")],
    certificates: CertificatesOption = None,
    trusted_network: TrustedOption = False,
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, help="How long to wait for the scheduler at the start.")
    ] = 30,
    bin_dir: BinDirOption = None,
) -> None:
    """Make this machine a testbed.

    It waits for jobs of campaigns and runs them, one at a time.
    """
    from testbed.campaign.testbeds.worker import work

    own = _security(scheduler, certificates, trusted_network)
    try:
        work(scheduler, name, absolute(bin_dir), wait, own)
    except (OSError, TimeoutError, ValueError) as error:
        fail(f"cannot work for the scheduler at {scheduler}: {error or 'no answer'}: check that it runs")


def scheduler(
    address: Annotated[
        str, typer.Option(metavar="ADDRESS", help="The scheduler's address in the inventory, such as tls://lab:8786.")
    ],
    certificates: CertificatesOption = None,
    trusted_network: TrustedOption = False,
) -> None:
    """Run the scheduler that joins testbeds on several machines.

    It prints which testbeds come and go.
    """
    from testbed.campaign.testbeds.scheduler import schedule

    own = _security(address, certificates, trusted_network)
    try:
        schedule(address, own)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except (OSError, ValueError) as error:
        fail(f"cannot listen at {address}: {error}: choose another port")


def certificates(
    inventory: Annotated[Path, typer.Option(metavar="FILE", help="The testbeds.", dir_okay=False)],
    days: Annotated[int, typer.Option(metavar="N", min=1, max=3650, help="How long they are valid.")] = 365,
) -> None:
    """Make the TLS certificates of an inventory.

    One folder for the scheduler, for this machine and for each testbed. Keeps those that are there.
    """
    from testbed.campaign.scenario_error import ScenarioError
    from testbed.campaign.testbeds.certificates import CertificateError, make_certificates
    from testbed.campaign.testbeds.inventory import read_inventory

    try:
        read = read_inventory(inventory)
        if read.scheduler is None or read.own_certificate is None:
            fail(f"{inventory}: no scheduler with TLS: write 'scheduler: tls://HOST:8786' into it first")
        made = make_certificates(read.certificates, [testbed.name for testbed in read.testbeds], days)
    except (ScenarioError, CertificateError) as error:
        fail(str(error))
    console = new_console()
    for one in made:
        say(console, f"{one.folder}: {'made' if one.is_new else 'kept'}, valid until {one.expires:%Y-%m-%d}")
    authority, of_scheduler, _, *of_testbeds = (shlex.quote(str(one.folder)) for one in made)
    say(
        console,
        f"Whoever has a key of these folders runs programs as the testbeds' user. Keep {authority} on this machine: it "
        "makes further certificates.",
        f"Scheduler, with a copy of {of_scheduler}:",
        f"  ./x testbed scheduler --address {read.scheduler} --certificates {of_scheduler}",
        "Each testbed, with a copy of its folder:",
        *(
            f"  ./x testbed worker --scheduler {read.scheduler} --name {testbed.name} --certificates {folder}"
            for testbed, folder in zip(read.testbeds, of_testbeds, strict=True)
        ),
    )


def _security(address: str, folder: Path | None, trusted_network: bool) -> Security | None:
    """How this machine connects to the address or listens there; ends the program if that is not safe."""
    from testbed.campaign.testbeds.address import check_address, has_tls
    from testbed.campaign.testbeds.certificates import CertificateError, has_own_settings, security

    try:
        check_address(address, trusted_network, "give --trusted-network")
        # The workers that `run` starts on this machine have Dask's settings, with certificates that are in no file.
        if has_tls(address) and folder is None and has_own_settings():
            return None
        if has_tls(address) != (folder is not None):
            told = "needs --certificates DIR" if folder is None else f"and --certificates {folder}: use tls://"
            fail(f"{address} {told}: ./x testbed certificates makes them for an inventory")
        return security(folder) if folder is not None else None
    except (CertificateError, ValueError) as error:
        fail(str(error))


def add_commands(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    app.command()(run)
    app.command()(worker)
    app.command()(scheduler)
    app.command()(certificates)
