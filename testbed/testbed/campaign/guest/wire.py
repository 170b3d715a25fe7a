# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The way from the embedded generator to the NICs of a guest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

# Frames that the generator's socket holds each way: what a busy machine lets lie is not lost at once.
_FRAMES = 4096
_FRAME_BYTES = 2048
_BLOCK_BYTES = 1 << 16


class GuestWire:
    """Stands where the virtual wire does (`wire.VirtualWire`). It lasts as long as the guest."""

    forwarder_vdevs: tuple[str, ...] = ()
    no_port_reset: str | None = None

    def __init__(self, taps: Sequence[str], nics: Sequence[str]) -> None:
        self._taps = tuple(taps)
        # Their PCI addresses in the guest.
        self.nics = tuple(nics)

    @staticmethod
    def forwarder_mac(port: int) -> str:
        """The address of the NIC, which is the one that the generator sends to from the other end."""
        return f"02:00:00:00:01:{port:02x}"

    @property
    def generator_vdevs(self) -> tuple[str, ...]:
        """Device arguments of the generator."""
        ring = f"framesz={_FRAME_BYTES},framecnt={_FRAMES},blocksz={_BLOCK_BYTES}"
        # Without the queueing discipline a frame that the interface has no room for is refused at once.
        return tuple(f"net_af_packet{port},iface={tap},qdisc_bypass=1,{ring}" for port, tap in enumerate(self._taps))

    def clear_sockets(self) -> None:
        """There are none."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """It stays for the next device."""
