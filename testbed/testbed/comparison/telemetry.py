# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Counters of any DPDK program while it runs: its telemetry socket, read together with the clocks.

The answer comes from a control thread, which DPDK keeps off the CPUs that forward. No forwarder has to cooperate.
"""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TIMEOUT_S = 10.0
# Until the greeting gives the maximum length of an answer.
_GREETING_BYTES = 1024


class TelemetryError(Exception):
    """The program does not answer, or not as DPDK's telemetry does."""


def socket_path(runtime: Path, file_prefix: str) -> Path:
    """Where the program listens that was started with RUNTIME_DIRECTORY and --file-prefix set to these."""
    return runtime / "dpdk" / file_prefix / "dpdk_telemetry.v2"


@dataclass(frozen=True)
class Reading:
    """All ports together at one moment."""

    # CLOCK_MONOTONIC_RAW, amid asking and answering, and how far off that may be.
    time_ns: int
    error_ns: int
    # CPU time of the whole process.
    cpu_ns: int
    rx_packets: int
    tx_packets: int
    # The devices' own: frames missed, not sent, or without an mbuf.
    rx_missed: int
    tx_errors: int
    rx_no_mbuf: int


class Telemetry:
    """A connection."""

    def __init__(self, path: Path, timeout_s: float = _TIMEOUT_S) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(timeout_s)
        try:
            self._socket.connect(str(path))
            greeting = json.loads(self._socket.recv(_GREETING_BYTES))
            self._most_bytes = int(greeting["max_output_len"])
            self.pid = int(greeting["pid"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            self._socket.close()
            raise TelemetryError(f"no DPDK telemetry at '{path}': {error}") from error

    def close(self) -> None:
        """Ends the connection."""
        self._socket.close()

    def ask(self, command: str) -> Any:
        """The answer to a command such as '/ethdev/stats,0'; None if there is none."""
        try:
            self._socket.send(command.encode())
            answer = json.loads(self._socket.recv(self._most_bytes))
        except (OSError, ValueError) as error:
            raise TelemetryError(f"no answer to '{command}': {error}") from error
        return answer.get(command.partition(",")[0]) if isinstance(answer, dict) else None

    def ports(self) -> list[int]:
        """The numbers of the ports that there are."""
        return self.ask("/ethdev/list") or []

    def read(self, ports: Sequence[int]) -> Reading:
        """The counters of these ports, and the clocks."""
        before = _now()
        answers = [self.ask(f"/ethdev/stats,{port}") for port in ports]
        after = _now()
        cpu_ns = time.clock_gettime_ns(_cpu_clock(self.pid))
        if not all(answers):
            raise TelemetryError("a port reports no statistics")

        def total(name: str) -> int:
            return sum(int(answer[name]) for answer in answers)

        return Reading(
            time_ns=(before + after) // 2,
            error_ns=(after - before) // 2,
            cpu_ns=cpu_ns,
            rx_packets=total("ipackets"),
            tx_packets=total("opackets"),
            rx_missed=total("imissed"),
            tx_errors=total("oerrors"),
            rx_no_mbuf=total("rx_nombuf"),
        )


def _now() -> int:
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


def _cpu_clock(pid: int) -> int:
    """The clock of a process's CPU time, as clock_getcpuclockid(3) makes it: exact while the process runs, unlike what
    stands in /proc."""
    return (~pid << 3) | 2


def cpu_ns(pid: int) -> int:
    """CPU time of a process."""
    return time.clock_gettime_ns(_cpu_clock(pid))
