# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Where the programs of a device run: on this machine (`LocalHost`), or on another host (`remote.host.RemoteHost`)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, Self

from testbed.run.process import Process, Watched


class ProgramHost(Protocol):
    """A machine while a device is used there; a `with` leaves it as it was found."""

    # Whether DPDK may use hugepages there; None: as on this machine.
    hugepages: bool | None

    def install(self, program: Path) -> str:
        """Brings a program there, and returns the path that it has there.

        Raises `ProcessError`.
        """
        ...

    def process(self, name: str, argv: Sequence[str], log_dir: Path, interactive: bool = False) -> Watched:
        """A program that is to be started there; with `interactive` it reads commands from its stdin."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *details: object) -> None: ...


class LocalHost:
    """This machine."""

    hugepages: bool | None = None

    def __init__(self, stops: bool = False) -> None:
        # Whether its programs are stopped at times: then only SIGKILL ends them if this program is killed.
        self._stops = stops

    def install(self, program: Path) -> str:
        """It is there."""
        return os.fspath(program)

    def process(self, name: str, argv: Sequence[str], log_dir: Path, interactive: bool = False) -> Watched:
        """A program that is to be started."""
        process = Process(name, argv, log_dir, interactive=interactive)
        if self._stops:
            process.death_signal = "KILL"
        return process

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was changed."""
