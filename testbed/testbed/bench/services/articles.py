# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the three articles found that compare languages by such services, beside what a run found.

Their machines were others, and so were their clients: figures stand side by side, and are not divided by each other.
"""

from __future__ import annotations

from collections.abc import Callable

from testbed.bench.services.contestants import ADDER, DPDK, ECHO, KERNEL, PROXY
from testbed.bench.services.record import ServiceFigures, ServicesRecord
from testbed.bench.services.tables import STACKS, STATISTICS, program_of, ramp_of
from testbed.bench.sockets.record import Latency
from testbed.page.tables import ABSENT, Row, Table

# Language, program, requests a second, CPU in per cent of a core; then our programs.
_ADDER = (
    ("Rust", "Tokio and Warp", 75_000, 155, ("rust", "hyper")),
    ("C++", "Boost.Beast", 47_000, 100, ("cpp",)),
    ("Java", "Bayou, one thread", 59_000, 100, ("java",)),
    ("JavaScript", "Express", 10_000, 106, ("node",)),
    ("Python", "FastAPI, Python 3.8", 9_000, 100, ("python",)),
    ("Python", "FastAPI, Python 3.11", 11_000, 100, ("python",)),
)
# Language, the lowest and highest average of its machines in MB/s; then our programs.
_ECHO = (("C++", 215.2, 648.8, ("cpp",)), ("Rust", 227.0, 588.3, ("pool", "rust")))
# Statistic, nginx alone, with a proxy in C, C++ or Rust, in µs at 25,000 requests a second.
_PROXY = (("p50", 190, "240 to 246"), ("p99", 459, "554 to 594"), ("p99_99", 945, "1,380 to 1,620"))


def article_tables(record: ServicesRecord) -> list[Table]:
    """The article about this service, beside the run."""
    made = {ADDER: _adder, ECHO: _echo, PROXY: _proxy}[record.service](record)
    return [table for table in made if table.rows]


def _adder(record: ServicesRecord) -> list[Table]:
    cell = _cells(record, lambda one: not one.message and one.connections == 100, 1)
    rows = [
        Row([language, program, f"{rate:,}", f"{cpu}", f"{100 * rate / cpu:,.0f}", *cell(ours)])
        for language, program, rate, cpu, ours in _ADDER
    ]
    columns = ["Language", "Article 001", "Requests/s", "CPU [%]", "per CPU second", *_OURS]
    title = "'Rust and microservices' beside this run with 100 connections: requests per second of CPU time"
    return [Table(title, columns, rows, text_columns=2)]


def _echo(record: ServicesRecord) -> list[Table]:
    cell = _cells(record, lambda one: one.message == 4096 and one.connections == 16, 4096 / 1e6)
    rows = [Row([language, f"{low:.0f} to {high:.0f}", *cell(ours)]) for language, low, high, ours in _ECHO]
    title = "'CommCompare' beside this run, 16 clients with messages of 4 KiB: MB/s, and MB per second of CPU time"
    return [Table(title, ["Language", "Article 000, MB/s", *_OURS], rows)]


_OURS = [f"{STACKS[KERNEL]}, here", f"{STACKS[DPDK]}, here"]


def _cells(
    record: ServicesRecord, is_meant: Callable[[ServiceFigures], bool], unit: float
) -> Callable[[tuple[str, ...]], list[str]]:
    """Makes the cells of our programs: 'rust 60,000, hyper 40,000' on each stack."""
    found = {(program_of(one.name), one.stack): one for one in record.services if is_meant(one)}

    def cells(programs: tuple[str, ...]) -> list[str]:
        of_stacks = []
        for stack in (KERNEL, DPDK):
            costs = {
                program: found[program, stack].cpu_s_per_request for program in programs if (program, stack) in found
            }
            told = [f"{program} {unit / cost:,.0f}" for program, cost in costs.items() if cost]
            of_stacks.append(", ".join(told) or ABSENT)
        return of_stacks

    return cells


def _proxy(record: ServicesRecord) -> list[Table]:
    ramp = [one for one in ramp_of(record.latencies) if one.per_connection == 50]
    servers = ("origin-kernel", "rust-kernel", "cpp-kernel", "haproxy-kernel", "origin-dpdk", "rust-dpdk", "c-dpdk")
    rows = [
        Row([STATISTICS[name], f"{alone}", behind, *(_at_highest(ramp, server, name) for server in servers)])
        for name, alone, behind in _PROXY
    ]
    columns = ["Statistic", "nginx", "behind a proxy in C, C++, Rust", *servers]
    title = (
        "'Network service performance, part II' at 25,000 requests/s, beside this run, "
        "each at its highest rate of the ramp: µs"
    )
    return [Table(title, columns, rows)] if ramp else []


def _at_highest(ramp: list[Latency], server: str, name: str) -> str:
    mine = [one for one in ramp if one.server == server]
    if not mine:
        return ABSENT
    highest = max(mine, key=lambda one: one.planned or 0)
    return f"{getattr(highest, f'{name}_us'):,.1f} at {highest.planned:,.0f}"
