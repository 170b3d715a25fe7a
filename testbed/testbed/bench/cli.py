# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The command line of `./x bench …`. Each benchmark adds a command."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from testbed.bench.contestants import Contestant, ContestantError, Setup, external, find_contestant, known_names
from testbed.eal import EalOptions, hugepages_wanted
from testbed.lcores import plan_lcores

bench = typer.Typer(
    help="Measurements, with raw data and a report.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

DEFAULT_CONTESTANTS = ("l2fwd-rs", "l2fwd-c", "testpmd-mac")


@bench.callback()
def _bench() -> None:
    """Keeps `overload` a command of its own while it has few neighbours."""


@bench.command()
def overload(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="CONTESTANT…", help=f"Of {', '.join(known_names())}.", show_default=False),
    ] = None,
    externals: Annotated[
        list[str] | None,
        typer.Option("--external", metavar="NAME=COMMAND", help="Another forwarder, with {eal} in its command line."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the command lines and end.")] = False,
) -> None:
    """Forwarders against each other, as fast as they can."""
    contestants = chosen(names, externals)
    lcores = plan_lcores()
    eal = EalOptions(lcores.forwarder, "bench", ("net_null0",), hugepages_wanted(), telemetry=True)
    setup = Setup(eal, (lcores.forwarder,), lcores.generator)
    if dry_run:
        for contestant in contestants:
            print(f"{contestant.name}: {shlex.join(contestant.argv(setup))}")
        return
    raise typer.BadParameter("only --dry-run works so far", param_hint="overload")


def chosen(names: list[str] | None, externals: list[str] | None) -> list[Contestant]:
    """The contestants that the command line names.

    Raises `typer.BadParameter`.
    """
    try:
        others = [external(text) for text in externals or []]
        named = [find_contestant(name) for name in names or DEFAULT_CONTESTANTS]
    except ContestantError as error:
        raise typer.BadParameter(str(error)) from error
    found = [*named, *others]
    if len({contestant.name for contestant in found}) < len(found):
        raise typer.BadParameter("a contestant is named twice: the noise floor compares the first with itself anyway")
    if len(found) < 2:
        raise typer.BadParameter("name at least two contestants")
    return found
