# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The virtual wire: the device arguments that link the generator with a forwarder."""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self


class VirtualWire:
    """memif links between two processes, one a port, over sockets in a private folder that goes away at the end.

    The forwarder is the server: it starts first, and the generator, which comes and goes, connects to it.
    """

    DEVICE = "net_memif"

    def __init__(self, ports: int) -> None:
        self.ports = ports
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def _vdevs(self, role: str) -> tuple[str, ...]:
        assert self._folder is not None, "use it in a with"
        # Sockets in the abstract namespace would need no folder, but any user could take their name first.
        return tuple(
            f"{self.DEVICE}{port},role={role},id={port},socket-abstract=no,"
            f"socket={Path(self._folder.name) / f'wire{port}.sock'}"
            for port in range(self.ports)
        )

    @property
    def forwarder_vdevs(self) -> tuple[str, ...]:
        """Device arguments of the device under test."""
        return self._vdevs("server")

    @property
    def generator_vdevs(self) -> tuple[str, ...]:
        """Device arguments of the generator."""
        return self._vdevs("client")

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="testbed-wire-")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
