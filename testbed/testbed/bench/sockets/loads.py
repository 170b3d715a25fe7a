# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""How long answers take at a share of what a server can do, what they cost it, and how many connections it can open."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence

from testbed.bench.sockets.instance import RaceInstance
from testbed.bench.sockets.record import Churn, Cost, Latency

LOADS = (0.5, 0.8)
# A rate of a ramp is measured if it is at most so much of the server's own.
MOST_LOAD = 0.9
PERCENTILES = ("mean", "standard_deviation", "p50", "p75", "p90", "p99", "p99_9", "p99_99", "max", "tm99_9")
# Until the rate is steady; the client's own is as long.
_SETTLE_S = 0.2
# As many as an interval takes.
_SLICES = 6


def measure_latencies(
    instance: RaceInstance, full_rate: float, seconds: float, ramp: Sequence[int] = ()
) -> Iterator[Latency]:
    """At shares of what the server can do, or at those rates of a ramp that it can carry. One after the other, for so
    long each.

    Raises `ProcessError` and `TelemetryError`.
    """
    shares = [(load * full_rate, None) for load in LOADS]
    for rate, planned in [(rate, rate) for rate in ramp if rate <= MOST_LOAD * full_rate] if ramp else shares:
        instance.pace(max(1, round(rate)), seconds)
        # Without a word to the client, which would keep it from its CPU.
        time.sleep(_SETTLE_S + seconds + _SETTLE_S)
        found = instance.ask("/race/latencies")
        instance.drain()
        if not found["count"]:
            # Others had the CPUs all the time.
            continue
        yield Latency(
            server=instance.label,
            connections=instance.connections,
            per_connection=instance.condition.per_connection,
            load=rate / full_rate,
            planned=planned,
            requests_per_second=found["count"] / seconds,
            count=found["count"],
            client_pause_us=found["pause"] / 1000,
            **{f"{name}_us": found[name] / 1000 for name in PERCENTILES},
        )


def measure_cost(instance: RaceInstance, seconds: float) -> Cost:
    """While it answers as many requests as it can, for so long.

    Raises `ProcessError` and `TelemetryError`.
    """
    instance.run()
    time.sleep(_SETTLE_S)
    first = instance.read(), instance.cpu_times()
    time.sleep(seconds)
    last = instance.read(), instance.cpu_times()
    memory = instance.memory()
    instance.drain()
    answers = max(last[0].tx_packets - first[0].tx_packets, 1)
    user, system, softirq = (1e6 * (b - a) / answers for a, b in zip(first[1], last[1], strict=True))
    return Cost(
        server=instance.label,
        connections=instance.connections,
        per_connection=instance.condition.per_connection,
        user_us=user,
        system_us=system,
        softirq_us=softirq,
        virtual_kb=memory.virtual_kb,
        resident_kb=memory.rss_kb,
        shared_kb=memory.shared_kb,
    )


def measure_churn(instance: RaceInstance, seconds: float) -> Churn:
    """In slices of together so long.

    Raises `ProcessError` and `TelemetryError`.
    """
    instance.churn()
    time.sleep(_SETTLE_S)
    readings = [instance.read()]
    for _ in range(_SLICES):
        time.sleep(seconds / _SLICES)
        readings.append(instance.read())
    instance.drain()
    pairs = list(itertools.pairwise(readings))
    return Churn(
        server=instance.label,
        connections=instance.connections,
        per_second=[1e9 * (b.tx_packets - a.tx_packets) / (b.time_ns - a.time_ns) for a, b in pairs],
        per_cpu_second=[1e9 * (b.tx_packets - a.tx_packets) / max(b.cpu_ns - a.cpu_ns, 1) for a, b in pairs],
    )
