# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""EAL arguments: DPDK's own options, before the `--`."""

from __future__ import annotations

import os
from dataclasses import dataclass

from testbed.run.runtime_folders import unique_file_prefix

__all__ = ["EalOptions", "hugepages_free", "hugepages_wanted", "unique_file_prefix"]

# Enough for the largest pool that the demo's forwarders ask for (2 ports of 1,024 descriptors), with room to spare.
_MEMORY_MB_WITHOUT_HUGEPAGES = 256
MEMORY_BYTES_WITHOUT_HUGEPAGES = _MEMORY_MB_WITHOUT_HUGEPAGES << 20


def hugepages_wanted() -> bool:
    """What `x` found out and exported; without `x`, whether there are free hugepages that this user may use."""
    told = os.environ.get("DPDK_HUGEPAGES")
    if told in ("0", "1"):
        return told == "1"
    return hugepages_free() > 0 and any(
        fields[2] == "hugetlbfs" and os.access(fields[1], os.W_OK) for fields in _mounts()
    )


def hugepages_free() -> int:
    """Free hugepages of the kernel's default size."""
    with open("/proc/meminfo") as meminfo:  # noqa: PTH123
        return next((int(line.split()[1]) for line in meminfo if line.startswith("HugePages_Free:")), 0)


def hugepages_free_bytes() -> int:
    """What they hold."""
    with open("/proc/meminfo") as meminfo:  # noqa: PTH123
        sizes = [int(line.split()[1]) << 10 for line in meminfo if line.startswith("Hugepagesize:")]
    return hugepages_free() * sizes[0] if sizes else 0


def _mounts() -> list[list[str]]:
    with open("/proc/mounts") as mounts:  # noqa: PTH123
        return [line.split() for line in mounts]


@dataclass(frozen=True)
class EalOptions:
    """Where a DPDK process runs and which devices it sees."""

    lcore: int
    file_prefix: str
    vdevs: tuple[str, ...]
    hugepages: bool
    # PCI addresses; without one PCI is off.
    nics: tuple[str, ...] = ()
    # Lcores in DPDK's own words, where one CPU is not enough.
    lcores: tuple[str, ...] = ()
    telemetry: bool = False
    more: tuple[str, ...] = ()

    def argv(self) -> list[str]:
        """The arguments, in DPDK's spelling."""
        return [*self.alone(), *self.devices()]

    def alone(self) -> list[str]:
        """The arguments but for the devices."""
        words = [*self.lcores] if self.lcores else ["-l", str(self.lcore)]
        words += ([] if self.nics else ["--no-pci"]) + ([] if self.telemetry else ["--no-telemetry"])
        words += [f"--file-prefix={self.file_prefix}"]
        if self.hugepages:
            # Neither hugepages nor a run-time folder remain, however the process ends.
            # One file is what a virtio device can share with its peer.
            words += ["--in-memory", "--single-file-segments"]
        else:
            # DPDK 22.11 refuses --in-memory together with this.
            words += ["--no-huge", "-m", str(_MEMORY_MB_WITHOUT_HUGEPAGES)]
        return [*words, *self.more]

    def devices(self) -> list[str]:
        """The devices."""
        return [*(f"--vdev={vdev}" for vdev in self.vdevs), *(f"--allow={nic}" for nic in self.nics)]
