# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What `summary.json` of `bench services` holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from testbed.bench.services.contestants import Contestant
from testbed.bench.sockets.record import BULK_UNIT, RaceRecord
from testbed.comparison.condition import Condition
from testbed.comparison.record import Figures
from testbed.run.results_folder import Record


class ServiceFigures(Record):
    """One program with so many connections."""

    service: str
    name: str
    language: str
    stack: str
    condition: str
    connections: int
    per_connection: int = Field(0, description="requests on a connection, which ends then; 0: it does not")
    message: int | None = Field(None, description="bytes of a message: one that comes back is a request then")
    rate: float = Field(description="requests a second, as many as it can answer")
    cpu_s_per_request: float | None = Field(description="all that the server's CPU does, for each request")
    latency_us: dict[str, float] = Field(description="at half of its rate; empty if not measured")
    rss_kb: int | None = None
    virtual_kb: int | None = None
    shared_kb: int | None = None


class ServicesRecord(RaceRecord):
    """`summary.json` of `bench services`."""

    kind: Literal["bench-services"] = "bench-services"
    service: str
    missing: list[str] = Field(default_factory=list, description="programs that are not built")
    services: list[ServiceFigures] = Field(default_factory=list)

    def fill(self, contestants: Sequence[Contestant]) -> None:
        """Writes `services` by what has been measured."""
        by_name = {one.name: one for one in contestants}
        self.services = [
            self._figures(by_name[figures.label], measurement.condition, figures)
            for measurement in self.measurements
            for figures in measurement.figures
            if figures.label in by_name
        ]

    def _figures(self, contestant: Contestant, condition: Condition, figures: Figures) -> ServiceFigures:
        whose = (contestant.name, condition.connections, condition.per_connection)
        costs = [one for one in self.costs if (one.server, one.connections, one.per_connection) == whose]
        latencies = [one for one in self.latencies if (one.server, one.connections, one.per_connection) == whose]
        if condition.is_bulk:
            costs, latencies = [], []
        unit = condition.message / BULK_UNIT if condition.message else 1
        half = min(latencies, key=lambda one: one.load, default=None)
        names = ("p50", "p90", "p99", "p99_9", "p99_99", "max")
        return ServiceFigures(
            service=self.service,
            name=contestant.name,
            language=contestant.language,
            stack=contestant.stack,
            condition=condition.describe(),
            connections=condition.connections or 0,
            per_connection=condition.per_connection,
            message=condition.message,
            rate=figures.rate_pps / unit,
            cpu_s_per_request=unit / figures.rate_per_cpu_pps if figures.rate_per_cpu_pps else None,
            latency_us={name: getattr(half, f"{name}_us") for name in names} if half else {},
            rss_kb=costs[0].resident_kb if costs else None,
            virtual_kb=costs[0].virtual_kb if costs else None,
            shared_kb=costs[0].shared_kb if costs else None,
        )
