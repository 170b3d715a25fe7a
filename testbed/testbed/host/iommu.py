# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The IOMMU: whether it is on, its groups, and whether it remaps interrupts."""

from __future__ import annotations

from testbed.host import pci
from testbed.host.files import Host

GROUPS = "/sys/kernel/iommu_groups"
UNSAFE_INTERRUPTS = "/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts"
NO_IOMMU_MODE = "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"

_OFF = ("intel_iommu=off", "amd_iommu=off", "iommu=off")


def is_on(host: Host) -> bool:
    """Whether the kernel uses an IOMMU: then devices are in groups."""
    return bool(host.names(GROUPS))


def why_off(host: Host) -> tuple[str, str]:
    """What says that it is off, and the remedy."""
    parameters = [word for word in host.boot_parameters() if word in _OFF]
    if parameters:
        return f"the kernel was started with {parameters[0]}", f"take {parameters[0]} off the kernel's command line"
    if host.exists("/sys/firmware/acpi/tables/DMAR"):
        return "the firmware describes one (DMAR), and the kernel does not use it", (
            "add intel_iommu=on iommu=pt to the kernel's command line"
        )
    if host.exists("/sys/firmware/acpi/tables/IVRS"):
        return "the firmware describes one (IVRS), and the kernel does not use it", (
            "turn the IOMMU on in the firmware's set-up, and add iommu=pt to the kernel's command line"
        )
    return "the firmware describes none", (
        "turn on VT-d or AMD-Vi in the firmware's set-up, then add intel_iommu=on iommu=pt (Intel) or iommu=pt (AMD) "
        "to the kernel's command line; a virtual machine must be given one"
    )


def is_yes(host: Host, parameter: str) -> bool:
    """Whether a module's parameter is on."""
    return host.text(parameter) in ("Y", "1")


def in_the_way(host: Host, nic: pci.Device) -> list[pci.Device]:
    """Devices of the same group that a driver of the kernel has: VFIO hands the group out only without them.

    Bridges and pci-stub do no harm (vfio_dev_viable in the kernel's drivers/vfio/group.c).
    """
    if nic.group is None:
        return []
    members = [pci.device(host, address) for address in host.names(f"{GROUPS}/{nic.group}/devices")]
    return [
        member
        for member in members
        if member is not None
        and member.address != nic.address
        and member.driver not in (None, "pci-stub")
        and not member.is_vfio
        and not member.is_bridge
    ]


def remaps_interrupts(host: Host) -> bool:
    """Whether interrupts go through the IOMMU; on x86 the names of the controllers say so."""
    interrupts = host.text("/proc/interrupts") or ""
    return " IO-APIC" not in interrupts or " IR-IO-APIC" in interrupts
