# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What ping, iperf3 and the kernel say."""

from __future__ import annotations

from testbed.demo import hosts
from testbed.run import environment
from testbed.run.lcores import parse_cpu_list


def check(data: bytes) -> None:
    """The first byte says who speaks. What cannot be understood is none, never an error."""
    kind, text = data[:1], data[1:].decode(errors="replace")
    match kind[0] % 4 if kind else 0:
        case 0:
            ping = hosts.parse_ping(text)
            assert ping is None or (ping.sent >= 0 and ping.received >= 0)
        case 1:
            transfer = hosts.parse_iperf(hosts._json(text))
            assert transfer is None or transfer.bytes >= 0
        case 2:
            cpus(data[1:])
        case _:
            kept = environment.boot_parameters(text)
            assert kept == "none" or set(kept.split()) <= set(text.split())
            assert environment._number(text) >= 0


def cpus(data: bytes) -> None:
    """Each bit is a CPU; the list is written as the kernel writes it."""
    chosen = [place * 8 + bit for place, byte in enumerate(data[:64]) for bit in range(8) if byte >> bit & 1]
    ranges: list[list[int]] = []
    for cpu in chosen:
        if ranges and ranges[-1][1] == cpu - 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    text = ",".join(f"{first}-{last}" if last > first else str(first) for first, last in ranges)
    assert parse_cpu_list(text + "\n") == chosen
