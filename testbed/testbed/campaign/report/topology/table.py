# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The facts of both sides as tables, a row for each fact."""

from __future__ import annotations

from collections.abc import Sequence

from testbed.campaign.report.topology.facts import VIRTUAL
from testbed.campaign.report.topology.layout import Topology
from testbed.page.tables import Row, Table


def evidence_tables(topologies: Sequence[Topology]) -> list[Table]:
    """One for each topology whose facts no other one has."""
    kept = [one for one in topologies if not any(_is_part(one, other) for other in topologies if other is not one)]
    return [_table(one) for one in kept]


def _is_part(one: Topology, other: Topology) -> bool:
    """Whether all facts are among those of another topology: that for both directions has the ports of one too."""
    pairs = (one.generator, other.generator), (one.device, other.device)
    return (one.devices, one.testbed) == (other.devices, other.testbed) and all(
        end.facts == wider.facts and end.port_facts == wider.port_facts[: len(end.port_facts)] for end, wider in pairs
    )


def _table(topology: Topology) -> Table:
    """Generator and device, side by side, first their machines and then port by port."""
    devices = " and ".join(topology.devices)
    table = Table(topology.title, ["Fact", "Generator", devices], text_columns=3)
    ours, theirs = topology.generator, topology.device
    for (name, value), (_, other) in zip(ours.facts, theirs.facts, strict=True):
        table.rows.append(Row([name, value, other]))
    for number, both in enumerate(zip(ours.port_facts, theirs.port_facts, strict=True)):
        for (name, value), (_, other) in zip(*both, strict=True):
            if not value == other == VIRTUAL:
                table.rows.append(Row([f"Port {number}: {name}", value, other]))
    return table
