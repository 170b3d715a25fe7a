# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A wire through the kernel: a veth pair for each port, with DPDK's af_packet device at both ends.

It needs root and is as fast as the kernel, which drops what it cannot carry. It stands where `VirtualWire` can.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Self

from testbed.run.namespaces import NamespacesUnavailable, run_tool
from testbed.run.process import ProcessError
from testbed.wire.virtual_wire import VirtualWire

# The kernel's limit is 15 letters. The name contains the process id, to distinguish leftovers from interfaces in use.
_NAME = re.compile(r"tb(\d+)[gd]\d+")
_INTERFACES = Path("/sys/class/net")
NO_PORT_RESET = "over veth: af_packet closes its sockets when a port is stopped, and opens none when it is started"
_MTU = 9000
# A slot of af_packet's ring holds a frame and what the kernel says of it. Slots lie in blocks, of whole pages.
_SLOT_BYTES, _LONG_SLOT_BYTES, _BLOCK_BYTES = 2048, 16384, 4096
_SLOTS = 512
_KERNEL_BYTES = 128


class VethWire:
    """Veth pairs while the `with` lasts; the other end of each is the forwarder's, with the address that a virtual wire
    gives it. Nobody speaks IP on them, so that nothing but test frames passes.
    """

    nics: tuple[str, ...] = ()
    no_port_reset: str | None = NO_PORT_RESET

    def __init__(self, ports: int, longest: int) -> None:
        self.ports = ports
        long = longest + _KERNEL_BYTES > _SLOT_BYTES
        slot, block = (_LONG_SLOT_BYTES,) * 2 if long else (_SLOT_BYTES, _BLOCK_BYTES)
        self._ring = f"blocksz={block},framesz={slot},framecnt={_SLOTS}"

    def interfaces(self, port: int) -> tuple[str, str]:
        """The generator's and the forwarder's."""
        owner = os.getpid()
        return f"tb{owner}g{port}", f"tb{owner}d{port}"

    @staticmethod
    def forwarder_mac(port: int) -> str:
        """The address of the forwarder's port."""
        return VirtualWire.forwarder_mac(port)

    @property
    def generator_vdevs(self) -> tuple[str, ...]:
        """Device arguments of the generator."""
        return tuple(self._vdev(port, self.interfaces(port)[0]) for port in range(self.ports))

    @property
    def forwarder_vdevs(self) -> tuple[str, ...]:
        """Device arguments of the device under test."""
        return tuple(self._vdev(port, self.interfaces(port)[1]) for port in range(self.ports))

    def _vdev(self, port: int, interface: str) -> str:
        return f"net_af_packet{port},iface={interface},{self._ring}"

    def clear_sockets(self) -> None:
        """Nothing of a killed forwarder stays in the way."""

    def __enter__(self) -> Self:
        try:
            remove_stale()
            for port in range(self.ports):
                self._make(port)
        except NamespacesUnavailable as error:
            self.__exit__()
            raise ProcessError(
                f"no veth pair can be made: {error}: be root, or leave wire out of the scenario"
            ) from None
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for port in range(self.ports):
            _remove(self.interfaces(port)[0])

    def _make(self, port: int) -> None:
        ours, theirs = self.interfaces(port)
        index, peer_index = (str(number) for number in interface_indexes(os.getpid(), port))
        run_tool("ip", "link", "add", ours, "index", index, "type", "veth", "peer", "index", peer_index, "name", theirs)
        run_tool("ip", "link", "set", theirs, "address", self.forwarder_mac(port))
        for interface in (ours, theirs):
            # Otherwise the kernel sends frames of its own, to find neighbours and routers.
            if Path("/proc/sys/net/ipv6").exists():
                run_tool("ip", "link", "set", interface, "addrgenmode", "none")
            run_tool("ip", "link", "set", interface, "mtu", str(_MTU), "up")


def interface_indexes(owner: int, port: int) -> tuple[int, int]:
    """The kernel's numbers for both ends of a pair of the process `owner`.

    af_packet names its sockets' group by the lower 16 bits of its process's number xor the interface's, and the kernel
    refuses a name that a socket on another interface has. Processes that start one after the other have neighbouring
    numbers, so those of the ends differ in a higher bit.
    """
    group = (owner & 0x3FFF) << 16 | port
    return group | 0x4000, group | 0xC000


def remove_stale(interfaces: Path = _INTERFACES) -> list[str]:
    """Removes the pairs of runs that no longer live; returns the names of their ends."""
    found = [(entry.name, _NAME.fullmatch(entry.name)) for entry in sorted(interfaces.iterdir())]
    stale = [name for name, owner in found if owner and not Path(f"/proc/{owner[1]}").exists()]
    for name in stale:
        _remove(name)
    return stale


def _remove(interface: str) -> None:
    """Its other end goes with it; what is not there is no error."""
    if (_INTERFACES / interface).exists():
        with contextlib.suppress(NamespacesUnavailable):
            run_tool("ip", "link", "delete", interface)
