# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A network interface that comes back with its driver gets its name, MTU, addresses and state again."""

from __future__ import annotations

from typing import Any

from testbed.host.files import Host

_UP = 0x1


def state(host: Host, name: str) -> dict[str, Any]:
    """What there is to put back."""
    folder = f"/sys/class/net/{name}"
    return {
        "name": name,
        "up": bool((host.number(f"{folder}/flags") or 0) & _UP),
        "mtu": host.number(f"{folder}/mtu"),
        "addresses": addresses(host, name),
    }


def addresses(host: Host, name: str) -> list[str]:
    """Its addresses with their prefix, but for those that the kernel makes itself."""
    found = []
    for line in (host.output("ip", "-o", "address", "show", "dev", name) or "").splitlines():
        words = line.split()
        if len(words) > 3 and words[2] in ("inet", "inet6") and "link" not in words[4:]:
            found.append(words[3])
    return found


def put_back(host: Host, name: str, before: dict[str, Any]) -> list[str]:
    """Makes an interface what it was; returns what could not be done."""
    commands = []
    wanted = before["name"]
    if name != wanted:
        # Only an interface that is down can be renamed.
        commands += [["ip", "link", "set", "dev", name, "down"], ["ip", "link", "set", "dev", name, "name", wanted]]
    now = state(host, name)
    if before["mtu"] not in (None, now["mtu"]):
        commands.append(["ip", "link", "set", "dev", wanted, "mtu", str(before["mtu"])])
    if before["up"] and (name != wanted or not now["up"]):
        commands.append(["ip", "link", "set", "dev", wanted, "up"])
    commands += [
        ["ip", "address", "add", address, "dev", wanted]
        for address in before["addresses"]
        if address not in now["addresses"]
    ]
    faults = [(command, host.run(*command)) for command in commands]
    return [f"'{' '.join(command)}' failed: {fault}" for command, fault in faults if fault is not None]
