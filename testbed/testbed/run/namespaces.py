# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Two hosts and the place between them, as Linux network namespaces joined by veth pairs.

```
 left ── veth ── port0 [ dut ] port1 ── veth ── right
 198.18.0.1        the forwarder          198.18.0.2
```

The forwarder's ports lie in a namespace of their own, so nothing of the machine's network is touched, and deleting the
three namespaces takes everything away with them.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_PREFIX = "testbed"
_ROLES = ("left", "dut", "right")
_NAME = re.compile(rf"{_PREFIX}-(\d+)-({'|'.join(_ROLES)}|race\d+)")


class NamespacesUnavailable(Exception):  # noqa: N818 (a reason to skip, not a fault)
    """This machine or this user cannot have network namespaces; the message says why."""


@dataclass(frozen=True)
class Host:
    """One end: a namespace with one interface."""

    namespace: str
    address: str
    # The forwarder sends all frames from its port N to this address, so the host there must have it.
    mac: str
    interface: str = "veth0"

    @property
    def network(self) -> str:
        """The address and its prefix."""
        return f"{self.address}/24"

    def command(self, *argv: str) -> list[str]:
        """`argv`, to be run on this host."""
        return inside(self.namespace, *argv)


def inside(namespace: str, *argv: str) -> list[str]:
    """`argv`, to be run in `namespace`."""
    return ["ip", "netns", "exec", namespace, *argv]


class TwoHosts:
    """The namespaces while the `with` lasts."""

    DUT_INTERFACES = ("port0", "port1")

    def __init__(self) -> None:
        owner = os.getpid()
        self.dut = f"{_PREFIX}-{owner}-dut"
        self.left = Host(f"{_PREFIX}-{owner}-left", "198.18.0.1", "02:00:00:00:00:00")
        self.right = Host(f"{_PREFIX}-{owner}-right", "198.18.0.2", "02:00:00:00:00:01")

    def __enter__(self) -> Self:
        try:
            self._create()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def _create(self) -> None:
        for namespace in (self.left.namespace, self.dut, self.right.namespace):
            run_tool("ip", "netns", "add", namespace)
        for host, port in zip((self.left, self.right), self.DUT_INTERFACES, strict=True):
            veth, space = host.interface, host.namespace
            run_tool("ip", "-n", space, "link", "add", veth, "type", "veth", "peer", "name", port, "netns", self.dut)
            run_tool("ip", "-n", space, "link", "set", veth, "address", host.mac)
            run_tool("ip", "-n", space, "address", "add", host.network, "dev", veth)
            # A veth leaves checksums and segmentation to a NIC that never comes: frames would carry empty checksums,
            # and 64 KiB of TCP at once, which no forwarder of Ethernet frames can take.
            turn_off_offloads(host.namespace, veth)
            run_tool(*inside(self.dut, "ethtool", "-K", port, "gro", "off"))
            # IPv6 is not used; without an address its neighbour discovery does not disturb the counts.
            for where, interface in ((space, veth), (self.dut, port)):
                run_tool("ip", "-n", where, "link", "set", interface, "addrgenmode", "none")
                run_tool("ip", "-n", where, "link", "set", interface, "up")

    def remove(self) -> None:
        """Takes the namespaces away with all that runs in them; what is not there is no error."""
        for namespace in (self.left.namespace, self.dut, self.right.namespace):
            _remove(namespace)


def turn_off_offloads(namespace: str, interface: str) -> None:
    """Lets packets of an interface be as on a wire: with checksums, and not longer than its MTU."""
    off = [word for feature in ("tx", "tso", "gso", "gro") for word in (feature, "off")]
    run_tool(*inside(namespace, "ethtool", "-K", interface, *off))


def check_available() -> None:
    """Raises `NamespacesUnavailable` unless network namespaces can be made and wired."""
    for tool in ("ip", "ethtool"):
        if shutil.which(tool) is None:
            raise NamespacesUnavailable(f"'{tool}' is not in PATH: install the packages iproute2 and ethtool")
    if os.geteuid() != 0:
        raise NamespacesUnavailable("network namespaces need root: run it as root to include this act")


def remove_stale() -> list[str]:
    """Removes the namespaces of runs that no longer live; returns their names."""
    stale = [name for name in _existing() if not Path(f"/proc/{_owner(name)}").exists()]
    for name in stale:
        _remove(name)
    return stale


def _existing() -> list[str]:
    with contextlib.suppress(OSError):
        return sorted(entry.name for entry in Path("/run/netns").iterdir() if _NAME.fullmatch(entry.name))
    return []


def _owner(namespace: str) -> int:
    found = _NAME.fullmatch(namespace)
    return int(found[1]) if found else 0


def _remove(namespace: str) -> None:
    if not Path("/run/netns", namespace).exists():
        return
    # A process that stays keeps the namespace alive after its name is gone.
    with contextlib.suppress(NamespacesUnavailable):
        for pid in run_tool("ip", "netns", "pids", namespace).split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
    with contextlib.suppress(NamespacesUnavailable):
        run_tool("ip", "netns", "delete", namespace)


def run_tool(*argv: str) -> str:
    """What a tool prints.

    Raises `NamespacesUnavailable` if it cannot be run or fails.
    """
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NamespacesUnavailable(f"cannot run '{' '.join(argv)}': {error}") from error
    if done.returncode != 0:
        why = done.stderr.strip().splitlines()
        raise NamespacesUnavailable(f"'{' '.join(argv)}' failed: {why[-1] if why else 'no message'}")
    return done.stdout
