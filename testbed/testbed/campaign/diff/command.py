# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x testbed diff A B`: two finished results folders, as a table or as JSON."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from testbed.command_line.console import fail, new_console, say

# These imports take a second, which --help avoids.
if TYPE_CHECKING:
    from testbed.campaign.diff.outcome import Diff, Line, Side
    from testbed.campaign.diff.values import Value

_HASH_LENGTH = 64
_SHOWN_OF_HASH = 12

FolderArgument = Annotated[Path, typer.Argument(help="The folder of a finished campaign.", file_okay=False)]


def diff(
    a: FolderArgument,
    b: FolderArgument,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare the results of two finished campaigns.

    Prints the differences between their environments, then between their figures.
    """
    from testbed.campaign.diff.outcome import compare_folders
    from testbed.run.results_folder import ResultsError

    try:
        found = compare_folders(a, b)
    except ResultsError as error:
        fail(str(error))
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        print_diff(found, new_console())


def print_diff(found: Diff, console: Console) -> None:
    """Prints what is compared, a caution, the differences, the figures, and a summary."""
    for name, side in (("A", found.a), ("B", found.b)):
        say(console, f"{name}: {_side_in_words(side)}")
    say(console, "", found.caution, "")
    if found.environment:
        rows = [[one.what, _short(one.a), _short(one.b)] for one in found.environment]
        console.print(_table("Differences between the environments", ["", "A", "B"], rows))
    else:
        say(console, "The recorded environments do not differ.", "")
    columns = ["Test", "Frames", "Device", "Figure", "A", "B", "B / A", "Difference"]
    console.print(_table("Figures", columns, [_cells(line) for line in found.lines], figures=range(4, 7)))
    for name, keys in (("A", found.only_a), ("B", found.only_b)):
        if keys:
            say(console, f"Only {name} has: {'; '.join(keys)}.")
    say(console, found.sentence)


def _table(title: str, columns: list[str], rows: list[list[str]], figures: Container[int] = ()) -> Table:
    """A table whose texts fold where they are too long."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(Text(column), overflow="fold", justify="right" if index in figures else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _cells(line: Line) -> list[str]:
    head = [line.test, line.frames, line.device, line.figure]
    ratio = "–" if line.ratio is None else f"{line.ratio:.4f}"
    return [*head, _figure(line.a), _figure(line.b), ratio, str(line.outcome)]


def _figure(value: Value) -> str:
    """With its unit, and with the range that the folder records."""
    scale, unit, digits = _SHOWN[value.unit]
    return f"{value.value / scale:,.{digits}f} {unit}".rstrip()


_SHOWN = {
    "frames/s": (1e6, "Mpps", 4),
    "ns": (1e3, "µs", 2),
    "s": (1, "s", 4),
    "frames": (1, "frames", 0),
    "%": (1, "%", 3),
    "ratio": (1, "", 4),
}


def _side_in_words(side: Side) -> str:
    when = f"{side.started:%Y-%m-%d %H:%M} UTC, " if side.started else ""
    drift = f"drift {100 * side.drift:.1f} %" if side.drift is not None else "drift not measured"
    words = f"{side.folder}: {side.kind}, {when}scenario {side.scenario}, preset {side.preset}, {side.machine}, {drift}"
    return f"{words}; not passed: {side.note}" if side.note else words


def _short(text: str) -> str:
    """The beginning of a hash; other texts whole."""
    is_hash = len(text) == _HASH_LENGTH and all(digit in "0123456789abcdef" for digit in text)
    return f"{text[:_SHOWN_OF_HASH]}…" if is_hash else text
