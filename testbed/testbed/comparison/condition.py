# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What is measured: on which wire, with which frames and queues."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

NET_NULL = "net_null"
NET_PCAP = "net_pcap"
VIRTUAL = "virtual"
_PCI = re.compile(r"([0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
# What a frame ends with on a wire, and not in memory.
_FCS_BYTES = 4
LEAST_SIZE = 64


class ConditionError(Exception):
    """A condition that no wire can meet; the message says why."""


class Condition(BaseModel):
    """One setting of everything that all contestants have in common."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # net_null, net_pcap, virtual, or PCI addresses joined by commas.
    wire: str = NET_NULL
    # Bytes of a frame with FCS.
    size: int = 64
    ports: int = 1
    queues: int = 1
    burst: int = 32
    descriptors: int = 1024
    # Of each hundred frames so many are refused by the transmit side.
    drops: int = 0
    # Of a race between servers; None for forwarders.
    connections: int | None = None
    # Whether these are streams of bytes that the servers send, and not requests.
    streams: bool = False
    # Bytes of a message, if messages come back in bulk, and not requests.
    message: int | None = None
    # Requests on a connection, which the server closes then. 0: it does not.
    per_connection: int = 0
    # Of codecs, whose wire is how messages are passed: what these are, whether they are packed, and whether buffers are
    # used again.
    case: str | None = None
    packed: bool = False
    reuse: bool = False

    @property
    def is_bulk(self) -> bool:
        """Whether bytes are counted, and not requests."""
        return self.streams or self.message is not None

    @property
    def nics(self) -> tuple[str, ...]:
        """The PCI addresses; none on the other wires."""
        return () if self.wire in (NET_NULL, NET_PCAP, VIRTUAL) else tuple(self.wire.split(","))

    def endless_vdevs(self, capture: Path) -> tuple[str, ...]:
        """The devices that always have something to receive and take all that is sent.

        Frames of net_null are empty, those of net_pcap are the ones in `capture`, over and over.
        """
        if self.wire == NET_PCAP:
            receive = f",rx_pcap={capture}" * self.queues
            return tuple(f"net_pcap{port}{receive},infinite_rx=1" for port in range(self.ports))
        return tuple(f"net_null{port},size={self.frame_bytes}" for port in range(self.ports))

    @property
    def frame_bytes(self) -> int:
        """Bytes of a frame in memory."""
        return self.size - _FCS_BYTES

    @property
    def most_in_flight(self) -> int:
        """Frames that can be received and not yet sent at one moment: a burst in each buffer, and full queues."""
        return self.ports * self.queues * (self.burst + self.descriptors)

    def check(self) -> None:
        """Raises `ConditionError` for what cannot be."""
        if not all(_PCI.fullmatch(nic) for nic in self.nics):
            raise ConditionError(
                f"'{self.wire}' is not a wire: give net_null, net_pcap, virtual, or PCI addresses such as 0000:18:00.0"
            )
        if self.size < LEAST_SIZE:
            raise ConditionError(f"frames of {self.size} bytes: the smallest frame has {LEAST_SIZE} bytes with FCS")
        if self.nics and self.ports != len(self.nics):
            raise ConditionError(f"{self.ports} ports on {len(self.nics)} NICs: name as many PCI addresses")
        if self.wire == VIRTUAL and self.ports > 2:
            raise ConditionError(f"{self.ports} ports on the virtual wire: the generator has one or two")
        if self.wire == VIRTUAL and self.descriptors & (self.descriptors - 1):
            raise ConditionError(f"{self.descriptors} descriptors: on the virtual wire they are a power of two")

    def describe(self, sweep: str | None = None) -> str:
        """'net_null, 64 bytes, 1 port', and what differs from the usual or is swept."""
        if self.case is not None:
            words = [self.case, self.wire] + ["packed"] * self.packed + ["buffers used again"] * self.reuse
            return ", ".join(words)
        if self.connections is not None:
            word = "stream" if self.streams else "connection"
            words = [f"{self.connections:,} {word}{'' if self.connections == 1 else 's'}"]
            words += [f"messages of {self.message:,} bytes"] if self.message else []
            words += [f"{self.per_connection} requests each"] if self.per_connection else []
            return ", ".join(words)
        words = [self.wire, f"{self.size} bytes", f"{self.ports} port{'' if self.ports == 1 else 's'}"]
        usual, swept = Condition(), SWEEPS[sweep][0] if sweep else None
        for name, text in (
            ("queues", f"{self.queues} queue{'' if self.queues == 1 else 's'}"),
            ("burst", f"burst {self.burst}"),
            ("descriptors", f"{self.descriptors} descriptors"),
            ("drops", f"{self.drops} % refused"),
        ):
            if name == swept or getattr(self, name) != getattr(usual, name):
                words.append(text)
        return ", ".join(words)


# A sweep: the field of a condition, the values, and how to name one.
SWEEPS: dict[str, tuple[str, tuple[int, ...], str]] = {
    "sizes": ("size", (64, 128, 256, 512, 1024, 1280, 1518), "frame size, bytes"),
    "bursts": ("burst", (1, 4, 8, 16, 32, 64, 128, 256), "burst, frames"),
    "descriptors": ("descriptors", (256, 512, 1024, 2048, 4096), "descriptors of a queue"),
    "ports": ("ports", (1, 2, 4, 8), "ports"),
    "queues": ("queues", (1, 2, 4, 8), "queues of a port"),
    "drops": ("drops", (0, 30, 90), "frames refused by the transmit side, %"),
}


def sweep(base: Condition, name: str, values: list[int] | None = None) -> list[Condition]:
    """The conditions of a sweep."""
    key, usual, _ = SWEEPS[name]
    return [changed(base, key, value) for value in values or usual]


def changed(base: Condition, key: str, value: Any) -> Condition:
    """The condition with one field changed."""
    return base.model_copy(update={key: value})
