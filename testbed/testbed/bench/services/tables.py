# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The tables and sentences of services: languages below each other, stacks beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from testbed.bench.services.contestants import DPDK, KERNEL, LWIP, ORIGIN
from testbed.bench.services.record import ServiceFigures, ServicesRecord
from testbed.bench.sockets.loads import MOST_LOAD
from testbed.bench.sockets.record import Latency
from testbed.bench.sockets.tables import many_connections
from testbed.comparison.pair_verdict import headline, interval_text
from testbed.comparison.record import Pair
from testbed.page.tables import ABSENT, Row, Table, figure

STACKS = {KERNEL: "Linux's sockets", DPDK: "dpdk-sockets", LWIP: "lwIP on DPDK"}
# What is compared with all others on its stack.
_FIRST = "rust"
_TWINS = {"rust", "c"}
STATISTICS = {
    "p50": "p50",
    "p75": "p75",
    "p90": "p90",
    "p99": "p99",
    "p99_9": "p99.9",
    "p99_99": "p99.99",
    "max": "max",
    "tm99_9": "tm99.9",
    "standard_deviation": "std. dev.",
}
# Those that fit on a terminal.
FEW = ("p50", "p99", "p99_9")


def program_of(name: str) -> str:
    """'go' of 'go-kernel'."""
    return name.rsplit("-", 1)[0]


def stack_of(name: str) -> str:
    """'kernel' of 'go-kernel'."""
    return name.rsplit("-", 1)[1]


def telling(pairs: Sequence[Pair]) -> list[Pair]:
    """Those that compare languages on one stack, or stacks in one program. All others are in `summary.json`."""
    return [pair for pair in pairs if _is_telling(pair)]


def _is_telling(pair: Pair) -> bool:
    if ORIGIN in (program_of(pair.a), program_of(pair.b)):
        return False
    if stack_of(pair.a) != stack_of(pair.b):
        return program_of(pair.a) == program_of(pair.b)
    return program_of(pair.a) == _FIRST


def of_twins(record: ServicesRecord) -> list[Pair]:
    """The pairs of C and Rust by hand, under the first condition."""
    return [
        pair
        for pair in telling(record.pairs)
        if pair.condition == record.pairs[0].condition and {program_of(pair.a), program_of(pair.b)} <= _TWINS
    ]


def findings(record: ServicesRecord) -> list[str]:
    """What the first condition says of the twins, in words: requests, or bytes, per second of CPU time."""
    if not record.pairs:
        return []
    floors = [floor.ratio for floor in record.noise_floor if floor.condition == record.pairs[0].condition]
    floor = floors[0] if floors else None
    return [
        headline(pair.a, pair.b, pair.ratio, floor, pair.verdict, disturbed=pair.disturbed, does="answers")
        for pair in of_twins(record)
    ]


def matrix_tables(record: ServicesRecord) -> list[Table]:
    """One table a condition: a row a program, a column a stack, and what the stack gains."""
    pairs = {(pair.describe(), pair.a, pair.b): pair for pair in record.pairs}
    stacks = [stack for stack in STACKS if any(one.stack == stack for one in record.services)]
    tables = []
    for condition, of_condition in groupby(record.services, key=lambda one: one.condition):
        by_place = {(program_of(one.name), one.stack): one for one in of_condition}
        rows = []
        for program in dict.fromkeys(program for program, _ in by_place):
            cells = [
                _per_cpu_second(by_place[program, stack]) if (program, stack) in by_place else ABSENT
                for stack in stacks
            ]
            pair = pairs.get((condition, f"{program}-{DPDK}", f"{program}-{KERNEL}"))
            rows.append(Row([program, *cells, f"{pair.ratio.median:.2f}" if pair else ABSENT, _interval(pair)]))
        what = "MB" if any(one.message for one in by_place.values()) else "requests"
        columns = ["Program", *(STACKS[stack] for stack in stacks), "dpdk-sockets / Linux's", "95 % interval"]
        tables.append(Table(f"{condition}: {what} per second of CPU time", columns, rows))
    return tables


def _per_cpu_second(one: ServiceFigures) -> str:
    if one.cpu_s_per_request is None:
        return ABSENT
    unit = one.message / 1e6 if one.message else 1
    return f"{unit / one.cpu_s_per_request:,.0f}"


def _interval(pair: Pair | None) -> str:
    return (interval_text(pair.ratio, 2) if pair else None) or ABSENT


def ramp_of(latencies: Sequence[Latency]) -> list[Latency]:
    """Those at rates that are the same for all."""
    return [one for one in latencies if one.planned is not None]


def overhead_table(latencies: Sequence[Latency], statistics: Sequence[str] = tuple(STATISTICS)) -> Table:
    """What a proxy adds to the origin's latencies on its stack, at the same rate: one row a proxy, load, and rate."""
    ramp = ramp_of(latencies)
    direct = {_load_of(one): one for one in ramp if program_of(one.server) == ORIGIN}
    rows = []
    for one in sorted(ramp, key=lambda one: (-one.per_connection, stack_of(one.server), one.planned or 0)):
        origin = direct.get(_load_of(one))
        if origin is not None and one is not origin:
            cells = [many_connections(one.connections, one.per_connection), one.server, f"{one.planned:,.0f}"]
            rows.append(Row([*cells, *(_added(one, origin, name) for name in statistics)]))
    return Table(
        "What a proxy adds to the origin's latency: µs, and per cent of the origin's",
        ["Connections", "Proxy", "Requests/s", *(STATISTICS[name] for name in statistics)],
        rows,
        text_columns=2,
    )


def ramp_table(latencies: Sequence[Latency]) -> Table:
    """The latencies themselves, the origin's too."""
    rows = [
        Row(
            [
                many_connections(one.connections, one.per_connection),
                one.server,
                f"{one.planned:,.0f}",
                *(figure(getattr(one, f"{name}_us"), ",.1f") for name in STATISTICS),
                f"{one.client_pause_us:,.1f}",
            ]
        )
        for one in ramp_of(latencies)
    ]
    return Table(
        "Latencies of pages at the same rates, in µs",
        ["Connections", "Server", "Requests/s", *STATISTICS.values(), "Pause"],
        rows,
        text_columns=2,
    )


def _load_of(one: Latency) -> tuple[str, int, int, float | None]:
    return stack_of(one.server), one.connections, one.per_connection, one.planned


def _added(one: Latency, origin: Latency, name: str) -> str:
    with_proxy, without = (getattr(each, f"{name}_us") for each in (one, origin))
    return f"{with_proxy - without:,.1f} ({100 * (with_proxy / without - 1):+,.0f} %)"


def remarks(record: ServicesRecord) -> list[str]:
    """What to know when reading the tables."""
    found = []
    if ramp_of(record.latencies):
        found.append(
            "The ramp: each proxy carries those rates that are at most "
            f"{100 * MOST_LOAD:.0f} % of its own. The back end of a proxy is the client, which answers at once, and "
            "the origin is asked directly: the difference of the two is what is added. Percentiles are subtracted, "
            "and not those of single requests."
        )
    return found
