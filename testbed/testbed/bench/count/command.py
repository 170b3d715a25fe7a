# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x bench overload --count`: instructions per packet of the twins, as a table, a tree and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.tree import Tree

from testbed.bench.count.binary import Component
from testbed.bench.count.callgrind import Function
from testbed.bench.count.gate import figures_path, growth, read_figures, renew_figures, row_name, versions
from testbed.bench.count.instructions import EAL_WORDS, LOOPS, Counted, count, count_other
from testbed.comparison.condition import NET_NULL, Condition
from testbed.comparison.contestants import Contestant, Setup
from testbed.comparison.ipv4 import write_capture
from testbed.run.eal import EalOptions, unique_file_prefix
from testbed.run.lcores import plan_lcores
from testbed.run.scratch import scratch_folder

CONTESTANTS = ("l2fwd-rs", "l2fwd-c", "l2fwd-rs:static", "l2fwd-c:static")
CHECKED_IN_BURSTS = (32, 1)
COMPONENTS = (Component.APPLICATION, Component.LIBRARY, Component.DEVICE)

# What is executed less than once in so many packets is left out of the tree.
_RARE = 0.005


@dataclass(frozen=True)
class CountOptions:
    """What is counted, and where it goes."""

    bursts: tuple[int, ...] = (32,)
    json_path: Path | None = None
    renew: bool = False
    # net_null, or net_pcap for who looks into frames.
    wire: str = NET_NULL


def count_setup(burst: int, devices: tuple[str, ...] = ("net_null0",)) -> Setup:
    """How a forwarder is started to be counted."""
    lcores = plan_lcores()
    eal = EalOptions(lcores.forwarder, unique_file_prefix("count"), devices, hugepages=False, more=EAL_WORDS)
    return Setup(eal, (lcores.forwarder,), lcores.generator, ports=len(devices), burst=burst)


def count_contestant(contestant: Contestant, setup: Setup, folder: Path) -> Counted:
    """Counts one contestant.

    Raises `CountError`, `ProcessError` and `BinaryError`.
    """
    what = f"{contestant.name.replace(':', '-')}-{setup.burst}"
    if contestant.program is None or contestant.program.name not in LOOPS:
        return count_other(contestant, setup, folder, what)
    argv = [*contestant.argv(setup), "--stats-json", "-"]
    return count(contestant.name, LOOPS[contestant.program.name], argv, folder, what)


def run_count(contestants: Sequence[Contestant], options: CountOptions, console: Console) -> None:
    """Counts, prints and writes what `options` ask for.

    Raises `CountError`, `ProcessError`, `BinaryError`, `FiguresError`, `ContestantError` and `OSError`.
    """
    key = versions()
    rows: dict[str, Counted] = {}
    bursts: dict[str, int] = {}
    condition = Condition(wire=options.wire)
    with scratch_folder() as folder:
        capture = folder / "ipv4.pcap"
        write_capture(capture, condition.frame_bytes)
        for burst in options.bursts:
            for contestant in contestants:
                name = row_name(contestant.name, burst)
                with console.status(f"counting {name}"):
                    setup = count_setup(burst, condition.endless_vdevs(capture))
                    rows[name] = count_contestant(contestant, setup, folder)
                bursts[name] = burst
    for name, row in rows.items():
        console.print(call_tree(row, name))
    before = read_figures(figures_path()).get(key, {}) if options.wire == NET_NULL else {}
    console.print(count_table(rows, before))
    console.print(f"{key}; {options.wire}, counted by callgrind")
    if options.json_path is not None:
        results = [{"burst": bursts[name], **as_json(row)} for name, row in rows.items()]
        options.json_path.write_text(json.dumps({"schema": 1, "versions": key, "counts": results}, indent=2) + "\n")
    if options.renew:
        renew_figures(figures_path(), key, {name: rounded(row) for name, row in rows.items()})
        console.print(f"renewed {figures_path()}")


def rounded(row: Counted) -> dict[str, float]:
    """Instructions per packet by component, as they are compared and written."""
    costs = row.per_packet()
    return {component.value: round(costs[component], 2) for component in COMPONENTS}


def count_table(rows: dict[str, Counted], before: dict[str, dict[str, float]]) -> Table:
    """The rows, and how the application's share has changed since the figures that are checked in."""
    table = Table(title="Instructions per packet")
    table.add_column("")
    for component in COMPONENTS:
        table.add_column(component.value, justify="right")
    table.add_column("all", justify="right")
    table.add_column("application, checked in", justify="right")
    for name, row in rows.items():
        costs = rounded(row)
        checked_in = before.get(name, {}).get(Component.APPLICATION.value)
        if checked_in is None:
            then = "none"
        else:
            then = f"{checked_in:.2f} ({100 * growth(costs[Component.APPLICATION.value], checked_in):+.1f} %)"
        table.add_row(name, *(f"{cost:.2f}" for cost in costs.values()), f"{row.total_per_packet:.2f}", then)
    return table


def call_tree(row: Counted, title: str) -> Tree:
    """The functions below the forwarding loop, each with what a packet costs in it."""
    top = row.loop
    tree = Tree(f"{title}, {row.packets} packets: instructions per packet, of which its own, calls per packet")
    _grow(tree, row, (top,), row.profile.total / row.packets, 0, 1)
    return tree


def _grow(tree: Tree, row: Counted, path: tuple[Function, ...], cost: float, calls: float, share: float) -> None:
    """Adds the last function of `path`. `share` is how much of all that it did was done for this path."""
    function = path[-1]
    own = share * row.profile.self_cost[function] / row.packets
    place = f"{row.component(function)}, {Path(function.object).name}"
    branch = tree.add(f"{cost:.2f}  {own:.2f}  {calls:.3f}  {function.name} ({place})", highlight=False)
    for callee, call in sorted(row.profile.callees(function).items(), key=lambda item: -item[1].cost):
        callee_cost = share * call.cost / row.packets
        if callee_cost >= _RARE and callee not in path:
            callee_share = share * call.count / row.profile.calls_of(callee)
            _grow(branch, row, (*path, callee), callee_cost, share * call.count / row.packets, callee_share)


def as_json(row: Counted) -> dict[str, Any]:
    """A row for machines, with every function that was executed."""
    return {
        "contestant": row.name,
        "packets": row.packets,
        "polls": row.polls,
        "instructions_per_packet": {**rounded(row), "all": round(row.total_per_packet, 2)},
        "functions": list(_functions(row)),
    }


def _functions(row: Counted) -> Iterator[dict[str, Any]]:
    for function, cost in row.profile.self_cost.most_common():
        yield {
            "part": row.component(function),
            "object": Path(function.object).name,
            "name": function.name,
            "own_per_packet": round(cost / row.packets, 4),
            "calls_per_packet": round(row.profile.calls_of(function) / row.packets, 4),
        }
