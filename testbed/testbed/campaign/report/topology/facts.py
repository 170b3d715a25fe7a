# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The facts of one side, each with its name. An unknown fact says so; nothing is shown as zero."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from testbed.campaign.report.topology.machine import UNKNOWN, Clock, Machine, known, model_of
from testbed.campaign.sides import SidePort

Fact = tuple[str, str]
# Where a virtual device has nothing, as it has no hardware.
VIRTUAL = "none: a virtual device"


def machine_facts(machine: Machine, program: str, cpus: Sequence[int] | None) -> Iterator[Fact]:
    """The program, its machine, and the CPUs that it used."""
    clocks = [machine.clock(cpu) for cpu in cpus or ()]
    yield "Program", program
    yield "Machine", machine.where
    yield "Processor", machine.processor
    yield "CPUs used", UNKNOWN if not cpus else ", ".join(map(str, cpus))
    yield "NUMA node of these CPUs", _each(clock.node for clock in clocks)
    yield "Frequency governor", _each(clock.governor for clock in clocks)
    yield "Frequency at the start", _each(_mhz(clock.mhz) for clock in clocks)
    yield "Frequency range", _each(_range(clock) for clock in clocks)


def port_facts(machine: Machine, name: str, port: SidePort | None, virtual: bool) -> Iterator[Fact]:
    """A port: the NIC as the kernel of its machine has it, and what DPDK made of it."""
    told = port or SidePort(name=name, virtual=virtual)
    nic = machine.nic(name)
    yield "Device", name
    if virtual:
        yield "NIC", "none: a virtual device, without PCI address, firmware and link speed"
        yield from ((fact, VIRTUAL) for fact in ("PCI address", "Kernel driver", "Firmware", "PCIe", "Link"))
    else:
        found: Mapping[str, Any] = nic or {}
        yield "NIC", model_of(found) if found else known(told.model)
        yield "PCI address", known(found.get("slot") or (name.partition(",")[0] if nic is not None else None))
        yield "Kernel driver", known(found.get("driver"))
        yield "Firmware", told.firmware or known(found.get("firmware"))
        yield "PCIe", _pcie(found)
        yield "Link", _link(told.link_mbps, known(found.get("port_mbps")))
    yield "DPDK driver", known(told.driver)
    node = known(told.node if told.node is not None else (nic or {}).get("numa_node"))
    yield "NUMA node", VIRTUAL if virtual and node == UNKNOWN else node
    yield "MAC address", told.mac or known((nic or {}).get("mac"))
    yield "MTU", known(told.mtu if told.mtu is not None else (nic or {}).get("mtu"))
    yield "Queues", UNKNOWN if told.queues is None else f"{told.queues} RX, {told.queues} TX"
    yield "Descriptors of a queue", _descriptors(told)
    yield "RX offloads", _offloads(told.rx_offloads)
    yield "TX offloads", _offloads(told.tx_offloads)


def link_in_words(mbps: int) -> str:
    """'25 Gbit/s'."""
    return f"{mbps / 1000:g} Gbit/s" if mbps >= 1000 else f"{mbps} Mbit/s"


def _each(values: Iterator[str]) -> str:
    """Each value once: CPUs mostly have the same."""
    return ", ".join(dict.fromkeys(values)) or UNKNOWN


def _mhz(mhz: str) -> str:
    return f"{int(mhz):,} MHz" if mhz.isdecimal() else UNKNOWN


def _range(clock: Clock) -> str:
    if not (clock.least_mhz.isdecimal() and clock.most_mhz.isdecimal()):
        return UNKNOWN
    return f"{int(clock.least_mhz):,} to {int(clock.most_mhz):,} MHz"


def _pcie(nic: Mapping[str, Any]) -> str:
    speed, width = known(nic.get("link_speed")), known(nic.get("link_width"))
    if UNKNOWN in (speed, width) or width == "0":
        return UNKNOWN
    most = known(nic.get("most_link_speed")), known(nic.get("most_link_width"))
    able = f", able to do {most[0]} x{most[1]}" if UNKNOWN not in most and most != (speed, width) else ""
    return f"{speed} x{width}{able}"


def _link(mbps: int | None, kernel_mbps: str) -> str:
    if mbps is None and kernel_mbps.isdecimal():
        mbps = int(kernel_mbps)
    return UNKNOWN if not mbps else link_in_words(mbps)


def _descriptors(port: SidePort) -> str:
    if port.rx_descriptors is None or port.tx_descriptors is None:
        return UNKNOWN
    # `rte_eth_vhost.c` does not use the numbers that a program asks for.
    unused = ", without effect: the queues are those of the other end" if port.driver == "net_vhost" else ""
    return f"{port.rx_descriptors:,} RX, {port.tx_descriptors:,} TX{unused}"


def _offloads(names: Sequence[str] | None) -> str:
    return UNKNOWN if names is None else ", ".join(names) or "none enabled"
