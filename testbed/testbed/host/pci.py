# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Devices on the PCI bus, the network devices among them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from testbed.host.files import Host

DEVICES = "/sys/bus/pci/devices"
DRIVERS = "/sys/bus/pci/drivers"

# PCI classes (PCI Code and ID Assignment Specification): network controllers, bridges.
_NETWORK, _BRIDGE = 0x02, 0x06
_ADDRESS = re.compile(r"(?:([0-9a-fA-F]{1,8}):)?([0-9a-fA-F]{1,2}):([0-9a-fA-F]{1,2})\.([0-7])")


@dataclass(frozen=True)
class Device:
    """A device of the bus as the kernel shows it."""

    address: str
    vendor: int
    device: int
    class_code: int
    # The kernel's driver that it is bound to.
    driver: str | None
    # Its IOMMU group.
    group: str | None
    # Its NUMA node, -1 if the firmware does not report it.
    node: int
    # Its network interfaces.
    interfaces: tuple[str, ...]

    @property
    def folder(self) -> str:
        """Where the kernel has it."""
        return f"{DEVICES}/{self.address}"

    @property
    def ids(self) -> str:
        """Vendor and device: '8086:158b'."""
        return f"{self.vendor:04x}:{self.device:04x}"

    @property
    def is_nic(self) -> bool:
        """Whether it is a network controller."""
        return self.class_code >> 16 == _NETWORK

    @property
    def is_bridge(self) -> bool:
        """Whether it is a bridge, which does no harm in a group."""
        return self.class_code >> 16 == _BRIDGE

    @property
    def is_vfio(self) -> bool:
        """Whether it is in the hands of VFIO."""
        return self.driver is not None and "vfio" in self.driver


@dataclass(frozen=True)
class PcieLink:
    """A PCI Express link: transfers in GT/s for each lane, and lanes; what is in use, and what the device could do."""

    gts: float
    lanes: int
    most_gts: float
    most_lanes: int

    @property
    def gbps(self) -> float:
        """Gbit/s in each direction, after the line code: 8b/10b up to 5 GT/s, 128b/130b above (PCIe 3.0, 4.2)."""
        return self.gts * self.lanes * (0.8 if self.gts <= 5 else 128 / 130)

    def __str__(self) -> str:
        return f"{self.gts:g} GT/s x{self.lanes}"

    @property
    def is_reduced(self) -> bool:
        """Whether the slot gives less than the device could do."""
        return self.gts < self.most_gts or self.lanes < self.most_lanes


def full_address(text: str) -> str | None:
    """'1:0.0' → '0000:01:00.0'; None if it is no address."""
    found = _ADDRESS.fullmatch(text.strip())
    if found is None:
        return None
    domain, bus, slot, function = (int(part or "0", 16) for part in found.groups())
    return f"{domain:04x}:{bus:02x}:{slot:02x}.{function}"


def device(host: Host, address: str) -> Device | None:
    """The device at a full address, if there is one."""
    folder = f"{DEVICES}/{address}"
    class_code = host.number(f"{folder}/class")
    if class_code is None:
        return None
    node = host.number(f"{folder}/numa_node")
    return Device(
        address,
        host.number(f"{folder}/vendor") or 0,
        host.number(f"{folder}/device") or 0,
        class_code,
        host.link(f"{folder}/driver"),
        host.link(f"{folder}/iommu_group"),
        -1 if node is None else node,
        tuple(_interfaces(host, folder)),
    )


def _interfaces(host: Host, folder: str) -> list[str]:
    # The interface of a virtio NIC hangs on a device of its own.
    inner = [f"{folder}/{name}" for name in host.names(folder) if name.startswith("virtio")]
    return [name for place in [folder, *inner] for name in host.names(f"{place}/net")]


def nics(host: Host) -> list[Device]:
    """The network controllers, by address."""
    found = (device(host, address) for address in host.names(DEVICES))
    return [nic for nic in found if nic is not None and nic.is_nic]


def pcie_link(host: Host, nic: Device) -> PcieLink | None:
    """The device's link; None if it is not on PCI Express, or the kernel does not say."""
    values = [
        re.match(r"[0-9.]+", host.text(f"{nic.folder}/{name}") or "")
        for name in ("current_link_speed", "current_link_width", "max_link_speed", "max_link_width")
    ]
    if None in values:
        return None
    gts, lanes, most_gts, most_lanes = (float(value[0]) for value in values if value)
    return PcieLink(gts, int(lanes), most_gts, int(most_lanes)) if lanes else None


def functions_of_card(host: Host, nic: Device) -> list[Device]:
    """The NICs that share its link to the bus: the functions of the same device, virtual ones left out."""
    slot = nic.address.partition(".")[0]
    return [
        other
        for other in nics(host)
        if other.address.partition(".")[0] == slot and not host.exists(f"{other.folder}/physfn")
    ]
