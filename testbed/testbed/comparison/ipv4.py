# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Frames that a parser accepts, for devices that replay a capture endlessly."""

from __future__ import annotations

import socket
from pathlib import Path

import dpkt

# The destination that `l2fwd-rs --rewrite` writes, of the network for benchmarks (RFC 2544).
REWRITTEN = "198.19.0.1"
# As many as the device keeps in memory: fewer than any pool has.
_FRAMES = 256
_HEADERS_LEN = 42


def frames(length: int) -> list[bytes]:
    """UDP over IPv4 with right checksums, so many bytes each without FCS; addresses and ports differ."""
    return [_frame(number, length) for number in range(_FRAMES)]


def write_capture(path: Path, length: int) -> None:
    """Writes the frames as a pcap file."""
    with path.open("wb") as file:
        # The usual limit would cut jumbo frames short.
        writer = dpkt.pcap.Writer(file, snaplen=262144)
        for frame in frames(length):
            writer.writepkt(frame, ts=0)


def _frame(number: int, length: int) -> bytes:
    datagram = dpkt.udp.UDP(sport=49152 + number, dport=9, data=bytes(length - _HEADERS_LEN))
    datagram.ulen = len(datagram)
    packet = dpkt.ip.IP(
        src=socket.inet_aton(f"198.18.0.{number}"),
        dst=socket.inet_aton(f"198.19.1.{number}"),
        p=dpkt.ip.IP_PROTO_UDP,
        id=number,
        data=datagram,
    )
    packet.len = len(packet)
    return bytes(dpkt.ethernet.Ethernet(dst=b"\x02\0\0\0\0\xaa", src=b"\x02\0\0\0\0\xbb", data=packet))
