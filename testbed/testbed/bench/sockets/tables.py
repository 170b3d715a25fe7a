# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The tables and sentences of races, made once for the terminal and the results page."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from testbed.bench.sockets.record import BULK_UNIT, Churn, Cost, Latency
from testbed.comparison.condition import Condition
from testbed.comparison.record import Block, Measurement, Run
from testbed.comparison.slices import LEAST_CPU_SHARE
from testbed.comparison.statistics import median_interval
from testbed.page.tables import ABSENT, Row, Table, figure

# Who is idle for less than this share of the time is full: it sets the rate.
FULL = 0.1
# From so many connections on, the memory of each is shown.
MANY = 10_000
# What `_shares` fills in behind the rate.
_SHARES = [
    "95 % interval",
    "per CPU second",
    "95 % interval",
    "Server's CPU [%]",
    "Idle: server [%]",
    "client [%]",
    "Full",
]
RATE_COLUMNS = ["Connections", "Server", "Requests/s", *_SHARES, "Bytes per connection"]
STREAM_COLUMNS = ["Streams", "Server", "Gbit/s", *_SHARES]
MESSAGE_COLUMNS = ["Bytes", "Connections", "Server", "MB/s", *_SHARES]
# What counts as a frame of a stream, in Gbit and in MB.
_STREAM_UNIT = BULK_UNIT * 8 / 1e9
_MESSAGE_UNIT = BULK_UNIT / 1e6
CHURN_COLUMNS = ["Connections", "Server", "Opened/s", "95 % interval", "per CPU second", "95 % interval"]
_PERCENTILES = ("p50", "p90", "p99", "p99_9", "p99_99", "max", "client_pause")
LATENCY_COLUMNS = [
    "Connections",
    "Server",
    "Load [%]",
    "Requests/s",
    "p50",
    "p90",
    "p99",
    "p99.9",
    "p99.99",
    "max",
    "Pause",
]


def rate_table(measurements: Sequence[Measurement]) -> Table:
    """One row a server and number of connections."""
    rows = [Row(_rates(*one)) for one in _measured(measurements, "requests")]
    return Table("Requests, each answered before the next one of its connection", RATE_COLUMNS, rows, text_columns=2)


def stream_table(measurements: Sequence[Measurement]) -> Table:
    """One row a server and number of streams."""
    rows = [Row(_shares(*one, _STREAM_UNIT, ".2f")) for one in _measured(measurements, "streams")]
    return Table("Streams that the servers send, every byte checked", STREAM_COLUMNS, rows, text_columns=2)


def message_table(measurements: Sequence[Measurement]) -> Table:
    """One row a server, number of connections and length of messages."""
    rows = []
    for measurement, label in _measured(measurements, "messages"):
        first, *rest = _shares(measurement, label, _MESSAGE_UNIT, ".0f")
        rows.append(Row([f"{measurement.condition.message:,}", first, *rest]))
    return Table("Messages that come back, every byte checked", MESSAGE_COLUMNS, rows, text_columns=3)


def _measured(measurements: Sequence[Measurement], kind: str) -> list[tuple[Measurement, str]]:
    found = [one for one in measurements if _kind(one.condition) == kind]
    return [(one, label) for one in found for label in one.labels if runs_of(one, label)]


def _kind(condition: Condition) -> str:
    return "streams" if condition.streams else "messages" if condition.message else "requests"


def _rates(measurement: Measurement, label: str) -> list[str]:
    # With few connections it says nothing.
    many = measurement.condition.connections >= MANY
    memory = _known(runs_of(measurement, label), "connection_bytes") if many else None
    return [*_shares(measurement, label, 1, ".0f"), ABSENT if memory is None else f"{memory:,.0f}"]


def _shares(measurement: Measurement, label: str, unit: float, form: str) -> list[str]:
    """Rates in a unit, of wall and of CPU time, and who has work."""
    runs = runs_of(measurement, label)
    rates = [unit * sum(run.slices.tx_packets) / sum(run.slices.seconds) for run in runs]
    per_cpu = [unit * per_cpu_second(run) for run in runs]
    share = median(sum(run.slices.cpu_seconds) / sum(run.slices.seconds) for run in runs)
    server, client = (_known(runs, name) for name in ("idle_share", "client_idle_share"))
    return [
        many_connections(measurement.condition.connections, measurement.condition.per_connection),
        label,
        f"{median(rates):,{form}}",
        interval(rates, form),
        f"{median(per_cpu):,{form}}",
        interval(per_cpu, form),
        f"{100 * share:.0f}",
        figure(None if server is None else 100 * server, ".1f"),
        figure(None if client is None else 100 * client, ".1f"),
        full(server, client),
    ]


def many_connections(connections: int | None, per_connection: int) -> str:
    """'100', or '100, 50 requests each'."""
    return f"{connections:,}" + (f", {per_connection} requests each" if per_connection else "")


def interval(values: Sequence[float], form: str = ".0f") -> str:
    """'1,000,000 to 1,100,000', of the medians of blocks."""
    found = median_interval(values)
    return f"{found[0]:,{form}} to {found[1]:,{form}}" if found else ABSENT


def full(server_idle: float | None, client_idle: float | None) -> str:
    """Who has work all the time, and so sets the rate. A server that does not tell is not judged."""
    if server_idle is None and client_idle is not None and client_idle >= FULL:
        return ABSENT
    idle = {"server": server_idle, "client": client_idle}
    return " and ".join(name for name, share in idle.items() if share is not None and share < FULL) or "neither"


def per_cpu_second(run: Run) -> float:
    """Answers, or units of bytes, in a second of CPU time."""
    return sum(run.slices.tx_packets) / max(sum(run.slices.cpu_seconds), 1e-9)


def runs_of(measurement: Measurement, label: str) -> list[Run]:
    """Those of valid blocks."""
    valid: list[Block] = [block for block in measurement.blocks if not block.reasons]
    return [run for block in valid for run in block.runs if run.label == label and run.slices.round]


def _known(runs: Sequence[Run], name: str) -> float | None:
    values = [value for value in (getattr(run, name) for run in runs) if value is not None]
    return median(values) if values else None


def latency_table(latencies: Sequence[Latency]) -> Table:
    """One row a server, number of connections, and load; without those of a ramp.

    The client too may be kept from its CPU: its longest pause is the last column.
    """
    rows = [
        Row(
            [
                many_connections(one.connections, one.per_connection),
                one.server,
                f"{100 * one.load:.0f}",
                f"{one.requests_per_second:,.0f}",
                *(f"{getattr(one, f'{name}_us'):,.1f}" for name in _PERCENTILES),
            ]
        )
        for one in latencies
        if one.planned is None
    ]
    return Table("Latencies at a share of the server's own rate, in µs", LATENCY_COLUMNS, rows, text_columns=2)


COST_COLUMNS = [
    "Connections",
    "Server",
    "User",
    "System",
    "Interrupts",
    "Virtual [MB]",
    "Resident [MB]",
    "Shared [MB]",
]


def cost_table(costs: Sequence[Cost]) -> Table:
    """One row a server and number of connections."""
    rows = [
        Row(
            [
                many_connections(one.connections, one.per_connection),
                one.server,
                *(f"{value:.2f}" for value in (one.user_us, one.system_us, one.softirq_us)),
                *(f"{value / 1024:,.1f}" for value in (one.virtual_kb, one.resident_kb, one.shared_kb)),
            ]
        )
        for one in costs
    ]
    return Table("CPU time of a request, in µs, and memory of the server's process", COST_COLUMNS, rows, text_columns=2)


def churn_table(churn: Sequence[Churn]) -> Table:
    """One row a server and number of connections."""
    rows = []
    for one in churn:
        # In the others the server waited for its client: see `LEAST_CPU_SHARE`.
        rates = zip(one.per_second, one.per_cpu_second, strict=True)
        per_cpu = [of_cpu for rate, of_cpu in rates if rate >= LEAST_CPU_SHARE * of_cpu]
        cells = [f"{median(each):,.0f}" if each else ABSENT for each in (one.per_second, per_cpu)]
        spans = [interval(one.per_second), interval(per_cpu)]
        rows.append(Row([f"{one.connections:,}", one.server, cells[0], spans[0], cells[1], spans[1]]))
    return Table("Connections, each for one request", CHURN_COLUMNS, rows, text_columns=2)


def remarks(measurements: Sequence[Measurement]) -> list[str]:
    """What to know when reading the figures."""
    found = [
        "Our servers are on virtio-user and vhost-user, whose copies the client makes; the kernel's on a veth pair, "
        "with AF_PACKET at the client's end. 'polled', 'polled-c' and 'async' verify and write all checksums in "
        "software, as the kernel does; all others of ours leave them to the device.",
        "CPU time is that of the server's process; for the kernel's servers it is all that the server's CPU does, "
        "interrupts included, and each direction of the veth pair is handled by the CPU of its receiver.",
        "All servers have GLIBC_TUNABLES=glibc.malloc.hugetlb=1: their memory is on transparent hugepages, where the "
        "kernel has some and allows it.",
    ]
    for measurement in measurements:
        condition = measurement.describe()
        found += [f"{condition}: without {name}: {reason}" for name, reason in measurement.skipped.items()]
        for block in measurement.blocks:
            found += [f"{condition}, block {block.number} is invalid: {reason}" for reason in block.reasons]
        if marked := sum(bool(block.notes) for block in measurement.blocks):
            found.append(
                f"{condition}: {marked} of {len(measurement.blocks)} blocks were disturbed: others had more than "
                "a tenth of the CPUs in most slices, and what they did on the server's CPU counts for the kernel"
            )
        resent = sum(run.lost.device_rx for block in measurement.blocks for run in block.runs)
        if resent:
            found.append(f"{condition}: {resent} segments of the client were lost on the way and sent again")
    return found
