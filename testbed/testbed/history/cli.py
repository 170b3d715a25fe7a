# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of `./x testbed history …`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from testbed.command_line.console import fail, new_app, new_console, say, warn

# These imports take a second, which --help avoids.
if TYPE_CHECKING:
    from testbed.history.trend import Series

app = new_app("Keep results in a store: list them, show trends and changes of level, write a page of curves.")

StoreOption = Annotated[
    Path | None,
    typer.Option("--store", metavar="FILE", help="The store. Default: results/history.sqlite in the source tree."),
]
TestOption = Annotated[str | None, typer.Option("--test", metavar="NAME", help="Of this test, such as throughput.")]
FigureOption = Annotated[str | None, typer.Option("--figure", metavar="TEXT", help="Figures whose name has this.")]
DeviceOption = Annotated[str | None, typer.Option("--device", metavar="NAME", help="Of this device.")]
SizeOption = Annotated[str | None, typer.Option("--size", metavar="BYTES", help="At this frame size.")]
DpdkOption = Annotated[str | None, typer.Option("--dpdk", metavar="VERSION", help="With this version of DPDK.")]
VersionOption = Annotated[str | None, typer.Option("--program", metavar="VERSION", help="Of this program version.")]
TestbedOption = Annotated[str | None, typer.Option("--testbed", metavar="NAME", help="On this testbed.")]
PresetOption = Annotated[str | None, typer.Option("--preset", metavar="NAME", help="With this preset.")]


@app.command()
def add(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER", help="Results folders.", file_okay=False)],
    store: StoreOption = None,
    testbed: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the testbed that measured them. Default: its processor."),
    ] = None,
) -> None:
    """Add results folders to the store.

    These are folders of rfc2544, overload, compare, run and bench overload. One that is there already is replaced.
    """
    from testbed.history.reading import read_results
    from testbed.history.store import Store
    from testbed.run.results_folder import ResultsError

    console, refused = new_console(), 0
    try:
        with Store(_path(store), create=True) as opened:
            for folder in folders:
                try:
                    run, figures = read_results(folder, testbed)
                except ResultsError as error:
                    # The others can be added all the same.
                    warn(str(error))
                    refused += 1
                    continue
                done = "replaced" if opened.add(run, figures) else "added"
                say(console, f"{folder}: {done}, {len(figures)} figures")
    except ResultsError as error:
        fail(str(error))
    if refused:
        fail(f"{refused} of {len(folders)} folders were not added")


@app.command("list")
def list_runs(store: StoreOption = None) -> None:
    """List the runs in the store."""
    from testbed.history.store import Store
    from testbed.page.tables import Row, Table
    from testbed.run.results_folder import ResultsError

    table = Table("Runs", ["Started", "Kind", "Scenario", "Preset", "Commit", "Figures", "Folder"], text_columns=5)
    table.ends_in_text = True
    try:
        with Store(_path(store)) as opened:
            for run, count in opened.runs():
                commit = f"{run.commit[:10]}{'+' if run.uncommitted else ''}"
                started = f"{run.started:%Y-%m-%d %H:%M}"
                table.rows.append(Row([started, run.kind, run.scenario, run.preset, commit, str(count), run.folder]))
    except ResultsError as error:
        fail(str(error))
    console = new_console()
    console.print(table.rich(console.width))


@app.command()
def trend(
    store: StoreOption = None,
    test: TestOption = None,
    figure: FigureOption = None,
    device: DeviceOption = None,
    size: SizeOption = None,
    dpdk: DpdkOption = None,
    program: VersionOption = None,
    testbed: TestbedOption = None,
    preset: PresetOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print figures over commits and versions, with their changes of level."""
    found = _asked(store, test, figure, device, size, dpdk, program, testbed, preset)
    if as_json:
        typer.echo(json.dumps([one.as_json() for one in found], indent=2))
        return
    console = new_console()
    for one in found:
        console.print(one.table().rich(console.width))
        say(console, *(f"  change: {one.words_of(change)}" for change in one.changes))
        say(console, f"  {one.note}" if one.note else "", "")


@app.command()
def changes(
    store: StoreOption = None,
    test: TestOption = None,
    figure: FigureOption = None,
    device: DeviceOption = None,
    size: SizeOption = None,
    dpdk: DpdkOption = None,
    program: VersionOption = None,
    testbed: TestbedOption = None,
    preset: PresetOption = None,
) -> None:
    """Print the changes of level only, with their confidence."""
    from testbed.history.trend import chance_in_words

    found = _asked(store, test, figure, device, size, dpdk, program, testbed, preset)
    console = new_console()
    for one in found:
        say(console, *(f"{one.key.in_words()}: {one.words_of(change)}" for change in one.changes))
    say(console, chance_in_words(found))


@app.command()
def page(
    file: Annotated[Path, typer.Argument(help="The page to write.", dir_okay=False)],
    store: StoreOption = None,
    test: TestOption = None,
    figure: FigureOption = None,
    device: DeviceOption = None,
    size: SizeOption = None,
    dpdk: DpdkOption = None,
    program: VersionOption = None,
    testbed: TestbedOption = None,
    preset: PresetOption = None,
) -> None:
    """Write a page with the curves and their changes."""
    from testbed.history.page import write_page
    from testbed.run.results_folder import ResultsError

    found = _asked(store, test, figure, device, size, dpdk, program, testbed, preset)
    try:
        write_page(file, found)
    except ResultsError as error:
        fail(str(error))
    say(new_console(), str(file))


def _asked(
    store: Path | None,
    test: str | None,
    figure: str | None,
    device: str | None,
    size: str | None,
    dpdk: str | None,
    program: str | None,
    testbed: str | None,
    preset: str | None,
) -> list[Series]:
    """The series that are asked for; ends the program if there are none."""
    from testbed.history.store import Filter, Store
    from testbed.history.trend import series_of
    from testbed.run.results_folder import ResultsError

    wanted = Filter(test, figure, device, testbed, dpdk, program, preset, size)
    try:
        with Store(_path(store)) as opened:
            found = series_of(opened.points(wanted))
    except ResultsError as error:
        fail(str(error))
    if not found:
        fail("no figure in the store is of what was asked for: leave out an option (history list has the runs)")
    return found


def _path(store: Path | None) -> Path:
    from testbed.run.programs import repository_root

    return store or repository_root() / "results" / "history.sqlite"
