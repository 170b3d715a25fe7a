# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x testbed profile`: the settings and traps of a kind of NIC."""

from __future__ import annotations

from typing import Annotated

import typer

from testbed.command_line.console import fail
from testbed.nics.profile import Profile
from testbed.nics.table import NAMES, NoProfile, profile_named


def profile(
    name: Annotated[
        str | None, typer.Argument(help="A name from the list, or vendor and device as printed by lspci -n: 8086:158b.")
    ] = None,
) -> None:
    """Print what is known about a kind of NIC.

    Prints the driver, device arguments, descriptors and known traps. Without a name, prints a list.
    """
    if name is None:
        width = max(map(len, NAMES))
        for key, one in NAMES.items():
            typer.echo(f"{key:<{width}}  {one.name}: {', '.join(sorted(set(one.ids.values())))}")
        return
    try:
        lines = in_words(profile_named(name))
    except NoProfile as error:
        fail(str(error))
    for line in lines:
        typer.echo(line)


def in_words(one: Profile) -> list[str]:
    """A profile as lines of text."""
    keys = [key for key, listed in NAMES.items() if listed is one]
    rates = ", ".join(f"{speed} Gbit/s" for speed in one.speeds_gbps)
    lines = [
        f"{one.name}, in a scenario nic: {keys[0]}",
        f"devices: {', '.join(f'{ids} {what}' for ids, what in one.ids.items())}",
        f"driver: {one.driver} of DPDK, bound to {one.wanted_driver}" + ("" if one.is_virtual else f"; {rates}"),
        f"in front of DPDK's --: -a {one.allow('<PCI address>')}{''.join(f' {word}' for word in one.eal_options)}",
        f"RX descriptors: {one.rx}; {one.rx.advised} are taken",
        f"TX descriptors: {one.tx}; {one.tx.advised} are taken",
        f"queue pairs to begin with: {one.queues}",
    ]
    return lines + [f"mind: {trap.text} ({trap.source})" for trap in one.traps]
