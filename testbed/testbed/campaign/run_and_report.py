# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Runs a campaign or a comparison, writes its report, and ends the program with its status."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from rich.console import Console

from testbed.command_line.console import fail, new_console, say, warn
from testbed.command_line.options import end_with
from testbed.metrics.server import Address, served
from testbed.run.results_folder import Status

# These imports take a second, which --help avoids.
if TYPE_CHECKING:
    from testbed.campaign.campaign import Campaign
    from testbed.campaign.campaign_settings import CampaignSettings
    from testbed.campaign.compare.run import ComparisonRun
    from testbed.campaign.compare.settings import ComparisonSettings
    from testbed.campaign.compare.verdict_file import ComparisonVerdict
    from testbed.campaign.equipment import Equipment
    from testbed.campaign.metrics import CampaignMetrics
    from testbed.campaign.real_equipment import Programs
    from testbed.campaign.scenario import Scenario
    from testbed.campaign.testbeds.inventory import Inventory


# The exit status of a campaign that measured everything, and has a threshold that has not passed.
NOT_ACCEPTED = 3
# The same of one whose soak lost frames, without a threshold on that.
LOST_IN_SOAK = 4


@contextmanager
def started_equipment(scenario: Scenario, programs: Programs) -> Iterator[Equipment]:
    """What a campaign works with, and the virtual machine of a scenario that wants one while the `with` lasts.

    Raises `ProgramMissing` if TRex is, `VmMissing`, and `ProcessError` if the machine does not come up.
    """
    from testbed.campaign.guest.machine import guest_for
    from testbed.campaign.real_equipment import generator_cpu, real_equipment
    from testbed.campaign.trex.settings import Trex
    from testbed.campaign.trex.setup import check_trex

    if isinstance(scenario.generator, Trex):
        check_trex(scenario.generator)
    forwarders = list(programs.forwarders.values())
    with guest_for(scenario, forwarders, lambda: generator_cpu(scenario), partial(say, new_console())) as guest:
        yield real_equipment(programs, guest)


@contextmanager
def metrics_served(address: Address | None) -> Iterator[CampaignMetrics | None]:
    """The metrics of a campaign while the `with` lasts; None without an address.

    Raises `MetricsError`.
    """
    if address is None:
        yield None
        return
    from testbed.campaign.metrics import CampaignMetrics

    metrics = CampaignMetrics()
    with served(address, metrics) as at:
        say(new_console(), f"Metrics: http://{at}/metrics")
        yield metrics


def run_campaign(campaign: Campaign, metrics: CampaignMetrics | None = None) -> None:
    """Runs the campaign and ends the program with its status."""
    console = new_console()
    say(console, f"Results: {campaign.folder}")
    told = campaign.settings
    campaign.run(console, shown=metrics and metrics.of(told.campaign, told.kind, told.scenario))
    report_campaign(campaign)


def spread_comparison(comparison: ComparisonRun, inventory: Inventory, equipment: Equipment) -> NoReturn:
    """Runs the comparison on several testbeds and ends the program with its status."""
    from testbed.campaign.testbeds.comparison import SpreadComparison

    console = new_console()
    say(console, f"This is for one testbed; there are {len(inventory.testbeds)}.")
    say(console, f"Results: {comparison.folder}")
    report_comparison(
        comparison.folder, SpreadComparison.create(comparison, inventory, equipment, console).run(), console
    )


def resume_on_testbeds(
    folder: Path, settings: CampaignSettings | ComparisonSettings, equipment: Equipment, retry_failed: bool
) -> NoReturn:
    """Continues a campaign or a comparison on its testbeds and ends the program with its status."""
    from testbed.campaign.compare.settings import ComparisonSettings
    from testbed.campaign.testbeds.campaign import SpreadCampaign
    from testbed.campaign.testbeds.comparison import SpreadComparison

    console = new_console()
    if isinstance(settings, ComparisonSettings):
        report_comparison(
            folder, SpreadComparison.resume(folder, settings, equipment, console, retry_failed).run(), console
        )
    report_campaign(SpreadCampaign.resume(folder, settings, equipment, console, retry_failed).run())


def report_campaign(campaign: Campaign) -> NoReturn:
    """Prints the results of a campaign, and ends the program with its status."""
    console, summary = new_console(), campaign.summary
    status = summary.status
    say(console, (campaign.folder / "summary.md").read_text())
    write_page(campaign.folder, console)
    if status is Status.INTERRUPTED:
        warn(summary.reason or "interrupted")
    if status is Status.PASSED and summary.not_accepted:
        fail(summary.why_not_accepted(), NOT_ACCEPTED)
    if status is Status.PASSED and (lossy := summary.soaks_with_loss):
        fail(f"alarm: {lossy[0].place}: {lossy[0].headline}", LOST_IN_SOAK)
    end_with(status, summary.reason or "the campaign failed")


def run_comparison(comparison: ComparisonRun, metrics: CampaignMetrics | None = None) -> None:
    """Runs the comparison and ends the program with its status."""
    console = new_console()
    say(console, f"Results: {comparison.folder}")
    told = comparison.settings
    verdict = comparison.run(console, metrics and metrics.of(told.comparison, "compare", told.scenario))
    report_comparison(comparison.folder, verdict, console)


def report_comparison(folder: Path, verdict: ComparisonVerdict, console: Console) -> NoReturn:
    """Prints the verdict of a comparison, and ends the program with its status."""
    from testbed.campaign.campaign import retry_command
    from testbed.campaign.compare.verdict_file import as_markdown

    say(console, as_markdown(verdict))
    if verdict.comparison is not None and verdict.comparison.failures:
        again = retry_command(folder)
        say(console, f"To repeat the incomplete blocks: {again}")
    write_page(folder, console)
    end_with(verdict.status, verdict.reason or "the comparison failed")


def write_page(folder: Path, console: Console) -> None:
    """Writes the report. A failure only warns, since the report can be rebuilt at any time."""
    from testbed.campaign.report.document import write_report
    from testbed.run.results_folder import ResultsError

    try:
        say(console, f"Report: {write_report(folder)}")
    except (ResultsError, KeyboardInterrupt) as error:
        why = str(error) or "interrupted"
        again = shlex.quote(str(folder))
        warn(f"warning: no report: {why}; write it with ./x testbed report {again}")
    say(console, f"Results: {folder}")
