# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Processors: which there are, on which node, and which of them share a core."""

from __future__ import annotations

from collections.abc import Iterable

from testbed.host.files import Host
from testbed.run.lcores import parse_cpu_list

CPUS = "/sys/devices/system/cpu"
NODES = "/sys/devices/system/node"


def online(host: Host) -> list[int]:
    """The CPUs that are online."""
    return parse_cpu_list(host.text(f"{CPUS}/online") or "")


def read_cpu_list(text: str) -> list[int]:
    """A user's list such as '2-5,8', sorted and each once.

    Raises `ValueError` with a message that names the list.
    """
    try:
        cpus = sorted(set(parse_cpu_list(text)))
    except ValueError:
        cpus = []
    if not cpus:
        raise ValueError(f"'{text}' is not a CPU list: give numbers and ranges, such as 2-5,8")
    return cpus


def cpu_list(cpus: Iterable[int]) -> str:
    """[0, 1, 2, 8] → '0-2,8', as the kernel writes it."""
    runs: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def siblings(host: Host, cpu: int) -> list[int]:
    """The logical CPUs of the same physical core, this one included."""
    return parse_cpu_list(host.text(f"{CPUS}/cpu{cpu}/topology/thread_siblings_list") or str(cpu))


def nodes(host: Host) -> list[int]:
    """The NUMA nodes; none where the kernel does not say."""
    return [int(name[4:]) for name in host.names(NODES) if name.startswith("node") and name[4:].isdecimal()]


def node_of_cpu(host: Host, cpu: int) -> int:
    """The node of a CPU; 0 where the kernel does not say."""
    for node in nodes(host):
        if cpu in parse_cpu_list(host.text(f"{NODES}/node{node}/cpulist") or ""):
            return node
    return 0


def cpu_flags(host: Host) -> frozenset[str]:
    """The features of the first CPU, by their names in /proc/cpuinfo."""
    return frozenset((host.field("/proc/cpuinfo", "flags") or "").split())


def is_virtual(host: Host) -> bool:
    """Whether this is a virtual machine: the CPU says so."""
    return "hypervisor" in cpu_flags(host)
