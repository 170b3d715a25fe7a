# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line: `./x demo`, `./x bench …` and `./x testbed …`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from testbed.bench.cli import bench
from testbed.campaign.cli import add_commands
from testbed.campaign.testbeds.cli import add_commands as add_testbed_commands
from testbed.command_line.console import fail, new_app
from testbed.demo.cli import demo
from testbed.doctor.command import doctor
from testbed.history.cli import app as history
from testbed.host.command import app as host
from testbed.metrics.command import exporter
from testbed.nics.command import profile
from testbed.parsing.cli import parsing
from testbed.run.results_folder import ResultsError

app = new_app("Measures forwarders under traffic, checks every trial, and writes reports.")
bench.command()(parsing)
app.add_typer(bench, name="bench")
app.add_typer(history, name="history")
app.add_typer(host, name="host")
app.command()(demo)
app.command()(doctor)
app.command()(exporter)
app.command()(profile)
add_commands(app)
add_testbed_commands(app)


@app.command()
def schema(folder: Annotated[Path, typer.Argument(help="Where to write the schemas; created if missing.")]) -> None:
    """Write the JSON schemas of the results.

    These are summary.json, verdict.json, the lines of journal.jsonl, and the output of diff --json.
    """
    # Late, here and below: it loads every model of a campaign.
    from testbed.campaign.schema import write_schemas

    try:
        for path in write_schemas(folder):
            typer.echo(path)
    except OSError as error:
        fail(f"cannot write the schemas into {folder}: {error.strerror}")


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="A results folder.", file_okay=False)],
    pdf: Annotated[bool, typer.Option("--pdf", help="Also print it into report.pdf, with Chromium.")] = False,
) -> None:
    """Rebuild report.html from the folder of a demo or a campaign, finished or not."""
    from testbed.campaign.folder import is_campaign_folder
    from testbed.campaign.report import document as campaign_report
    from testbed.demo.report import write_report
    from testbed.page.pdf import write_pdf

    try:
        page = campaign_report.write_report(folder) if is_campaign_folder(folder) else write_report(folder)
        print(page)
        if pdf:
            print(write_pdf(page))
    except ResultsError as error:
        fail(str(error))


def main() -> None:
    """The entry point."""
    app(prog_name="testbed")
