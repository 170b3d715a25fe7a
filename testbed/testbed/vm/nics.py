# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""NICs of a guest: where QEMU puts them, and the addresses that they then have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from testbed.vm.guest import Guest

# Device options of QEMU for each model. A virtio device uses the IOMMU only with an option.
MODELS = {
    "e1000": "e1000",
    "e1000e": "e1000e",
    "igb": "igb",
    "vmxnet3": "vmxnet3",
    "virtio": "virtio-net-pci,disable-legacy=on,iommu_platform=on",
    "virtio-past-the-iommu": "virtio-net-pci,disable-legacy=on",
}
# The kernel's, by the model where their names differ.
_DRIVERS = {"virtio": "virtio_net", "virtio-past-the-iommu": "virtio_net"}
# Of the root complex, the slots before are taken by what else a guest has.
_FIRST_SLOT = 4
_BRIDGE_SLOT = 0x1C


@dataclass(frozen=True)
class EmulatedNic:
    """A NIC as it is described to QEMU."""

    model: str
    # QEMU's names of the device, and of the other end of its wire.
    device: str
    netdev: str
    mac: str


def kernel_driver(model: str) -> str:
    """The kernel's driver, which is its module."""
    return _DRIVERS.get(model, model)


def nic_devices(nics: Sequence[EmulatedNic], *, on_root_bus: bool = False) -> list[str]:
    """The words of `-device`: each NIC on a port of its own; those of model e1000 share a bridge, and so a group.

    AMD's IOMMU of QEMU 7.2 takes devices behind ports for others, since it asks for their bus before it has a number:
    with it they must be on the root bus, where none can be taken out.
    """
    devices = []
    if not on_root_bus and any(nic.model == "e1000" for nic in nics):
        devices.append(f"pcie-pci-bridge,id=bridge,addr={_BRIDGE_SLOT:x}")
    for number, nic in enumerate(nics):
        place, slot = f"bus=bridge,addr={number + 1}", number + _FIRST_SLOT
        if on_root_bus:
            place = f"addr={slot:x}"
        elif nic.model != "e1000":
            devices.append(f"pcie-root-port,id=port{number},chassis={number + 1},addr={slot:x}")
            place = f"bus=port{number}"
        devices.append(f"{MODELS[nic.model]},id={nic.device},netdev={nic.netdev},mac={nic.mac},{place}")
    return devices


def nic_addresses(guest: Guest, drivers: Sequence[str]) -> dict[str, str]:
    """The PCI address of each NIC by its MAC address, as reported by the kernel's drivers."""
    listed = guest.check(f"""
        for name in {" ".join(drivers)}; do modprobe $name 2>/dev/null; done
        for interface in /sys/class/net/*; do
            [ ! -e $interface/device ] || echo $(cat $interface/address) $(readlink -f $interface/device)
        done
        true""")
    found = {}
    for line in listed.splitlines():
        mac, path = line.split()
        found[mac] = next(part for part in reversed(path.split("/")) if part.count(":") == 2)
    return found
