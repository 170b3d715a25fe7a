# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A host whose kernel serves: a network namespace, with the server's interface and a veth pair to the client's.

What the kernel does for a received packet runs on the CPU of the server, as it would for an interrupt of a NIC that is
bound to it: receive packet steering sends what comes to an interface to one CPU, in both directions. Otherwise the
sender's CPU would do the work of the receiver.
"""

from __future__ import annotations

import itertools
import os
from typing import Self

from testbed.run.lcores import LcorePlan
from testbed.run.namespaces import inside, run_tool, turn_off_offloads

_NUMBERS = itertools.count()
# Of the clients' network too.
ADDRESS = "10.0.0.1/8"
MAC = "02:00:00:00:02:00"
# Slots of 2,048 bytes, each for a frame, as many as a virtual wire has.
_RING = "blocksz=4096,framesz=2048,framecnt=1024,qdisc_bypass=1"


class KernelHost:
    """The namespace while the `with` lasts."""

    SERVER, CLIENT = "server", "client"

    def __init__(self, lcores: LcorePlan) -> None:
        self.namespace = f"testbed-{os.getpid()}-race{next(_NUMBERS)}"
        self._lcores = lcores

    @property
    def client_vdev(self) -> str:
        """The client's device argument."""
        return f"net_af_packet0,iface={self.CLIENT},{_RING}"

    def command(self, *argv: str) -> list[str]:
        """`argv`, to be run there."""
        return inside(self.namespace, *argv)

    def __enter__(self) -> Self:
        space = self.namespace
        try:
            run_tool("ip", "netns", "add", space)
            veth = ("type", "veth", "peer", "name", self.CLIENT)
            run_tool("ip", "-n", space, "link", "add", self.SERVER, "address", MAC, *veth)
            run_tool("ip", "-n", space, "address", "add", ADDRESS, "dev", self.SERVER)
            for interface, cpu in ((self.SERVER, self._lcores.forwarder), (self.CLIENT, self._lcores.generator)):
                # Otherwise frames would carry empty checksums, and be longer than a client can take.
                turn_off_offloads(space, interface)
                steering = f"/sys/class/net/{interface}/queues/rx-0/rps_cpus"
                run_tool(*self.command("sh", "-c", f"echo {1 << cpu:x} > {steering}"))
                run_tool("ip", "-n", space, "link", "set", interface, "addrgenmode", "none", "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if os.path.exists(f"/run/netns/{self.namespace}"):  # noqa: PTH110
            run_tool("ip", "netns", "delete", self.namespace)
