# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Instructions of dpdk-sockets for a request of 100 bytes and its answer, counted by callgrind without a device."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from testbed.bench.count.binary import run_tool
from testbed.bench.count.gate import REQUEST, figures_path, growth, read_figures, renew_figures, versions
from testbed.bench.count.instructions import CountError
from testbed.bench.sockets.record import Count
from testbed.run.programs import Program

CONNECTIONS = (1, 100, 10_000, 100_000)
QUICK_CONNECTIONS = (1, 100)
# The poll interface, the async sockets, and the poll interface on a device that looks after checksums.
SERVERS = ("polled", "async", "offloaded")
REQUESTS = 5_000

# What is counted: the function of testbed/load/src/bin/costs.rs that handles one request.
_REQUEST = "costs::request"
_COLLECTED = re.compile(r"Collected\s*:\s*(\d+)")


def row_name(one: Count) -> str:
    """Its name in testbed/counts.json."""
    return f"dpdk-sockets {one.server}, {one.connections} connections"


def count_requests(program: Program, server: str, connections: int, requests: int = REQUESTS) -> Count:
    """Counts the requests of one server, on connections in random order.

    Raises `CountError`, and `BinaryError` without valgrind.
    """
    tool = ("valgrind", "--tool=callgrind", "--log-fd=1", "--callgrind-out-file=/dev/null", "--collect-atstart=no")
    words = (f"--toggle-collect={_REQUEST}", str(program.path), str(connections), str(requests), server)
    told = run_tool(*tool, *words)
    found = _COLLECTED.search(told)
    if found is None or not int(found[1]):
        raise CountError(f"{program.path}: no function '{_REQUEST}' was executed: is it stripped, or inlined?")
    return Count(server=server, connections=connections, instructions=int(found[1]) / requests)


def run_counts(
    program: Program,
    connections: Sequence[int],
    console: Console,
    json_path: Path | None = None,
    *,
    renew: bool = False,
) -> list[Count]:
    """Counts, prints and writes.

    Raises `CountError`, `BinaryError`, `FiguresError` and `OSError`.
    """
    key = versions()
    counts = []
    for number in connections:
        for server in SERVERS:
            with console.status(f"counting {server}, {number} connections"):
                counts.append(count_requests(program, server, number))
    console.print(_table(counts, read_figures(figures_path()).get(key, {})))
    for server in SERVERS:
        console.print(flatness(server, [one for one in counts if one.server == server]), highlight=False)
    console.print(f"{key}; requests of 100 bytes that are sent back, without a device, counted by callgrind")
    if json_path is not None:
        rows = [one.model_dump() for one in counts]
        json_path.write_text(json.dumps({"schema": 1, "versions": key, "counts": rows}, indent=2) + "\n")
    if renew:
        renew_figures(figures_path(), key, {row_name(one): {REQUEST: round(one.instructions, 1)} for one in counts})
        console.print(f"renewed {figures_path()}")
    return counts


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
            change = "none" if then is None else f"{then:,.0f} ({100 * growth(one.instructions, then):+.1f} %)"
            cells += [f"{one.instructions:,.0f}", change]
        table.add_row(*cells)
    return table
