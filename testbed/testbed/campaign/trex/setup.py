# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What TRex is joined to, and how."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from testbed.campaign.headers import PLAIN, Headers
from testbed.campaign.sizes import Size
from testbed.campaign.traffic_generator import GeneratorError, Pauses
from testbed.campaign.trex.device import JoinedDevice
from testbed.campaign.trex.settings import Trex
from testbed.run.programs import ProgramMissing

_CLIENT = "automation/trex_control_plane/interactive/trex"


@dataclass(frozen=True)
class TrexSetup:
    """What is joined, and how."""

    device: str
    settings: Trex
    home: Path
    # None: somebody else runs it.
    joined: JoinedDevice | None
    # Of all trials to come: their highest rates are found out before the first.
    sizes: tuple[Size, ...]
    flows: tuple[int, ...]
    directions: int
    pauses: Pauses
    # A new folder for the logs.
    logs: Path
    headers: Headers = PLAIN


def check_trex(settings: Trex) -> None:
    """Before anything is made or started: whether its folder is known, and has its Python client.

    Raises `ProgramMissing`.
    """
    try:
        home = trex_home(settings)
    except GeneratorError as error:
        raise ProgramMissing(str(error)) from error
    if not (home / _CLIENT).is_dir():
        raise ProgramMissing(f"{home} has no {_CLIENT}: give the folder that has t-rex-64")


def trex_home(settings: Trex) -> Path:
    """Where TRex lies.

    Raises `GeneratorError` if nobody says.
    """
    told = settings.trex_home or os.environ.get("TREX_HOME")
    if not told:
        raise GeneratorError(
            "the folder of TRex is unknown: name it as trex_home in the scenario, or in the variable TREX_HOME"
        )
    return Path(told).expanduser().absolute()
