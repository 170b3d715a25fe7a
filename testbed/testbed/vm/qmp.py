# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""QEMU's own line (QMP): takes a cable out, or a whole NIC."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any, Self

from testbed.run.process import ProcessError

_TIMEOUT_S = 30.0


class Qmp:
    """The line of a guest that was started with `options`. Open it after the guest."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "qmp"
        self.options = ["-qmp", f"unix:{self._path},server=on,wait=off"]

    def __enter__(self) -> Self:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(_TIMEOUT_S)
        self._socket.connect(str(self._path))
        self._file = self._socket.makefile()
        self._read("QMP")
        self.ask("qmp_capabilities")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._socket.close()

    def ask(self, command: str, **arguments: Any) -> Any:
        """Has QEMU execute a command, and returns what it returned.

        Raises `ProcessError` with its words.
        """
        self._socket.sendall(json.dumps({"execute": command, "arguments": arguments}).encode())
        answer = self._read("return", "error")
        if "error" in answer:
            raise ProcessError(f"QEMU: '{command}' failed: {answer['error']['desc']}")
        return answer["return"]

    def wait_for(self, event: str) -> None:
        """Waits for QEMU to report an event."""
        while self._read("event")["event"] != event:
            pass

    def _read(self, *kinds: str) -> dict[str, Any]:
        """The next message of a kind; events in between are passed over."""
        for line in self._file:
            message: dict[str, Any] = json.loads(line)
            if any(kind in message for kind in kinds):
                return message
        raise ProcessError("QEMU closed its line")
