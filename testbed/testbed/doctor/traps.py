# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The known traps of a NIC's profile: checked if possible, otherwise listed."""

from __future__ import annotations

from collections.abc import Iterator

from testbed.doctor.check import Check, Question, ok
from testbed.host import iommu, pci
from testbed.host.files import Host
from testbed.nics.profile import Trap
from testbed.nics.table import profile_of

# Bit 33 of a virtio device's features: it goes through the IOMMU (virtio 1.1, 6).
_ACCESS_PLATFORM = 33
_DDP_FOLDERS = ("/lib/firmware/updates/intel/ice/ddp", "/lib/firmware/intel/ice/ddp")


def checks(host: Host, question: Question, nic: pci.Device) -> Iterator[Check]:
    """One for each trap of the NIC's profile."""
    profile = profile_of(nic.ids)
    if profile is None:
        return
    for number, trap in enumerate(profile.traps, 1):
        name, why = f"trap {number} of {nic.address}", f"{trap.text} ({trap.source})"
        seen = sprung(host, nic, trap)
        if seen is None:
            yield ok(name, profile.name, why)
        elif seen[0]:
            yield question.judge(name, seen[1], why, seen[2])
        else:
            yield ok(name, seen[1], why)


def sprung(host: Host, nic: pci.Device, trap: Trap) -> tuple[bool, str, str] | None:
    """Whether the trap is sprung, what was read, and the remedy; None if it cannot be looked at."""
    look = LOOKS.get(trap.check)
    return look(host, nic) if look else None


def _ddp(host: Host, _: pci.Device) -> tuple[bool, str, str]:
    there = [f"{folder}/{name}" for folder in _DDP_FOLDERS for name in host.names(folder) if ".pkg" in name]
    if there:
        return False, f"DDP package: {there[0]}", ""
    return (
        True,
        "no DDP package",
        "install the package firmware-misc-nonfree (Debian) or linux-firmware, or Intel's own",
    )


def _mlx5_ib(host: Host, _: pci.Device) -> tuple[bool, str, str]:
    missing = [name for name in ("mlx5_core", "mlx5_ib", "ib_uverbs") if not host.has_module(name)]
    if missing:
        return True, f"not loaded: {', '.join(missing)}", f"modprobe -a {' '.join(missing)}, and install rdma-core"
    return False, "mlx5_core, mlx5_ib and ib_uverbs are loaded", ""


def _access_platform(host: Host, nic: pci.Device) -> tuple[bool, str, str] | None:
    if not iommu.is_on(host):
        return None
    # Bound to vfio-pci it has no such folder.
    for name in host.names(nic.folder):
        features = host.text(f"{nic.folder}/{name}/features") if name.startswith("virtio") else None
        if features and len(features) > _ACCESS_PLATFORM:
            if features[_ACCESS_PLATFORM] == "1":
                return False, "the device goes through the IOMMU", ""
            remedy = "give the device to the virtual machine with disable-legacy=on,iommu_platform=on"
            return True, "the device bypasses the IOMMU (iommu_platform is off): the forwarder would hang", remedy
    return None


def _no_iommu(host: Host, _: pci.Device) -> tuple[bool, str, str]:
    if iommu.is_on(host) or iommu.is_yes(host, iommu.NO_IOMMU_MODE):
        return False, "vfio-pci can take it", ""
    return True, "no IOMMU, and VFIO is not set to work without one", f"echo 1 >{iommu.NO_IOMMU_MODE}"


# By the name in the profile.
LOOKS = {"ddp": _ddp, "mlx5_ib": _mlx5_ib, "access_platform": _access_platform, "no_iommu": _no_iommu}
