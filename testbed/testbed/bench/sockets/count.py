# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Instructions of dpdk-sockets for a request of 100 bytes and its answer, and for a byte in bulk, counted by callgrind
without a device.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from testbed.bench.count.collect import collected, counted
from testbed.bench.count.gate import BYTE, REQUEST, figures_path, growth, read_figures, renew_figures, versions
from testbed.bench.count.instructions import CountError
from testbed.bench.sockets.record import ByteCount, Count
from testbed.run.programs import Program

CONNECTIONS = (1, 100, 10_000, 100_000)
QUICK_CONNECTIONS = (1, 100)
# The poll interface, the async sockets, and the poll interface on a device that looks after checksums.
SERVERS = ("polled", "async", "offloaded")
REQUESTS = 5_000

# Of a stream: what the device does, and what is counted in testbed/load/src/bin/byte_costs.rs.
DEVICES = ("software", "offloaded", "segmented")
DIRECTIONS = {"sending": "byte_costs::send", "receiving": "byte_costs::receive"}
BYTES = 4_000_000

# What is counted: the function of testbed/load/src/bin/costs.rs that handles one request.
_REQUEST = "costs::request"
_BYTES = re.compile(r"^(\d+) bytes$", re.MULTILINE)


@dataclass(frozen=True)
class Counted:
    """The programs that are counted."""

    requests: Program
    bytes: Program


def row_name(one: Count) -> str:
    """Its name in testbed/counts.json."""
    return f"dpdk-sockets {one.server}, {one.connections} connections"


def byte_row_name(one: ByteCount) -> str:
    """Its name in testbed/counts.json."""
    return f"dpdk-sockets {one.direction}, {one.device}"


def count_requests(program: Program, server: str, connections: int, requests: int = REQUESTS) -> Count:
    """Counts the requests of one server, on connections in random order.

    Raises `CountError`, and `BinaryError` without valgrind.
    """
    told = counted(_REQUEST, program, str(connections), str(requests), server)
    return Count(server=server, connections=connections, instructions=collected(told, program, _REQUEST) / requests)


def count_bytes(program: Program, direction: str, device: str, length: int = BYTES) -> ByteCount:
    """Counts one end of a stream.

    Raises as `count_requests`.
    """
    function = DIRECTIONS[direction]
    told = counted(function, program, str(length), device)
    carried = _BYTES.search(told)
    if carried is None:
        raise CountError(f"{program.path}: it does not say how many bytes it has carried")
    instructions = collected(told, program, function) / int(carried[1])
    return ByteCount(direction=direction, device=device, instructions=instructions)


def run_counts(
    programs: Counted,
    connections: Sequence[int],
    console: Console,
    json_path: Path | None = None,
    *,
    renew: bool = False,
) -> tuple[list[Count], list[ByteCount]]:
    """Counts, prints and writes.

    Raises `CountError`, `BinaryError`, `FiguresError` and `OSError`.
    """
    key = versions()
    counts = []
    for number in connections:
        for server in SERVERS:
            with console.status(f"counting {server}, {number} connections"):
                counts.append(count_requests(programs.requests, server, number))
    byte_counts = []
    for direction in DIRECTIONS:
        for device in DEVICES:
            with console.status(f"counting bytes: {direction}, {device}"):
                byte_counts.append(count_bytes(programs.bytes, direction, device))
    before = read_figures(figures_path()).get(key, {})
    console.print(_table(counts, before))
    for server in SERVERS:
        console.print(flatness(server, [one for one in counts if one.server == server]), highlight=False)
    console.print(_byte_table(byte_counts, before))
    console.print(
        f"{key}; requests of 100 bytes that are sent back, and bytes in bulk, without a device, counted by callgrind"
    )
    if json_path is not None:
        rows = {"counts": counts, "byte_counts": byte_counts}
        lists = {name: [one.model_dump() for one in found] for name, found in rows.items()}
        json_path.write_text(json.dumps({"schema": 1, "versions": key, **lists}, indent=2) + "\n")
    if renew:
        figures = {row_name(one): {REQUEST: round(one.instructions, 1)} for one in counts}
        figures |= {byte_row_name(one): {BYTE: round(one.instructions, 4)} for one in byte_counts}
        renew_figures(figures_path(), key, figures)
        console.print(f"renewed {figures_path()}")
    return counts, byte_counts


def flatness(server: str, counts: Sequence[Count]) -> str:
    """By how much the cost grows from the fewest connections to the most."""
    change = growth(counts[-1].instructions, counts[0].instructions)
    return f"{server}: {100 * change:+.1f} % from {counts[0].connections} to {counts[-1].connections} connections"


def _table(counts: Sequence[Count], before: dict[str, dict[str, float]]) -> Table:
    table = Table(title="Instructions per request")
    for column in ("connections", *(column for server in SERVERS for column in (server, "checked in"))):
        table.add_column(column, justify="right")
    for connections in dict.fromkeys(one.connections for one in counts):
        cells = [f"{connections:,}"]
        for one in (one for one in counts if one.connections == connections):
            then = before.get(row_name(one), {}).get(REQUEST)
            cells += [f"{one.instructions:,.0f}", _change(one.instructions, then, ",.0f")]
        table.add_row(*cells)
    return table


def _byte_table(counts: Sequence[ByteCount], before: dict[str, dict[str, float]]) -> Table:
    table = Table(title="Instructions per byte in bulk")
    for column in ("direction", "device", "instructions", "checked in"):
        table.add_column(column, justify="left" if column in ("direction", "device") else "right")
    for one in counts:
        then = before.get(byte_row_name(one), {}).get(BYTE)
        change = _change(one.instructions, then, ".2f")
        table.add_row(one.direction, one.device, f"{one.instructions:.2f}", change)
    return table


def _change(now: float, then: float | None, form: str) -> str:
    return "none" if then is None else f"{then:{form}} ({100 * growth(now, then):+.1f} %)"
