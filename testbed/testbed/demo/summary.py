# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the demo's `summary.json` holds, and how it is written and read."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from pathlib import Path

from pydantic import Field

from testbed.comparison.record import Measurement, Pair
from testbed.run.results_folder import Record, Status, read_record, write_model
from testbed.wire.frames import FrameDifference

# Raised by one when a reader of the old form would misread the new one. In version 1 act a was what act b is now.
SCHEMA_VERSION = 2


class Trial(Record):
    """One run of one forwarder. An invalid one has reasons and its figures count nowhere."""

    program: str
    language: str
    reasons: list[str] = Field(default_factory=list, description="why it is invalid; empty if it is valid")
    notes: list[str] = Field(default_factory=list, description="what to know when reading its figures")

    @property
    def valid(self) -> bool:
        """Whether its figures count."""
        return not self.reasons

    @property
    def label(self) -> str:
        """What it is called beside the others of its act."""
        return self.language


class ForwarderFrames(Record):
    """The forwarder's own count."""

    rx_packets: int
    tx_packets: int
    tx_dropped: int
    rx_short: int
    rx_burst_avg: float = Field(description="received / polls, empty polls included, while it was under load")
    empty_poll_share: float = Field(description="polls that found nothing / polls, while it was under load")


class GeneratorFrames(Record):
    """The generator's own count."""

    duration_s: float
    sent: int
    received: int
    tx_retries: int = Field(description="frames that the full queue did not take at once; they were offered again")
    lost: int
    latency_p50_ns: float | None = None
    latency_p99_ns: float | None = None


class Drops(Record):
    """Where the frames that did not come back were lost."""

    wire_to_forwarder: int
    forwarder_short: int
    forwarder_tx_queue: int
    wire_to_generator: int


class WireTrial(Trial):
    """One forwarder under all the load that the generator can make."""

    generator: GeneratorFrames | None = None
    forwarder: ForwarderFrames | None = None
    drops: Drops | None = None
    steal_percent: float | None = Field(None, description="CPU time that the hypervisor gave to others meanwhile")
    cpu_share: dict[str, float] = Field(
        default_factory=dict, description="CPU time that 'generator' and 'forwarder', which never sleep, got / time"
    )


class Act(Record):
    """One of the five acts."""

    status: Status
    reason: str | None = None


class OverloadAct(Act):
    """Act a: the forwarders at their limit, compared."""

    blocks: int = Field(description="asked for")
    rounds: int = Field(description="of a block")
    slice_ms: float
    seed: int
    lcores: dict[str, int] = Field(default_factory=dict)
    measurement: Measurement | None = None
    pairs: list[Pair] = Field(default_factory=list)
    noise_floor: list[Pair] = Field(default_factory=list, description="the first contestant against itself")
    notes: list[str] = Field(default_factory=list, description="what to know when reading its figures")


class WireAct(Act):
    """Act b: every frame checked, on the virtual wire."""

    size: int
    seconds: float
    device: str
    lcores: dict[str, int] = Field(default_factory=dict)
    trials: list[WireTrial] = Field(default_factory=list)


class Ping(Record):
    """What `ping` counted."""

    sent: int
    received: int
    loss_percent: float
    rtt_min_ms: float | None = None
    rtt_avg_ms: float | None = None
    rtt_max_ms: float | None = None


class TcpTransfer(Record):
    """What `iperf3` counted."""

    seconds: float
    bytes: int
    bits_per_second: float
    retransmits: int


class HostsTrial(Trial):
    """Two hosts talk through one forwarder."""

    ping: Ping | None = None
    tcp: TcpTransfer | None = None
    rx_packets: int | None = None
    tx_packets: int | None = None
    tx_dropped: int | None = None


class HostsAct(Act):
    """Act c: real hosts."""

    trials: list[HostsTrial] = Field(default_factory=list)
    capture: str | None = Field(None, description="the capture of this traffic, relative to the results folder")


class CaptureTrial(Trial):
    """A capture went through one forwarder."""

    frames_in: int | None = None
    frames_short: int | None = Field(None, description="shorter than an Ethernet header: rightly not forwarded")
    frames_out: int | None = None
    identical: int | None = Field(None, description="frames that came out in order and unchanged but for the MACs")
    differences: list[FrameDifference] = Field(default_factory=list, description="the first of them")
    output: str | None = None


class CaptureAct(Act):
    """Act d: a capture, frame by frame."""

    source: str | None = None
    sha256: str | None = None
    frames: int | None = None
    bytes: int | None = None
    trials: list[CaptureTrial] = Field(default_factory=list)


class Stack(StrEnum):
    """What a service's sockets are."""

    KERNEL = "kernel"
    DPDK = "dpdk"


_SOCKETS = {Stack.KERNEL: "Linux's sockets", Stack.DPDK: "dpdk-sockets"}


class Answers(Record):
    """What the load generator counted, and latencies from the planned times of the requests."""

    sent: int
    answered: int
    wrong: int
    p50_us: float | None
    p99_us: float | None


class ProxyTrial(Trial):
    """A client fetches a page through one proxy, or from the origin itself."""

    stack: Stack | None = Field(description="the proxy's; null if the origin was asked without a proxy")
    answers: Answers | None = None

    @property
    def asked(self) -> str:
        """What the client asked."""
        return f"proxy on {_SOCKETS[self.stack]}" if self.stack else "origin, without a proxy"

    @property
    def label(self) -> str:
        """Its language and what was asked."""
        return f"{self.language}, {self.asked}"


class ProxiesAct(Act):
    """Act e: a proxy on two network stacks."""

    seconds: float
    rate: int = Field(description="requests a second")
    connections: int
    trials: list[ProxyTrial] = Field(default_factory=list)


class Summary(Record):
    """`summary.json`."""

    schema_version: int = SCHEMA_VERSION
    kind: str = "demo"
    status: Status
    reason: str | None = None
    started: datetime
    finished: datetime | None = None
    command: str
    quick: bool
    hugepages: bool
    environment: str = "environment.json"
    overload: OverloadAct | None = None
    wire: WireAct | None = None
    hosts: HostsAct | None = None
    capture: CaptureAct | None = None
    proxies: ProxiesAct | None = None

    @property
    def acts(self) -> list[tuple[str, Act | None]]:
        """The acts in their order, by title."""
        return [
            ("a. Overload", self.overload),
            ("b. Every frame on the virtual wire", self.wire),
            ("c. Real hosts", self.hosts),
            ("d. A capture", self.capture),
            ("e. A proxy on two network stacks", self.proxies),
        ]


def write_summary(folder: Path, summary: Summary) -> Path:
    """Writes `summary.json`; called again after each trial, so that nothing measured is lost."""
    path = folder / "summary.json"
    write_model(path, summary)
    return path


def read_summary(folder: Path) -> Summary:
    """Reads `summary.json`.

    Raises `ResultsError` for a file that is missing, of another schema version, or broken.
    """
    return read_record(folder / "summary.json", Summary, "a summary", "a finished demo or a campaign", SCHEMA_VERSION)
