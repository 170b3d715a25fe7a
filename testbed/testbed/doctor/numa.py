# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Whether each NIC and each core are on the same NUMA node."""

from __future__ import annotations

from collections.abc import Iterator

from testbed.doctor.check import Check, Question, candidates, ok, warn
from testbed.host.files import Host
from testbed.host.processors import NODES, cpu_list, node_of_cpu, nodes

GROUP = "NUMA"

_WHY = "a NIC on the other node writes each frame across the link between the sockets"


def checks(host: Host, question: Question) -> Iterator[Check]:
    """All checks of this group."""
    there = nodes(host)
    if len(there) < 2:
        yield ok("nodes", "one", _WHY)
        return
    cpus = {node: host.text(f"{NODES}/node{node}/cpulist") or "none" for node in there}
    yield ok("nodes", "; ".join(f"node {node}: CPU {text}" for node, text in cpus.items()), _WHY)
    core_nodes: dict[int, list[int]] = {}
    for core in question.cores:
        core_nodes.setdefault(node_of_cpu(host, core), []).append(core)
    if len(core_nodes) > 1:
        found = "; ".join(f"CPU {cpu_list(cores)} on node {node}" for node, cores in sorted(core_nodes.items()))
        yield warn("cores", found, _WHY, "take cores of the node that the NICs are on")
    for nic in candidates(host, question):
        if nic.node < 0:
            remedy = "find the slot in the board's manual, and update the firmware"
            yield warn(nic.address, "the firmware does not report its node", _WHY, remedy)
        elif core_nodes and nic.node not in core_nodes:
            found = f"on node {nic.node}, the cores on node {', '.join(map(str, sorted(core_nodes)))}"
            yield warn(nic.address, found, _WHY, f"take cores of node {nic.node}: CPU {cpus.get(nic.node, 'none')}")
        else:
            yield ok(nic.address, f"on node {nic.node}: CPU {cpus.get(nic.node, 'none')}", _WHY)
