# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a profile says."""

from __future__ import annotations

from dataclasses import dataclass

VFIO = "vfio-pci"


@dataclass(frozen=True)
class Descriptors:
    """How many descriptors a queue may have, as the driver reports it, and how many to take for a measurement.

    `most` is None where the device decides. The count must be a multiple of `step`.
    """

    least: int
    most: int | None
    step: int
    advised: int

    def __str__(self) -> str:
        most = "what the device has" if self.most is None else f"{self.most}"
        return f"{self.least} to {most}" + (f", a multiple of {self.step}" if self.step > 1 else "")

    def fault(self, count: int) -> str | None:
        """What is wrong with a count, naming the limit."""
        if count < self.least or (self.most is not None and count > self.most) or count % self.step:
            return f"{count} descriptors: the device takes {self}"
        return None


@dataclass(frozen=True)
class Trap:
    """A problem that takes long to find. `source` is the document that describes it.

    `check` names what the doctor can look at, where it can: see `testbed.doctor.traps`.
    """

    text: str
    source: str
    check: str = ""


@dataclass(frozen=True)
class Profile:
    """A family of NICs that share a driver and its habits."""

    name: str
    # Vendor and device, as `lspci -n` prints them.
    ids: dict[str, str]
    # DPDK's driver, and its plug-in's name: librte_net_….
    driver: str
    plugin: str
    # The kernel's driver; where DPDK shares it with the kernel, it keeps the device.
    kernel_driver: str
    is_bifurcated: bool
    speeds_gbps: tuple[int, ...]
    rx: Descriptors
    tx: Descriptors
    # Receive and transmit queue pairs to begin with.
    queues: int
    # Whether it has no wire, so that the bus and the link have no meaningful rate.
    is_virtual: bool = False
    # Device arguments, after the PCI address of `-a`.
    device_arguments: tuple[str, ...] = ()
    # The EAL's own options.
    eal_options: tuple[str, ...] = ()
    traps: tuple[Trap, ...] = ()

    @property
    def wanted_driver(self) -> str:
        """The kernel's driver that the device should be bound to."""
        return self.kernel_driver if self.is_bifurcated else VFIO

    def allow(self, address: str) -> str:
        """The value of `-a`."""
        return ",".join([address, *self.device_arguments])

    def forwarder_options(self) -> list[str]:
        """Options of l2fwd-rs and l2fwd-c beyond their defaults."""
        return ["--rxd", str(self.rx.advised), "--txd", str(self.tx.advised)]

    def faults(self, rxd: int, txd: int) -> list[str]:
        """What this family refuses of these options, each naming the limit."""
        named = (("--rxd", self.rx.fault(rxd)), ("--txd", self.tx.fault(txd)))
        return [f"{self.name}: {option} {fault}" for option, fault in named if fault]
