# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Hugepages as the kernel has them: how many of which size on which node, and where they are mounted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from testbed.host.files import Host
from testbed.host.processors import NODES, nodes

_KERNEL = "/sys/kernel/mm/hugepages"
_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}


@dataclass(frozen=True)
class Pool:
    """The pages of one size on one node."""

    node: int
    size_kb: int
    total: int
    free: int
    # Where the kernel has it.
    folder: str

    @property
    def free_mb(self) -> int:
        """Memory in free pages."""
        return self.free * self.size_kb // 1024

    @property
    def size(self) -> str:
        """'2 MB' or '1 GB'."""
        return f"{self.size_kb >> 20} GB" if self.size_kb >= 1 << 20 else f"{self.size_kb >> 10} MB"


def pools(host: Host) -> list[Pool]:
    """All pools, by node and size; without nodes those of the whole machine, as node 0."""
    places = [(node, f"{NODES}/node{node}/hugepages") for node in nodes(host)]
    found = [pool for node, folder in places for pool in _pools(host, node, folder)]
    return found or _pools(host, 0, _KERNEL)


def _pools(host: Host, node: int, folder: str) -> list[Pool]:
    found = []
    for name in host.names(folder):
        size = re.fullmatch(r"hugepages-(\d+)kB", name)
        total, free = (host.number(f"{folder}/{name}/{file}") for file in ("nr_hugepages", "free_hugepages"))
        if size and total is not None and free is not None:
            found.append(Pool(node, int(size[1]), total, free, f"{folder}/{name}"))
    return sorted(found, key=lambda pool: pool.size_kb)


def mounts(host: Host) -> dict[str, int]:
    """Where a hugetlbfs is mounted, and with pages of which size in kB."""
    default = int((host.field("/proc/meminfo", "Hugepagesize") or "2048 kB").split()[0])
    found = {}
    for line in (host.text("/proc/mounts") or "").splitlines():
        words = line.split()
        if len(words) > 3 and words[2] == "hugetlbfs":
            size = re.search(r"pagesize=(\d+)([KMG]?)", words[3])
            found[words[1]] = int(size[1]) * _UNITS[size[2].lower()] // 1024 if size else default
    return found
