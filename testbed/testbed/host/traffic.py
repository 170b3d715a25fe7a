# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The traffic of an interface that must not be lost: the default route, and the user's own connection."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterator, Mapping

from testbed.host import pci
from testbed.host.files import Host

_ROUTE_UP = 0x1


def vital_use(host: Host, nic: pci.Device, environment: Mapping[str, str] | None = None) -> str | None:
    """Why this NIC must be left alone: 'the default route' or 'the SSH connection from …'; else None."""
    own = set(nic.interfaces)
    for interface in default_routes(host):
        if own & _below(host, interface):
            return "the default route"
    peer = ssh_peer(host, environment)
    if peer is not None:
        towards = interface_towards(host, peer)
        if towards is not None and own & _below(host, towards):
            return f"the SSH connection from {peer}"
    return None


def default_routes(host: Host) -> set[str]:
    """The interfaces that a default route leads through."""
    return {name for name, network in routes(host) if network.prefixlen == 0}


Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def routes(host: Host) -> Iterator[tuple[str, Network]]:
    """Each route that is up: the interface and the network that it leads to."""
    for line in (host.text("/proc/net/route") or "").splitlines()[1:]:
        words = line.split()
        if len(words) >= 8 and int(words[3], 16) & _ROUTE_UP:
            target, mask = (int.from_bytes(int(words[at], 16).to_bytes(4, "little")) for at in (1, 7))
            yield words[0], ipaddress.IPv4Network((target, mask.bit_count()), strict=False)
    for line in (host.text("/proc/net/ipv6_route") or "").splitlines():
        words = line.split()
        # The last column is the interface; the kernel's own "unreachable" routes are on lo.
        if len(words) >= 10 and words[9] != "lo" and int(words[8], 16) & _ROUTE_UP:
            target = bytes.fromhex(words[0])
            yield words[9], ipaddress.IPv6Network((target, int(words[1], 16)), strict=False)


def interface_towards(host: Host, address: str) -> str | None:
    """The interface of the longest matching route to an address."""
    try:
        wanted = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    wanted = getattr(wanted, "ipv4_mapped", None) or wanted
    fitting = [
        (network.prefixlen, name)
        for name, network in routes(host)
        if network.version == wanted.version and wanted in network
    ]
    return max(fitting)[1] if fitting else None


def ssh_peer(host: Host, environment: Mapping[str, str] | None = None) -> str | None:
    """The address that this user comes from over SSH.

    sudo takes the variable away, so the processes that this one descends from are asked too.
    """
    told = (os.environ if environment is None else environment).get("SSH_CONNECTION")
    process = "self"
    for _ in range(64):
        if told or process in ("0", "1"):
            break
        status = host.field(f"/proc/{process}/status", "PPid")
        if status is None:
            break
        process = status
        told = _variable(host, process, "SSH_CONNECTION")
    return told.split()[0] if told and told.split() else None


def _variable(host: Host, process: str, name: str) -> str | None:
    for assignment in (host.text(f"/proc/{process}/environ") or "").split("\0"):
        key, _, value = assignment.partition("=")
        if key == name:
            return value
    return None


def _below(host: Host, interface: str) -> set[str]:
    """An interface and those that it stands on: the members of a bond or bridge, the parent of a VLAN."""
    found, waiting = set(), [interface]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            links = host.names(f"/sys/class/net/{name}")
            waiting += [link.removeprefix("lower_") for link in links if link.startswith("lower_")]
    return found
