# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""How deep the queues of the virtual wire are: as deep as the pauses of this machine need, if its memory allows."""

from __future__ import annotations

from dataclasses import dataclass

from testbed.campaign.devices.command import Command
from testbed.campaign.devices.device import DeviceKind
from testbed.wire.virtual_wire import VirtualWire

# Of virtio's split queues.
MOST_FRAMES = 32_768
# A buffer of the forwarders and of testpmd, with what DPDK keeps of it in the queue and beside it.
_FRAME_BYTES = 2_700
# Of the memory; the generator has the rest.
_SHARE = 0.75
_OPTIONS = ("--rxd", "--txd")


@dataclass
class Rings:
    """The queues of a campaign: the first device that is calibrated decides, so that all have the same."""

    # Of the campaign.
    devices: int = 1
    frames: int | None = None


def adjustable(kind: DeviceKind) -> bool:
    """Whether it can be told how many descriptors to use, and its user does not say it."""
    options = getattr(kind, "options", ())
    return not isinstance(kind, Command) and not any(word.startswith(_OPTIONS) for word in options)


def frames_needed(pause_s: float, load_fps: float, queues: int, memory_bytes: float) -> int:
    """A power of two that holds what comes in the longest pause at the highest load; the greatest possible, if none
    does.

    There are `queues` to the device, and as many back with half as many descriptors, in so much memory.
    """
    needed = _power_of_two_from(pause_s * load_fps)
    room = _power_of_two_from(_SHARE * memory_bytes / (1.5 * queues * _FRAME_BYTES) + 1) // 2
    return max(VirtualWire.RING_SIZE, min(needed, room, MOST_FRAMES))


def descriptors(frames: int) -> tuple[int, int]:
    """Those of the device's RX and TX queues, of rings with so many entries.

    The driver of virtio frees sent frames when fewer than 32 entries of the ring are free: the whole ring at once,
    which takes 0.6 ms with 32,768. Of a queue with fewer descriptors than entries it frees as many as it needs. Half
    of them are enough: while the device makes up for a pause, the generator takes more than half of what it sends.
    """
    return frames, frames // 2


def _power_of_two_from(number: float) -> int:
    """The least that is no less."""
    return 1 << max(0, int(-(-number // 1)) - 1).bit_length()
