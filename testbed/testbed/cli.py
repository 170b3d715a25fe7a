# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line: `./x demo`, `./x bench …` and `./x testbed …`."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from testbed.bench.cli import bench
from testbed.campaign.cli import add_commands
from testbed.campaign.testbeds.cli import add_commands as add_testbed_commands
from testbed.demo import Demo, DemoOptions
from testbed.doctor.command import doctor
from testbed.eal import hugepages_wanted
from testbed.frames import CaptureError, read_frames
from testbed.host.command import app as host
from testbed.nics.command import profile
from testbed.process import ProcessError
from testbed.programs import repository_root
from testbed.report import write_report
from testbed.results import ResultsError, Status

# Below this width the table of act a would be folded; a log file has no width to respect.
_LOG_WIDTH = 120

_EXIT = {Status.PASSED: 0, Status.INTERRUPTED: 130}

app = typer.Typer(
    help="Runs l2fwd-c and l2fwd-rs under traffic, checks every trial and writes a report.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


app.add_typer(bench, name="bench")
app.add_typer(host, name="host")
app.command()(doctor)
app.command()(profile)
add_commands(app)
add_testbed_commands(app)


@app.command()
def demo(
    hugepages: Annotated[
        bool | None,
        typer.Option("--hugepages/--no-hugepages", help="Default: use them if they are there."),
    ] = None,
    pcap: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Capture for act c. Default: the traffic of act b."),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(min=1, max=1000, metavar="N", help="Rounds of act a. Default: 3."),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(min=0.5, max=3600, metavar="SECONDS", help="Of load a trial. Default: 5."),
    ] = None,
    size: Annotated[
        int,
        typer.Option(min=64, max=9000, metavar="BYTES", help="Frame size, with FCS."),
    ] = 64,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="1 round of 1 s, short acts: a check, no measurement."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the results folder is made. Default: results/ of the source tree."),
    ] = None,
    bin_dir: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Folder with the programs; may be repeated. Default: where ./x builds them."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Fixes the order of the rounds."),
    ] = None,
) -> None:
    """Both forwarders under overload, between two hosts and on a capture: tables and a report."""
    console = _console()
    if pcap is not None:
        try:
            next(read_frames(pcap), None)
        except CaptureError as error:
            raise typer.BadParameter(str(error), param_hint="--pcap") from error
    options = DemoOptions(
        out=(out or repository_root() / "results").absolute(),
        size=size,
        seconds=seconds or (1 if quick else 5),
        rounds=rounds or (1 if quick else 3),
        seed=random.SystemRandom().randrange(2**31) if seed is None else seed,
        hugepages=hugepages_wanted() if hugepages is None else hugepages,
        pcap=pcap.absolute() if pcap else None,
        quick=quick,
        bin_dirs=[folder.absolute() for folder in bin_dir or []],
    )
    try:
        status = Demo(options, console).run()
    except (ResultsError, ProcessError) as error:
        _fail(str(error))
    if status is Status.FAILED:
        _fail("the demo did not pass: see the reasons above")
    raise typer.Exit(_EXIT[status])


@app.command()
def report(folder: Annotated[Path, typer.Argument(help="A results folder.", file_okay=False)]) -> None:
    """Writes report.html anew from the folder of a demo or a campaign, be it unfinished."""
    from testbed.campaign import report as campaign_report
    from testbed.campaign.folder import is_campaign_folder

    try:
        print(campaign_report.write_report(folder) if is_campaign_folder(folder) else write_report(folder))
    except ResultsError as error:
        _fail(str(error))


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=_LOG_WIDTH)


def _fail(message: str) -> None:
    typer.echo(f"testbed: {message}", err=True)
    raise typer.Exit(1)


def main() -> None:
    """The entry point."""
    app(prog_name="testbed")
