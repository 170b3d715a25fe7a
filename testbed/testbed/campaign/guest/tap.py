# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A TAP interface between a guest's NIC and a packet socket: what is sent to the interface arrives at the NIC."""

from __future__ import annotations

import fcntl
import os
import struct
import subprocess
from pathlib import Path
from typing import Self

from testbed.run.process import ProcessError

_TUN = Path("/dev/net/tun")
# linux/if_tun.h
_TUNSETIFF = 0x400454CA
_IFF_TAP = 0x0002
_IFF_NO_PI = 0x1000
# The kernel puts in a number that is free.
_NAME = b"testbed%d"
# Frames that the kernel keeps for the guest: as many as the NIC's ring has descriptors by default.
_QUEUE_FRAMES = 1024


class TapError(ProcessError):
    """No TAP interface is available; the message says what to do."""


class Tap:
    """An interface that is there as long as anybody has `fd`: QEMU, or this process."""

    def __init__(self, name: str, fd: int) -> None:
        self.name, self.fd = name, fd

    @classmethod
    def open(cls) -> Self:
        """Makes an interface, on which this machine itself says nothing.

        Raises `TapError`.
        """
        try:
            fd = os.open(_TUN, os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            raise TapError(
                f"cannot open {_TUN}: {error.strerror}: run it as root, on a kernel with the module tun"
            ) from error
        try:
            request = struct.pack("16sH22x", _NAME, _IFF_TAP | _IFF_NO_PI)
            name = fcntl.ioctl(fd, _TUNSETIFF, request)[:16].rstrip(b"\0").decode()
            tap = cls(name, fd)
            tap._silence()
        except OSError as error:
            os.close(fd)
            raise TapError(f"cannot make a TAP interface: {error.strerror}: run it as root") from error
        except BaseException:
            os.close(fd)
            raise
        return tap

    def _silence(self) -> None:
        # Neighbour discovery and multicast groups would send frames of their own into the measurement.
        ipv6 = Path(f"/proc/sys/net/ipv6/conf/{self.name}/disable_ipv6")
        if ipv6.exists():
            ipv6.write_text("1")
        words = ["txqueuelen", str(_QUEUE_FRAMES), "arp", "off", "multicast", "off", "up"]
        done = subprocess.run(
            ["ip", "link", "set", "dev", self.name, *words], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise TapError(f"cannot set up {self.name}: {done.stderr.strip()}: run it as root")

    def close(self) -> None:
        """Lets it go: whoever else has it keeps it. May be called again."""
        fd, self.fd = self.fd, -1
        if fd >= 0:
            os.close(fd)
