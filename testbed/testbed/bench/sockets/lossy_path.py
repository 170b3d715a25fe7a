# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A path through `impair` between two hosts, and a server at its right end: the kernel's sockets, or dpdk-sockets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from testbed.run.eal import EalOptions, unique_file_prefix
from testbed.run.namespaces import TwoHosts, inside, run_tool
from testbed.run.process import Process
from testbed.run.programs import Program

READY_S = 30.0


@contextmanager
def impaired(impair: Program, options: Sequence[str], hosts: TwoHosts, lcore: int, folder: Path) -> Iterator[None]:
    """`impair` forwards between the hosts."""
    vdevs = tuple(f"net_af_packet{number},iface={name}" for number, name in enumerate(TwoHosts.DUT_INTERFACES))
    eal = EalOptions(lcore, unique_file_prefix("impair"), vdevs, hugepages=False)
    argv = inside(hosts.dut, str(impair.path), *eal.argv(), "--", *options)
    with Process("impair", argv, folder) as process:
        process.wait_for_event("start", READY_S)
        yield


@contextmanager
def served_by_kernel(argv: Sequence[str], ready: str, hosts: TwoHosts, folder: Path) -> Iterator[None]:
    """A server on the right host, which says that it is `ready`."""
    with Process("server", hosts.right.command(*argv), folder) as process:
        process.wait_for_line(ready, READY_S)
        yield


@contextmanager
def served_by_dpdk(
    path: Path, words: Sequence[str], ready: str, hosts: TwoHosts, lcore: int, folder: Path
) -> Iterator[None]:
    """A server with a stack of its own on the right host's interface, whose address the kernel gives up meanwhile."""
    right = hosts.right
    address = (right.network, "dev", right.interface)
    vdevs = (f"net_af_packet0,iface={right.interface}",)
    eal = EalOptions(lcore, unique_file_prefix(path.name), vdevs, hugepages=False)
    run_tool("ip", "-n", right.namespace, "address", "delete", *address)
    try:
        with Process("server", right.command(str(path), *eal.argv(), "--", *words), folder) as process:
            process.wait_for_line(ready, READY_S)
            yield
    finally:
        run_tool("ip", "-n", right.namespace, "address", "add", *address)
