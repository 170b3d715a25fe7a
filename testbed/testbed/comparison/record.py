# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a comparison writes down: slices, runs, blocks, and the pairs made of them."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from testbed.comparison.condition import Condition
from testbed.comparison.pair_verdict import Verdict
from testbed.comparison.statistics import PairRatio
from testbed.run.environment import Environment
from testbed.run.results_folder import Record, Status


class Slices(Record):
    """All measured slices of one instance in one block: lists of equal length."""

    round: list[int] = Field(default_factory=list)
    seconds: list[float] = Field(default_factory=list)
    rx_packets: list[int] = Field(default_factory=list)
    tx_packets: list[int] = Field(default_factory=list)
    cpu_seconds: list[float] = Field(default_factory=list, description="CPU time that the forwarder's process got")
    generator_cpu_seconds: list[float] = Field(default_factory=list, description="empty without a generator")
    clock_error_s: list[float] = Field(default_factory=list, description="how far off 'seconds' may be")


class Lost(Record):
    """Frames that did not get through, by place; in the measured slices where a field says nothing else."""

    wire_to_forwarder: int | None = Field(None, description="sent by the generator, not received; the whole run")
    device_rx: int = Field(0, description="missed by the device, or without an mbuf")
    forwarder: int = Field(
        0, description="received and not sent, beyond what buffers and queues can hold; the whole run"
    )
    wire_to_generator: int | None = Field(None, description="sent by the forwarder, not come back; the whole run")


class Run(Record):
    """One instance in one block."""

    label: str
    start_s: float = Field(description="from its start to the first frame that it forwarded")
    rss_kb: int
    hugepages_kb: int
    rx_burst_avg: float | None = Field(None, description="received / polls, empty ones included, in a slice of its own")
    empty_poll_share: float | None = None
    idle_share: float | None = Field(None, description="of a race: time in which the server had nothing to do")
    client_idle_share: float | None = Field(None, description="of a race: the same of its client")
    connection_bytes: float | None = Field(None, description="of a race: growth of the server's RSS / connections")
    message_bytes: float | None = Field(None, description="of codecs: bytes that the process made in a round")
    lost: Lost = Field(default_factory=Lost)
    slices: Slices = Field(default_factory=Slices)


class Block(Record):
    """All contestants, freshly started, in turn."""

    number: int
    reasons: list[str] = Field(default_factory=list, description="why it does not count; empty if it does")
    notes: list[str] = Field(default_factory=list)
    runs: list[Run] = Field(default_factory=list)
    steal_percent: float | None = None


class Figures(Record):
    """One contestant over all blocks. Medians: beside a pair's ratio these are descriptions, no comparison."""

    label: str
    blocks: int
    rate_pps: float = Field(description="forwarded frames a second")
    rate_per_cpu_pps: float = Field(description="forwarded frames a second of CPU time that it had")
    cpu_share: float = Field(description="CPU time / time, of a program that never sleeps")
    generator_cpu_share: float | None = None
    cycles_per_packet: float | None = Field(None, description="TSC cycles of CPU time for each forwarded frame")
    rx_burst_avg: float | None = None
    empty_poll_share: float | None = None
    lost: Lost = Field(default_factory=Lost)
    rss_kb: int
    hugepages_kb: int
    start_s: float


class Measurement(Record):
    """All blocks under one condition."""

    condition: Condition
    sweep: str | None = None
    labels: list[str] = Field(description="contestants; the last is the first one again")
    skipped: dict[str, str] = Field(default_factory=dict, description="contestants that cannot do this, and why")
    blocks: list[Block] = Field(default_factory=list)
    figures: list[Figures] = Field(default_factory=list)

    def describe(self) -> str:
        """The condition in words."""
        return self.condition.describe(self.sweep)


class Pair(Record):
    """Two contestants under one condition; the ratio is rate of A / rate of B."""

    a: str
    b: str
    wire: str
    condition: Condition
    sweep: str | None = None
    ratio: PairRatio
    disturbed: bool = Field(False, description="whether other programs disturbed most of the blocks: no verdict then")
    verdict: Verdict

    def describe(self) -> str:
        """The condition in words."""
        return self.condition.describe(self.sweep)


class ComparisonRecord(Record):
    """What `summary.json` of every comparison has."""

    schema_version: int = 1
    kind: str
    status: Status
    reason: str | None = None
    started: datetime
    finished: datetime | None = None
    command: str
    quick: bool
    per_cpu_second: bool
    seed: int
    blocks: int
    rounds: int
    slice_ms: float
    lcores: dict[str, int] = Field(description="which CPUs have what")
    environment: Environment
    pairs: list[Pair] = Field(default_factory=list)
    noise_floor: list[Pair] = Field(default_factory=list, description="the first contestant against itself")
    measurements: list[Measurement] = Field(default_factory=list)
