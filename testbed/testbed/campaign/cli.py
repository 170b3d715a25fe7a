# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of campaigns: `./x testbed rfc2544`, `overload`, `compare`, `plan`, `resume` and `diff`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from testbed.campaign.compare.cli import compare
from testbed.campaign.diff.command import diff
from testbed.campaign.options import (
    DevicesOption,
    PresetOption,
    ResetsOption,
    ScenarioOption,
    SeedOption,
    SizesOption,
    TestsOption,
    chosen_scenario,
)
from testbed.campaign.run_and_report import (
    metrics_served,
    resume_on_testbeds,
    run_campaign,
    run_comparison,
    started_equipment,
)
from testbed.command_line.console import fail, new_console, say, warn
from testbed.command_line.options import BinDirOption, OutOption, absolute, command_words, results_parent
from testbed.metrics.server import Address, MetricsError, MetricsOption

# These imports take a second, which --help avoids.
if TYPE_CHECKING:
    from testbed.campaign.scenario import Scenario


def add_commands(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    for command in (rfc2544, overload, compare, plan, resume, diff):
        app.command()(command)


def rfc2544(
    scenario: ScenarioOption = Path("virtual-wire"),
    preset: PresetOption = None,
    sizes: SizesOption = None,
    devices: DevicesOption = None,
    tests: TestsOption = None,
    resets: ResetsOption = None,
    out: OutOption = None,
    bin_dir: BinDirOption = None,
    seed: SeedOption = None,
    metrics: MetricsOption = None,
) -> None:
    """Run an RFC 2544 campaign.

    Its tests: throughput, latency, frame loss, back-to-back frames, system recovery, reset.
    """
    chosen, text = chosen_scenario(scenario, preset, sizes, devices, tests, seed, resets)
    _begin("rfc2544", chosen, text, out, bin_dir, metrics)


def overload(
    scenario: ScenarioOption = Path("virtual-wire"),
    preset: PresetOption = None,
    sizes: SizesOption = None,
    devices: DevicesOption = None,
    out: OutOption = None,
    bin_dir: BinDirOption = None,
    seed: SeedOption = None,
    metrics: MetricsOption = None,
) -> None:
    """Measure the forwarding rate under overload (RFC 2889)."""
    chosen, text = chosen_scenario(scenario, preset, sizes, devices, ["forwarding_rate"], seed)
    _begin("overload", chosen, text, out, bin_dir, metrics)


def plan(
    scenario: ScenarioOption = Path("virtual-wire"),
    preset: PresetOption = None,
    sizes: SizesOption = None,
    devices: DevicesOption = None,
    tests: TestsOption = None,
    resets: ResetsOption = None,
) -> None:
    """Print what a campaign would measure and how long it takes.

    Also lists what is missing on this machine. Measures nothing.
    """
    from testbed.campaign.needs import needs
    from testbed.campaign.scenario_error import ScenarioError
    from testbed.campaign.timeplan import print_plan
    from testbed.host.files import Host

    chosen, _ = chosen_scenario(scenario, preset, sizes, devices, tests, None, resets)
    console = new_console()
    print_plan(chosen, console)
    try:
        wanted = needs(chosen)
    except ScenarioError as error:
        fail(str(error))
    missing = list(wanted.missing(Host()))
    say(console, *(f"Missing here: {line}" for line in missing))
    if wanted.hosts:
        say(console, f"Not checked: {', '.join(wanted.hosts)}")
    if missing:
        name = shlex.quote(str(scenario))
        say(console, f"All checks: ./x testbed doctor --scenario {name}")


def resume(
    folder: Annotated[Path, typer.Argument(help="The folder of an interrupted campaign.", file_okay=False)],
    changed_programs: Annotated[
        bool, typer.Option("--changed-programs", help="Continue although the programs have changed.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Repeat the measurements that failed; keep all others.")
    ] = False,
    metrics: MetricsOption = None,
) -> None:
    """Continue an interrupted campaign.

    It continues where it stopped, even in the middle of a search.
    """
    from testbed.campaign.campaign import Campaign
    from testbed.campaign.campaign_settings import read_campaign_settings
    from testbed.campaign.compare.run import ComparisonRun
    from testbed.campaign.compare.settings import is_comparison, read_comparison_settings
    from testbed.campaign.journal import JournalError
    from testbed.campaign.real_equipment import find_programs, real_equipment
    from testbed.campaign.testbeds.inventory import is_spread
    from testbed.run.process import ProcessError
    from testbed.run.programs import ProgramMissing
    from testbed.run.results_folder import ResultsError
    from testbed.vm.guest import VmMissing

    try:
        compared = is_comparison(folder)
        settings = read_comparison_settings(folder) if compared else read_campaign_settings(folder)
        programs = find_programs(settings.scenario, settings.bin_dirs)
        if changed := [name for name, hashed in programs.hashes().items() if settings.programs.get(name) != hashed]:
            if not changed_programs:
                fail(
                    f"{', '.join(changed)} changed since the campaign began: restore the earlier build, start a new "
                    "campaign, or continue anyway with --changed-programs"
                )
            warn(f"warning: {', '.join(changed)} changed since the campaign began")
        if is_spread(folder):
            if metrics is not None:
                fail("--metrics is for a campaign on one testbed, and this one is on several: leave it out")
            resume_on_testbeds(folder.absolute(), settings, real_equipment(programs), retry_failed)
        with metrics_served(metrics) as told, started_equipment(settings.scenario, programs) as equipment:
            if compared:
                run_comparison(ComparisonRun.resume(folder.absolute(), equipment, retry_failed), told)
            run_campaign(Campaign.resume(folder.absolute(), equipment, retry_failed), told)
    except (MetricsError, ResultsError, JournalError, ProgramMissing, ProcessError, VmMissing) as error:
        fail(str(error))


def _begin(
    kind: str,
    scenario: Scenario,
    text: str,
    out: Path | None,
    bin_dir: list[Path] | None,
    metrics: Address | None,
) -> None:
    from testbed.campaign.campaign import Campaign
    from testbed.campaign.campaign_settings import CampaignSettings
    from testbed.campaign.journal import JournalError
    from testbed.campaign.real_equipment import find_programs
    from testbed.campaign.timeplan import print_plan
    from testbed.run.process import ProcessError
    from testbed.run.programs import ProgramMissing
    from testbed.run.results_folder import ResultsError
    from testbed.vm.guest import VmMissing

    folders = absolute(bin_dir)
    try:
        programs = find_programs(scenario, folders)
        settings = CampaignSettings(
            kind=kind,
            command=shlex.join(command_words("testbed", kind)),
            scenario=scenario,
            bin_dirs=folders,
            programs=programs.hashes(),
        )
        print_plan(scenario, new_console())
        parent = results_parent(out)
        with metrics_served(metrics) as told, started_equipment(scenario, programs) as equipment:
            run_campaign(Campaign.create(parent, settings, text, equipment), told)
    except (MetricsError, ResultsError, JournalError, ProgramMissing, ProcessError, VmMissing) as error:
        fail(str(error))
