# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What `summary.json` of a race holds."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import Field

from testbed.comparison.condition import Condition
from testbed.comparison.record import ComparisonRecord
from testbed.run import results_folder
from testbed.run.results_folder import Record

SCHEMA_VERSION = 1
# Bytes in bulk that count as a request and its answer.
BULK_UNIT = 1024


class Count(Record):
    """What a request costs a server with so many connections."""

    server: str
    connections: int
    instructions: float = Field(description="for each request")


class ByteCount(Record):
    """What a byte of a stream costs one of its ends."""

    direction: str = Field(description="sending or receiving")
    device: str = Field(
        description="what it does: nothing (software), checksums (offloaded), or segments too (segmented)"
    )
    instructions: float = Field(description="for each byte")


class Latency(Record):
    """Of one server under a load that it can carry: requests at regular times, each counted from its time on."""

    server: str
    connections: int
    per_connection: int = 0
    load: float = Field(description="requests a second / those of this server without a pause, in the same run")
    planned: float | None = Field(None, description="requests a second, if they are the same for all servers")
    requests_per_second: float = Field(description="answered while latencies were recorded")
    count: int
    p50_us: float
    p90_us: float
    p99_us: float
    p99_9_us: float
    p99_99_us: float
    max_us: float
    # Runs before 2026-11-28 do not have these.
    p75_us: float | None = None
    mean_us: float | None = None
    standard_deviation_us: float | None = None
    tm99_9_us: float | None = Field(None, description="the mean without the longest thousandth")
    client_pause_us: float = Field(description="the client's longest poll: so long nothing was sent or received")


class Churn(Record):
    """Connections that are opened, used for one request, and closed by the client; one sample a slice."""

    server: str
    connections: int = Field(description="that are open, half open or half closed at a time")
    per_second: list[float]
    per_cpu_second: list[float]


class Cost(Record):
    """What a request costs a server that answers as many as it can, and what its process holds then.

    CPU time is all that the server's CPU does; that of a server that polls has its polls that find nothing too.
    """

    server: str
    connections: int
    per_connection: int = 0
    user_us: float = Field(description="of the CPU's time outside of the kernel, for each request")
    system_us: float
    softirq_us: float = Field(description="in interrupts: the kernel's share of TCP for what arrives")
    virtual_kb: int
    resident_kb: int
    shared_kb: int = Field(description="resident, of files and shared memory")


class RaceRecord(ComparisonRecord):
    """What the records of all races have. A request with its answer is a frame sent, and so are 1,024 bytes in bulk."""

    schema_version: int = SCHEMA_VERSION
    versions: str
    hugepages: bool
    # As pairs and noise floor are compared: by the server's CPU time.
    per_cpu_second: Literal[True] = True
    # Runs before 2026-11-28 do not have these, and cannot be resumed.
    load_s: float | None = Field(None, description="of each load under which latencies and costs are measured")
    ramp: list[int] = Field(default_factory=list, description="requests a second, where connections end")
    conditions: list[Condition] = Field(default_factory=list, description="all that are to be measured")
    resumed: list[datetime] = Field(default_factory=list, description="when an interrupted run was continued")
    servers: dict[str, str] = Field(description="what each contestant is")
    latencies: list[Latency] = Field(default_factory=list)
    churn: list[Churn] = Field(default_factory=list)
    costs: list[Cost] = Field(default_factory=list)


class SocketsRecord(RaceRecord):
    """`summary.json` of `bench sockets`."""

    kind: Literal["bench-sockets"] = "bench-sockets"
    counts: list[Count] = Field(default_factory=list)
    byte_counts: list[ByteCount] = Field(default_factory=list)


def read_record(path: Path) -> SocketsRecord:
    """Reads it; the file may be compressed (`.json.xz`).

    Raises `ResultsError`.
    """
    return results_folder.read_record(path, SocketsRecord, "a record of 'bench sockets'", "a run", SCHEMA_VERSION)
