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

# What these need takes a second to import, which --help need not.
if TYPE_CHECKING:
    from testbed.campaign.diff import Diff, Line, Side
    from testbed.campaign.diff_values import Value

# A log file has no width to respect.
_LOG_WIDTH = 160
_HASH_LENGTH = 64
_SHOWN_OF_HASH = 12

FolderArgument = Annotated[Path, typer.Argument(help="The folder of a finished campaign.", file_okay=False)]


def diff(
    a: FolderArgument,
    b: FolderArgument,
    as_json: Annotated[bool, typer.Option("--json", help="The same as JSON, for programs.")] = False,
) -> None:
    """What differs between two finished campaigns: first around them, then figure by figure."""
    from testbed.campaign.diff import compare_folders
    from testbed.results import ResultsError

    try:
        found = compare_folders(a, b)
    except ResultsError as error:
        typer.echo(f"testbed: {error}", err=True)
        raise typer.Exit(1) from error
    if as_json:
        typer.echo(found.model_dump_json(indent=2))
    else:
        print_diff(found, _console())


def print_diff(found: Diff, console: Console) -> None:
    """The text: what is compared, the caution, what differed, the figures, the sum."""
    for name, side in (("A", found.a), ("B", found.b)):
        _say(console, f"{name}: {_side_in_words(side)}")
    _say(console, "", found.caution, "")
    if found.environment:
        rows = [[one.what, _short(one.a), _short(one.b)] for one in found.environment]
        console.print(_table("What differed around them", ["", "A", "B"], rows))
    else:
        _say(console, "Nothing around them differed that the folders tell of.", "")
    columns = ["Test", "Frames", "Device", "Figure", "A", "B", "B / A", "Difference"]
    console.print(_table("Figures", columns, [_cells(line) for line in found.lines], figures=range(4, 7)))
    for name, keys in (("A", found.only_a), ("B", found.only_b)):
        if keys:
            _say(console, f"Only {name} has: {'; '.join(keys)}.")
    _say(console, found.sentence)


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
    """With its unit, and with the range that the folder tells of."""
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
    """A hash's beginning tells it from another."""
    is_hash = len(text) == _HASH_LENGTH and all(digit in "0123456789abcdef" for digit in text)
    return f"{text[:_SHOWN_OF_HASH]}…" if is_hash else text


def _say(console: Console, *lines: str) -> None:
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=_LOG_WIDTH)
