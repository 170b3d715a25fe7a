# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The connection of TRex's client to its server, and to the server's ports."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from testbed.campaign.trex.bridge import TrexBridge, TrexError
from testbed.campaign.trex.settings import Trex

# Beside the load and the pauses a request takes this long at most.
REQUEST_S = 30.0
# Between two looks at a link that is not up yet.
_LOOK_S = 0.2


def connect(bridge: TrexBridge, settings: Trex, watch: Callable[[], None]) -> dict[str, Any]:
    """Connects; a server that was just started may take some time."""
    words = settings.model_dump(include={"user", "sync_port", "async_port"}) | {"server": settings.address}
    deadline = time.monotonic() + (settings.launch.patience_s if settings.launch is not None else 0.0)
    while True:
        try:
            return bridge.ask("connect", REQUEST_S, watch, **words)
        except TrexError as error:
            if error.kind != "unreachable" or time.monotonic() >= deadline:
                raise


def acquire(bridge: TrexBridge, settings: Trex, watch: Callable[[], None]) -> list[dict[str, Any]]:
    """Takes the ports; a link that was just made may take a moment."""
    deadline = time.monotonic() + (settings.launch.patience_s if settings.launch is not None else 0.0)
    while True:
        try:
            asked = {"ports": settings.ports, "force": settings.force}
            return bridge.ask("acquire", REQUEST_S, watch, **asked)["ports"]
        except TrexError as error:
            if error.kind != "link" or time.monotonic() >= deadline:
                raise
            time.sleep(_LOOK_S)
