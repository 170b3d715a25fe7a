# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The virtual wire: the device arguments that link the generator with a forwarder."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Protocol, Self

from testbed.run.scratch import scratch_folder


class Wire(Protocol):
    """What joins the embedded generator's ports to a forwarder's, one by one, while the `with` lasts."""

    @property
    def forwarder_vdevs(self) -> tuple[str, ...]:
        """Device arguments of the device under test."""
        ...

    @property
    def nics(self) -> tuple[str, ...]:
        """Its NICs, by their PCI addresses."""
        ...

    @property
    def generator_vdevs(self) -> tuple[str, ...]:
        """Device arguments of the generator."""
        ...

    @property
    def no_port_reset(self) -> str | None:
        """Why the forwarder's ports cannot be stopped and started again; None if they can."""
        ...

    def forwarder_mac(self, port: int) -> str:
        """The address of the forwarder's port."""
        ...

    def clear_sockets(self) -> None:
        """Removes what a killed forwarder has left."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *details: object) -> None: ...


class VirtualWire:
    """virtio-user and vhost-user devices of two processes, joined one by one by sockets in a private folder that goes
    away at the end.

    The forwarder has the virtio devices: to its driver they are what a virtio NIC is, with descriptors, an MTU and a
    MAC address of their own. The generator has the vhost devices and connects, again and again, to whichever forwarder
    listens: so either side can go and come back. A forwarder waits inside the EAL's initialisation until the generator
    has connected; start both, then wait.
    """

    DEVICE = "net_virtio_user"
    # What the device really holds; the number of descriptors that a program asks for does not enlarge it.
    RING_SIZE = 1024
    nics: tuple[str, ...] = ()
    # The generator notices only a queue that is no longer emptied.
    no_port_reset: str | None = None

    def __init__(self, ports: int, queues: int = 1, ring_size: int = RING_SIZE) -> None:
        self.ports = ports
        self.queues = queues
        self.ring_size = ring_size
        self._folder: Path | None = None
        self._cleanup = contextlib.ExitStack()

    @staticmethod
    def forwarder_mac(port: int) -> str:
        """The address of the forwarder's port."""
        return f"02:00:00:00:02:{port:02x}"

    def socket(self, port: int) -> Path:
        """Where the forwarder listens for the generator's port."""
        assert self._folder is not None, "use it in a with"
        return self._folder / f"wire{port}.sock"

    @property
    def forwarder_vdevs(self) -> tuple[str, ...]:
        """Device arguments of the device under test."""
        return tuple(
            f"{self.DEVICE}{port},server=1,queues={self.queues},queue_size={self.ring_size},"
            f"mac={self.forwarder_mac(port)},path={self.socket(port)}"
            for port in range(self.ports)
        )

    @property
    def generator_vdevs(self) -> tuple[str, ...]:
        """Device arguments of the generator."""
        return tuple(
            f"net_vhost{port},client=1,queues={self.queues},iface={self.socket(port)}" for port in range(self.ports)
        )

    def clear_sockets(self) -> None:
        """Removes what a killed forwarder has left: a new one could not listen there."""
        for port in range(self.ports):
            self.socket(port).unlink(missing_ok=True)

    def __enter__(self) -> Self:
        self._folder = self._cleanup.enter_context(scratch_folder())
        return self

    def __exit__(self, *_: object) -> None:
        self._folder = None
        self._cleanup.close()
