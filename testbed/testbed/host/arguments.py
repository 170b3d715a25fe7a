# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""NICs and cores of the command line."""

from __future__ import annotations

import typer

from testbed.host.pci import full_address
from testbed.host.processors import read_cpu_list


def read_nics(given: list[str] | None) -> tuple[str, ...]:
    """Full PCI addresses, each once.

    Raises `typer.BadParameter`.
    """
    found = []
    for text in given or []:
        address = full_address(text)
        if address is None:
            raise typer.BadParameter(
                f"'{text}' is not a PCI address: give one such as 0000:18:00.0", param_hint="--nic"
            )
        found.append(address)
    return tuple(dict.fromkeys(found))


def read_cores(given: str | None) -> tuple[int, ...]:
    """CPU numbers, sorted.

    Raises `typer.BadParameter`.
    """
    try:
        return tuple(read_cpu_list(given)) if given is not None else ()
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--cores") from error
