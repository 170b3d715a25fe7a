# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The words of `RESULTS.md`. None of them states a figure that the raw data has: those are computed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Section:
    """Runs with one purpose."""

    title: str
    words: str
    # File names in any machine's folder.
    runs: tuple[str, ...]


INTRODUCTION = """\
# Results

How fast the forwarders are. `./x bench results` makes this page from the raw data in `results/quoted/` and from
`testbed/counts.json`, and a test compares: do not edit it. How such a comparison works, and what a noise floor is:
[testbed/docs/overload.md](testbed/docs/overload.md).

Each row compares two programs in one run: A / B is the median over the blocks of the ratio of their rates in frames
per second. A run has a row for every pair of its programs, and one for its first program against itself (*again*),
which is the noise floor. The 95 % intervals are those of the sign test. p is that of Wilcoxon's signed-rank test,
corrected by Holm's method over all {rows} rows that compare forwarders; so *faster* and *slower* hold for all of
them together with 95 %. *Equivalent* rests on the interval of its row alone, which lies within 1 % of 1.
*Inconclusive* shows neither equality nor a difference: with few blocks p cannot be small (0.002 at least with 10),
which so many rows take above 0.05."""

RUNS = """\
Virtual machines without NICs, with Debian 12. The programs are those of the commit, not of today: what is linked and
the first digits of the hashes tell which runs had the same ones. Figures of different runs must not be divided by
each other. Each `.json.xz` (read it with `xz -dc FILE`) holds the rest: the order, every slice, and the machine. The
commands are below the table."""

SECTIONS = (
    Section(
        "The software's ceiling: net_null, 64 bytes, bursts of 32, one core",
        "A device without a wire, which always has frames and takes all: the forwarder and DPDK alone. "
        "`bare` is dpdk-rs's example `bare_loop`, which only receives, writes and sends.",
        ("net-null-shared", "net-null-static", "net-null-twins"),
    ),
    Section(
        "Bursts and refused frames",
        "The same with other bursts, and with a share of the frames refused by the transmit side.",
        ("net-null-sweeps",),
    ),
    Section(
        "The virtual wire",
        "Two processes on two cores, virtio-user and vhost-user, every frame checked when it comes back. Where nearly "
        "all polls of the forwarders are empty, the generator is the bottleneck: such rows say that the forwarders "
        "behave alike on this path, and nothing about how much they could forward.",
        ("virtual",),
    ),
    Section(
        "A packet parser in the forwarder",
        "`l2fwd-rs` with the kernels of `parsing-bench` in its loop (`--rewrite`), by frames per second of CPU time, "
        "on a device that hands out 64-byte frames of UDP over IPv4, each copied, and accepts all: "
        '[testbed/docs/overload.md](testbed/docs/overload.md), "What a packet parser costs". `rewrite:none` writes the '
        "MAC addresses only; the others write these and do the work of NAT, with validation and both checksums.",
        ("net-pcap-rewrite",),
    ),
)

MEDIANS = "Medians over the blocks, which describe each machine at that time:"

INSTRUCTIONS = """\
Instructions per packet on net_null and, for the generator, on net_ring, counted by callgrind (`./x bench overload
--count`). They do not depend on the machine's load; CI counts them and compares with `testbed/counts.json`, where
these are from."""

REQUEST_INSTRUCTIONS = """\
Instructions per request of 100 bytes that a server on dpdk-sockets sends back, without a device (`./x bench sockets`):
with the poll interface, with async sockets, and with the poll interface if the device has checksum offloads."""

BYTE_INSTRUCTIONS = """\
Instructions per byte that a stack sends, and that another one receives and its program compares, without a device: all
checksums in software, by the device, and with segments of 16 KB that the device cuts. Copies by `rep movsb` are
switched off: callgrind counts each of their bytes."""

REWRITE_INSTRUCTIONS = "With a parser in the loop, as counted in {name}; `:w1` writes the IPv4 destination only:"

RACES = """\
## Requests

Servers that send back requests of 100 bytes, by requests per second of the server's CPU time, interrupts included
([testbed/docs/sockets.md](testbed/docs/sockets.md)): on dpdk-sockets with the poll interface (`polled`, in C
`polled-c`, with a device that writes checksums `offloaded`) and with async sockets (`async`), and on Linux with
`tokio` and in C with `epoll`. With `1 stream` they send bytes in bulk, compared by bytes per second of CPU time, and
`segmented` has a device that cuts long segments (TSO). In machine-c/sockets, `offloaded` did what `polled` does: the
stack did not use the offloads of virtio yet. The {rows} rows are a family of their own for Holm's method."""

RACE_RATES = "Medians over the blocks; *full* is who has work all the time:"

RACE_LATENCIES = """\
Latencies in µs at 50 and 80 % of the server's own rate, from the moment at which a request was due. *Pause* is the
longest time for which the client itself did not poll: a virtual machine has such pauses, and what lies beyond p99
may be one of the client or of the server."""

RACE_CHURN = "Connections that the client opens, uses for one request, and closes:"

RACE_STREAMS = """\
Bytes that a server sends in bulk, all of them checked. The device of `segmented` takes TCP segments of up to 16 KB and
cuts them into packets (TSO); on this wire they stay whole. A connection has 64 KB on its way at most."""

FURTHER = """\
## Further figures

- [parsing-bench/RESULTS.md](parsing-bench/RESULTS.md): which packet parser to choose, and what each costs.
- [testbed/docs/handicaps.md](testbed/docs/handicaps.md): what slows a forwarder down.

Not measured: NICs, and more than one core for the forwarder."""
