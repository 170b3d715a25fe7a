# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Each NIC: its driver, firmware, place on the bus, link and MTU, and what is known of its kind."""

from __future__ import annotations

import re
from collections.abc import Iterator

from testbed.doctor import traps
from testbed.doctor.check import Check, Question, candidates, fail, ok, warn
from testbed.host import pci
from testbed.host.files import Host
from testbed.host.traffic import vital_use
from testbed.nics.profile import VFIO
from testbed.nics.table import is_bifurcated, profile_of

GROUP = "NICs"

_UIO = ("uio_pci_generic", "igb_uio")
# What the bus must carry beyond the frames: headers of its packets, and descriptors.
_BUS_MARGIN = 1.25


def checks(host: Host, question: Question) -> Iterator[Check]:
    """All checks of this group."""
    for address in question.nics:
        found = pci.device(host, address)
        if found is None or not found.is_nic:
            what = (
                "the device does not exist"
                if found is None
                else f"the device is not a NIC (class {found.class_code:06x})"
            )
            listed = ", ".join(nic.address for nic in pci.nics(host)) or "none"
            yield fail(address, what, "the address comes from `lspci -D`", f"name one of these: {listed}")
    if not question.nics:
        for nic in pci.nics(host):
            use = vital_use(host, nic)
            if use is not None:
                yield ok(
                    nic.address,
                    f"{_title(nic)}: carries {use}, not used",
                    "a program that takes it cuts your connection",
                )
    for nic in candidates(host, question):
        if nic.is_nic:
            yield from _nic(host, question, nic)


def _title(nic: pci.Device) -> str:
    profile = profile_of(nic.ids)
    return f"{profile.ids[nic.ids]} [{nic.ids}]" if profile else f"[{nic.ids}]"


def _nic(host: Host, question: Question, nic: pci.Device) -> Iterator[Check]:
    yield _driver(host, question, nic)
    yield _firmware(host, nic)
    yield _bus(host, nic)
    for interface in nic.interfaces:
        yield _link(host, nic, interface)
        yield ok(f"MTU of {interface}", host.text(f"/sys/class/net/{interface}/mtu") or "unknown", _MTU)
    yield from traps.checks(host, question, nic)


_MTU = "frames above it are dropped; DPDK sets its own (--mtu), except where it shares the NIC with the kernel"


def _driver(host: Host, question: Question, nic: pci.Device) -> Check:
    name, why = (
        f"driver of {nic.address}",
        "DPDK uses a NIC through vfio-pci, or shares it with the kernel's driver (mlx5)",
    )
    found = f"{_title(nic)}: {nic.driver or 'none'}"
    use = vital_use(host, nic)
    if use is not None:
        return fail(
            name, f"{found}; it carries {use}", "a program that takes it cuts your connection", "name another NIC"
        )
    prepare = f"./x testbed host prepare --nic {nic.address}"
    if is_bifurcated(nic.ids):
        profile = profile_of(nic.ids)
        wanted = profile.kernel_driver if profile else "its kernel driver"
        if nic.driver and not nic.is_vfio and nic.driver not in _UIO:
            return ok(name, f"{found}, shared with DPDK", why)
        return question.judge(name, found, why, f"bind it to {wanted}: dpdk-devbind.py --bind={wanted} {nic.address}")
    if nic.is_vfio:
        return ok(name, found, why)
    if nic.driver in _UIO:
        return warn(name, f"{found}: without an IOMMU the NIC can write anywhere", why, prepare)
    if nic.driver is None:
        return question.judge(name, found, why, prepare)
    up = [name for name in nic.interfaces if (host.number(f"/sys/class/net/{name}/flags") or 0) & 1]
    lost = f"; its interface {', '.join(up)} is up, and programs that use it lose it" if up else ""
    return question.judge(name, f"{found} of the kernel, not {VFIO}", why, prepare + lost)


def _firmware(host: Host, nic: pci.Device) -> Check:
    name, why = f"firmware of {nic.address}", "old firmware costs rate, and newer DPDK expects newer firmware"
    for interface in nic.interfaces:
        found = re.search(r"^firmware-version: *(\S.*)$", host.output("ethtool", "-i", interface) or "", re.MULTILINE)
        if found:
            return ok(name, found[1].strip(), why)
    asked = "the forwarder has it" if nic.is_vfio else "the driver does not report it, or ethtool is not installed"
    return ok(name, f"unknown: {asked}", why)


def _bus(host: Host, nic: pci.Device) -> Check:
    name, why = (
        f"bus of {nic.address}",
        "each frame crosses it twice; a slot with fewer lanes than the card is a common cause of a low figure",
    )
    link, profile = pci.pcie_link(host, nic), profile_of(nic.ids)
    if link is None or (profile and profile.is_virtual):
        return ok(name, "not on PCI Express, as virtual NICs", why)
    speed = port_speed_gbps(host, nic)
    ports = max(len(pci.functions_of_card(host, nic)), 1)
    found = f"{link}, {link.gbps:.0f} Gbit/s" + (
        f" of a possible {link.most_gts:g} GT/s x{link.most_lanes}" if link.is_reduced else ""
    )
    if speed is None:
        return warn(name, found, why, "use a slot with all lanes") if link.is_reduced else ok(name, found, why)
    found += f"; {ports} port{'s' if ports > 1 else ''} of {speed:g} Gbit/s"
    if link.gbps < speed:
        return fail(
            name,
            f"{found}: less than one port",
            why,
            "use a slot with more lanes, or set its generation in the firmware",
        )
    if link.gbps < _BUS_MARGIN * speed * ports:
        remedy = "use one port a card, or a slot with more lanes" if ports > 1 else "use a slot with more lanes"
        return warn(name, f"{found}: too little for all at line rate", why, remedy)
    return ok(name, found, why)


def port_speed_gbps(host: Host, nic: pci.Device) -> float | None:
    """The speed of a port as the link has it, else the highest of its kind; None if neither is known."""
    for interface in nic.interfaces:
        speed = host.number(f"/sys/class/net/{interface}/speed")
        if speed is not None and speed > 0:
            return speed / 1000
    profile = profile_of(nic.ids)
    return max(profile.speeds_gbps) if profile and profile.speeds_gbps else None


def _link(host: Host, nic: pci.Device, interface: str) -> Check:
    name, why = (
        f"link of {interface}",
        "without a link no frame passes; a speed below the port's points to the cable or the switch",
    )
    folder = f"/sys/class/net/{interface}"
    if not (host.number(f"{folder}/flags") or 0) & 1:
        return ok(name, "unknown: the interface is down", why)
    if host.number(f"{folder}/carrier") != 1:
        return warn(name, "down", why, "check the cable, the module and the other end")
    speed = host.number(f"{folder}/speed")
    return ok(name, "up" + (f", {speed} Mbit/s" if speed and speed > 0 else ""), why)
