# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The terminal or log that a command prints to, and its end with an error. It needs only typer, for any machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from rich.console import Console

# A log file has no width. Below this one, tables would wrap.
_LOG_WIDTH = 160


def new_app(help_text: str | None = None) -> typer.Typer:
    """Commands without typer's decoration."""
    return typer.Typer(
        help=help_text,
        no_args_is_help=help_text is not None,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )


def new_console() -> Console:
    """The terminal, or a log file that is wide enough for tables."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=_LOG_WIDTH)


def say(console: Console, *lines: str) -> None:
    """Prints lines as they are, however long."""
    for line in lines:
        console.print(line, highlight=False, markup=False, soft_wrap=True)


def say_warning(console: Console, *lines: str) -> None:
    """Prints warnings, among what else is printed."""
    for line in lines:
        console.print("[yellow]warning:[/]", end=" ")
        say(console, line)


def warn(message: str) -> None:
    """Prints a message to stderr."""
    typer.echo(f"testbed: {message}", err=True)


def fail(message: str, status: int = 1) -> NoReturn:
    """Ends the program with an error."""
    warn(message)
    raise typer.Exit(status)
