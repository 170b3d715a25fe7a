# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The wires between generator and device: their kinds, their directions, and the frames on them."""

from __future__ import annotations

from dataclasses import dataclass

from testbed.campaign.embedded.settings import Embedded
from testbed.campaign.report.topology.machine import UNKNOWN
from testbed.campaign.scenario import Frames, Scenario
from testbed.campaign.sizes import sizes_in_words
from testbed.campaign.trex.settings import Trex
from testbed.host.pci import full_address

_VIRTUAL_WIRE = "virtual wire (vhost-user to virtio-user)"
_VETH = "veth pair of the kernel"
_GUEST = "TAP interface to the guest's NIC"
_MEMIF = "memif (shared memory)"
_CABLE = "NIC cable"
_NONE = "none: frames are a model's"
# By the names of the device's ports.
_BY_DRIVER = {"net_virtio_user": _VIRTUAL_WIRE, "net_memif": _MEMIF, "net_af_packet": _VETH}


@dataclass(frozen=True)
class Wire:
    """Joins a port of the generator to a port of the device."""

    kind: str
    # Whether frames pass to the device, and back to the generator.
    there: bool
    back: bool

    @property
    def directions(self) -> str:
        """In words."""
        return (
            "to the device and back"
            if self.there and self.back
            else "to the device"
            if self.there
            else "to the generator"
        )


def port_names(scenario: Scenario, directions: int) -> tuple[list[str], list[str]]:
    """The ports of generator and device as the scenario has them, for programs that do not report theirs."""
    settings = scenario.generator
    ports = directions * scenario.frames.port_pairs
    numbers = range(len(settings.ports) if isinstance(settings, Trex) else ports)
    plain = [f"port {number}" for number in numbers]
    if isinstance(settings, Embedded):
        if settings.guest is not None:
            return [f"net_af_packet{number}" for number in numbers], plain
        ours, theirs = ("af_packet", "af_packet") if settings.wire == "veth" else ("vhost", "virtio_user")
        return [f"net_{ours}{number}" for number in numbers], [f"net_{theirs}{number}" for number in numbers]
    if isinstance(settings, Trex):
        joined = settings.forwarder
        names = [] if joined is None else [one.partition(",")[0] for one in joined.nics or joined.vdevs]
        return [f"port {number}" for number in settings.ports], names or plain
    return plain, plain


def wires(scenario: Scenario, directions: int, names: list[tuple[str, str]], elsewhere: bool) -> list[Wire]:
    """A wire for each pair of ports; `elsewhere`: on a testbed whose own settings only its ports' names tell."""
    # With two ports TRex sends on the first and receives on the second, and the other way for both directions.
    across = isinstance(scenario.generator, Trex) and len(names) == 2 and directions == 1
    return [
        Wire(
            _by_names(*pair) if elsewhere else _kind(scenario, number),
            there=not across or number == 0,
            back=not across or number == 1,
        )
        for number, pair in enumerate(names)
    ]


def frames_in_words(frames: Frames) -> str:
    """'Ethernet, VLAN 100, IPv4, UDP; 64 and 512 bytes'."""
    headers = ["Ethernet", *([word for word in frames.in_words if word.startswith(("VLAN", "QinQ"))])]
    headers += ["IPv4", "UDP", f"VXLAN {frames.vxlan}", "Ethernet"] if frames.vxlan is not None else []
    headers += ["IPv6" if frames.ipv6 else "IPv4", "UDP"]
    return "; ".join([", ".join(headers), sizes_in_words(frames.sizes), *frames.ports_in_words])


def _kind(scenario: Scenario, number: int) -> str:
    settings = scenario.generator
    if isinstance(settings, Embedded):
        if settings.guest is not None:
            return f"{_GUEST} ({settings.guest.nic}, emulated by QEMU)"
        return _VETH if settings.wire == "veth" else _VIRTUAL_WIRE
    if not isinstance(settings, Trex):
        return _NONE
    joined = settings.forwarder
    if joined is None:
        return f"{UNKNOWN}: the scenario does not describe it"
    if joined.nics:
        return f"{_CABLE}, through a switch" if settings.learn else _CABLE
    return _by_names("", joined.vdevs[number])


def _by_names(generator: str, device: str) -> str:
    if full_address(device) is not None:
        return _GUEST if generator.startswith("net_af_packet") else _CABLE
    return next((kind for driver, kind in _BY_DRIVER.items() if device.startswith(driver)), UNKNOWN)
