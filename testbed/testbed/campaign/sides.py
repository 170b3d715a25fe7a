# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The two sides of a setup, generator and device, as their programs have set themselves up: lcores and ports."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from testbed.campaign.trial import Record
from testbed.wire.forwarder import ReportedPort


class SidePort(Record):
    """A port of DPDK. What its driver or the program does not report is None."""

    name: str = Field(description="DPDK's name: the PCI address of a NIC, or 'net_virtio_user0'")
    virtual: bool = Field(description="whether no hardware is behind it: then its link has no speed of its own")
    driver: str | None = Field(None, description="DPDK's")
    model: str | None = None
    mac: str | None = None
    mtu: int | None = None
    node: int | None = Field(None, description="NUMA node")
    link_mbps: int | None = Field(None, description="Mbit/s of a link that was up")
    firmware: str | None = None
    queues: int | None = Field(None, description="of each kind, RX and TX")
    rx_descriptors: int | None = Field(None, description="of a queue")
    tx_descriptors: int | None = None
    rx_offloads: list[str] | None = Field(None, description="enabled, by DPDK's names")
    tx_offloads: list[str] | None = None


class Side(Record):
    """Generator or device."""

    program: str
    # None: the program does not report them.
    lcores: list[int] | None = Field(None, description="CPUs that its threads of DPDK run on")
    ports: list[SidePort] = Field(default_factory=list, description="in the order of the wires")


def reported_ports(ports: Sequence[ReportedPort]) -> list[SidePort]:
    """The ports as l2fwd's start message and the generator's result have them."""
    return [
        SidePort(
            name=port.name,
            virtual=is_virtual(port.name),
            mac=port.mac,
            queues=port.queues,
            rx_descriptors=port.rxd,
            tx_descriptors=port.txd,
            driver=port.device.driver,
            mtu=port.device.mtu,
            node=port.device.socket,
            link_mbps=None if is_virtual(port.name) else port.device.link_mbps,
            firmware=port.device.firmware,
            rx_offloads=port.device.rx_offloads,
            tx_offloads=port.device.tx_offloads,
        )
        for port in ports
    ]


def is_virtual(name: str) -> bool:
    """Whether a port of this name is one of DPDK's virtual devices, which begin with their drivers' names."""
    return name.startswith(("net_", "eth_"))
