# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The other end of a guest's NIC: frames go in and come out as datagrams of a Unix socket, one for each frame."""

from __future__ import annotations

import contextlib
import itertools
import select
import selectors
import socket
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

# Marks the test's frames, to distinguish them from those of the guest's kernel: IEEE 802 local experimental.
ETHERTYPE = bytes.fromhex("88b5")
_LONGEST = 65536
_BUFFER_BYTES = 8 << 20
# Markers and probes have numbers from here on, frames of a stream below.
_FIRST_MARKER = 1 << 24
# So long one is waited for before the next is sent.
_MARKER_S = 1.0
_FIRST_PROBE = 1 << 28


class Wire:
    """One NIC's wire. `folder` must have a short path: sockets' may have 107 bytes."""

    def __init__(self, folder: Path, name: str, mac: str) -> None:
        self.name, self.mac = name, mac
        # How many probes have come out here.
        self.probes = 0
        self._theirs, ours = folder / f"{name}.qemu", folder / f"{name}.here"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(ours))
        # A dead guest must not block its tester.
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
        ends = f"local.type=unix,local.path={self._theirs},remote.type=unix,remote.path={ours}"
        # QEMU's option.
        self.netdev = f"dgram,id={name},{ends}"

    def send(self, frame: bytes) -> bool:
        """Sends a frame without its FCS; False if the guest has no room for it now."""
        try:
            self.socket.sendto(frame, str(self._theirs))
        except (BlockingIOError, InterruptedError):
            return False
        return True

    def receive(self) -> list[bytes]:
        """The frames of ours that have arrived."""
        found = []
        with contextlib.suppress(BlockingIOError):
            while True:
                frame = self.socket.recv(_LONGEST)
                if frame[12:14] == ETHERTYPE:
                    found.append(frame)
        # A probe may arrive late, and does not count.
        frames = [frame for frame in found if number_of(frame) < _FIRST_PROBE]
        self.probes += len(found) - len(frames)
        return frames

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()


def number_of(frame: bytes) -> int:
    """The number of a frame that `make_frames` made."""
    return int.from_bytes(frame[14:18])


@dataclass
class Stream:
    """Frames that go in at one wire and are expected at another."""

    into: Wire
    out: Wire
    frames: Sequence[bytes]
    received: list[bytes] = field(default_factory=list)
    sent: int = 0


def make_frames(into: Wire, sizes: Iterable[int], first: int = 0) -> list[bytes]:
    """Frames to a wire's NIC, of these lengths without FCS, each with its number and bytes of its own."""
    frames = []
    for number, size in enumerate(sizes, first):
        head = bytes.fromhex(into.mac.replace(":", "")) + bytes.fromhex("020000000099") + ETHERTYPE
        body = number.to_bytes(4) + bytes((number + at) & 0xFF for at in range(min(size, 64)))
        frames.append((head + body * (size // len(body) + 1))[:size])
    return frames


def await_forwarding(streams: Sequence[Stream], timeout_s: float) -> None:
    """Sends probes until one has come out of each stream: some devices lose frames for a while after they are started.

    Raises `TimeoutError`.
    """
    deadline = time.monotonic() + timeout_s
    before = [stream.out.probes for stream in streams]
    for number in itertools.count(_FIRST_PROBE):
        waiting = [stream for stream, probes in zip(streams, before, strict=True) if stream.out.probes == probes]
        if not waiting:
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"nothing comes out of {', '.join(stream.out.name for stream in waiting)}")
        for stream in waiting:
            stream.into.send(make_frames(stream.into, [60], number)[0])
        select.select([stream.out.socket for stream in waiting], [], [], 0.1)
        for stream in waiting:
            stream.received += stream.out.receive()


def exchange(streams: Sequence[Stream], window: int, timeout_s: float) -> None:
    """Sends all frames of all streams, at most `window` of each under way, and collects until all are back.

    Ends early only when nothing has come back for `timeout_s`: what is missing then is for the caller to tell.
    """
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            selector.register(stream.out.socket, selectors.EVENT_READ)
        quiet_since = time.monotonic()
        while any(len(stream.received) < len(stream.frames) for stream in streams):
            for stream in streams:
                while stream.sent < min(len(stream.frames), len(stream.received) + window):
                    if not stream.into.send(stream.frames[stream.sent]):
                        break
                    stream.sent += 1
            selector.select(0.02)
            for stream in streams:
                new = stream.out.receive()
                if new:
                    stream.received += new
                    quiet_since = time.monotonic()
            if time.monotonic() - quiet_since > timeout_s:
                return


def flood(stream: Stream, timeout_s: float) -> None:
    """Sends as fast as the guest takes them, and collects until all that got through is back.

    That is so once a frame that was sent behind them is back, which may take several of these.
    """
    deadline = time.monotonic() + timeout_s
    while stream.sent < len(stream.frames) and time.monotonic() < deadline:
        if stream.into.send(stream.frames[stream.sent]):
            stream.sent += 1
        stream.received += stream.out.receive()
    for number in range(_FIRST_MARKER, _FIRST_MARKER + 1000):
        stream.into.send(make_frames(stream.into, [60], number)[0])
        again = time.monotonic() + _MARKER_S
        # All that is there: a guest that was held up is behind with earlier markers.
        while time.monotonic() < again:
            select.select([stream.out.socket], [], [], _MARKER_S)
            new = stream.out.receive()
            stream.received += new
            if any(number_of(frame) == number for frame in new):
                return
        if time.monotonic() > deadline:
            return
