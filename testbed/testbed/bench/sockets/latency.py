# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""How long answers take at a share of what a server can do."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from testbed.bench.sockets.instance import RaceInstance
from testbed.bench.sockets.record import Latency

LOADS = (0.5, 0.8)
# Until the rate is steady.
_SETTLE_S = 0.2


def measure_latencies(
    instance: RaceInstance, full_rate: float, seconds: float, loads: Sequence[float] = LOADS
) -> Iterator[Latency]:
    """One after the other, for so long each.

    Raises `ProcessError` and `TelemetryError`.
    """
    instance.start()
    for load in loads:
        rate = max(1, round(load * full_rate))
        instance.run(rate)
        time.sleep(_SETTLE_S)
        # Again, so that what came before is forgotten.
        instance.run(rate)
        first = instance.read()
        time.sleep(seconds)
        found, last = instance.ask("/race/latencies"), instance.read()
        instance.drain()
        yield Latency(
            server=instance.label,
            connections=instance.connections,
            load=load,
            requests_per_second=(last.tx_packets - first.tx_packets) / ((last.time_ns - first.time_ns) / 1e9),
            count=found["count"],
            client_pause_us=found["pause"] / 1000,
            **{f"{name}_us": found[name] / 1000 for name in ("p50", "p90", "p99", "p99_9", "p99_99", "max")},
        )
    instance.end()
