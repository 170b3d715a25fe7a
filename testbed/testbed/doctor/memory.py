# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Memory that DPDK can have: hugepages by size and node, where they are mounted, and what may be locked."""

from __future__ import annotations

from collections.abc import Iterator

from testbed.doctor.check import Check, Question, candidates, ok, vfio_candidates, warn
from testbed.host.files import Host
from testbed.host.hugepages import Pool, mounts, pools
from testbed.host.processors import node_of_cpu, nodes

GROUP = "memory"

# The forwarders' pool of 8,192 mbufs takes 19 MB, rings and DPDK's own heap as much again.
_LEAST_MB = 64
_CAP_IPC_LOCK = 14


def checks(host: Host, question: Question) -> Iterator[Check]:
    """All checks of this group."""
    there = pools(host)
    for node in sorted({pool.node for pool in there}):
        yield _node(host, question, node, [pool for pool in there if pool.node == node])
    if not there:
        yield warn("hugepages", "this kernel has none", _WHY, "use a kernel with CONFIG_HUGETLBFS, or --no-huge")
    yield _mount(host)
    if vfio_candidates(host, question):
        yield _locks(host, question)


_WHY = "DPDK keeps its memory in them: without them each access costs more, and vfio-pci does not start"


def wanted_nodes(host: Host, question: Question) -> set[int]:
    """The nodes that memory is needed on: those of the NICs and of the cores, else the first."""
    found = {node_of_cpu(host, core) for core in question.cores}
    found |= {max(nic.node, 0) for nic in candidates(host, question)} if question.nics else set()
    return found or set(nodes(host)[:1] or [0])


def _node(host: Host, question: Question, node: int, there: list[Pool]) -> Check:
    name = f"hugepages of node {node}"
    found = "; ".join(f"{pool.size}: {pool.free} of {pool.total} free" for pool in there)
    free_mb = sum(pool.free_mb for pool in there)
    if free_mb >= _LEAST_MB or node not in wanted_nodes(host, question):
        return ok(name, found, _WHY)
    pool = min(there, key=lambda pool: abs(pool.size_kb - 2048))
    pages = pool.total + 256 * 1024 // pool.size_kb
    remedy = f"echo {pages} >{pool.folder}/nr_hugepages, or ./x testbed host prepare --nic …"
    if any(other.size_kb >= 1 << 20 for other in there):
        remedy += "; pages of 1 GB at boot: default_hugepagesz=1G hugepagesz=1G hugepages=4"
    return question.judge(name, f"{found}: {free_mb} MB, at least {_LEAST_MB} are needed", _WHY, remedy)


def _mount(host: Host) -> Check:
    name, why = "hugetlbfs", "programs share memory through files in it; with --in-memory it is not needed"
    there = mounts(host)
    if there:
        return ok(name, ", ".join(f"{place} ({size // 1024} MB)" for place, size in there.items()), why)
    return warn(
        name, "not mounted", why, "mkdir -p /dev/hugepages && mount -t hugetlbfs none /dev/hugepages, or --in-memory"
    )


def _locks(host: Host, question: Question) -> Check:
    name, why = "memory locks", "VFIO locks all memory that a NIC may write to, and the user's limit applies"
    line = next(
        (line for line in (host.text("/proc/self/limits") or "").splitlines() if line.startswith("Max locked memory")),
        "",
    )
    limit = line.removeprefix("Max locked memory").split()[:1]
    capabilities = int(host.field("/proc/self/status", "CapEff") or "0", 16)
    if capabilities & 1 << _CAP_IPC_LOCK:
        return ok(name, "not limited for this user", why)
    if not limit or limit[0] == "unlimited" or int(limit[0]) >= 1 << 30:
        return ok(name, f"limit: {limit[0] if limit else 'unknown'}", why)
    remedy = "ulimit -l unlimited, LimitMEMLOCK=infinity in the unit, or memlock in /etc/security/limits.conf"
    return question.judge(name, f"limit: {int(limit[0]) // 1024} kB", why, remedy)
