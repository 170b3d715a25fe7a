# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""All profiles, and which of them a NIC has."""

from testbed.nics.intel import E810, E1000, IGB, X520, X710, XXV710
from testbed.nics.nvidia import CONNECTX5, CONNECTX6, CONNECTX7
from testbed.nics.profile import Profile
from testbed.nics.virtual import ENA, VIRTIO, VMXNET3

PROFILES: tuple[Profile, ...] = (
    XXV710,
    X710,
    E810,
    CONNECTX5,
    CONNECTX6,
    CONNECTX7,
    X520,
    VIRTIO,
    VMXNET3,
    ENA,
    E1000,
    IGB,
)

# As scenarios and the command line name them.
NAMES: dict[str, Profile] = {
    "xxv710": XXV710,
    "x710": X710,
    "e810": E810,
    "connectx-5": CONNECTX5,
    "connectx-6": CONNECTX6,
    "connectx-7": CONNECTX7,
    "x520": X520,
    "virtio": VIRTIO,
    "vmxnet3": VMXNET3,
    "ena": ENA,
    "e1000": E1000,
    "igb": IGB,
}

_BY_ID = {ids: profile for profile in PROFILES for ids in profile.ids}

# DPDK shares these vendors' NICs with the kernel: NVIDIA (Mellanox) and Microsoft.
_BIFURCATED_VENDORS = (0x15B3, 0x1414)


class NoProfile(ValueError):  # noqa: N818 (reads better where it is caught)
    """Nothing is known of such a NIC; the message says of which there is."""


def profile_named(name: str) -> Profile:
    """The profile of this name, or of a NIC by vendor and device.

    Raises `NoProfile`.
    """
    found = NAMES.get(name.lower()) or profile_of(name.lower())
    if found is None:
        raise NoProfile(f"no profile for the NIC '{name}': choose from {', '.join(NAMES)}, or give vendor:device")
    return found


def profile_of(ids: str) -> Profile | None:
    """The profile of a NIC by vendor and device, such as '8086:158b'."""
    return _BY_ID.get(ids)


def is_bifurcated(ids: str) -> bool:
    """Whether DPDK uses such a NIC through the kernel's own driver, so that it must not be bound to vfio-pci."""
    profile = profile_of(ids)
    return profile.is_bifurcated if profile else int(ids.partition(":")[0], 16) in _BIFURCATED_VENDORS
