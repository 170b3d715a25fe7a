# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Two connections that are joined."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable

from program import Place

# So much is read at a time. All connections share it: what was read is passed on at once.
ROOM = memoryview(bytearray(65_536))
# A pair on which nothing moves is reset after so many time-outs.
IDLE_TIMEOUTS = 6


class Pair:
    """A client, and the connection to the back end that belongs to it."""

    def __init__(self, to: Place, timeout_s: float, over: Callable[[Pair, bool], None]) -> None:
        self.loop = asyncio.get_running_loop()
        self.client, self.back_end = End(self), End(self)
        self.is_joined = False
        # When something happened last.
        self.active = self.loop.time()
        self._to, self._timeout_s, self._over = to, timeout_s, over
        self._is_over = False
        self._unsent = 0
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def opened(self, end: End) -> None:
        """A connection is there."""
        if end is self.client:
            self._task = self.loop.create_task(self._connect())

    def ended(self) -> None:
        """A direction has ended, and that was passed on."""
        if self.client.has_ended and self.back_end.has_ended:
            # When all is sent.
            self.client.transport.close()
            self.back_end.transport.close()

    def lost(self, *, is_broken: bool) -> None:
        """A connection is closed."""
        if not self.is_joined:
            # The client, before its time.
            return
        if is_broken or not (self.client.has_ended and self.back_end.has_ended):
            self.break_off()
        elif not (self.client.is_open or self.back_end.is_open):
            self._end(is_broken=False)

    def break_off(self) -> None:
        """Resets both connections."""
        if not self._is_over:
            self._end(is_broken=True)
            self.client.reset()
            self.back_end.reset()

    async def _connect(self) -> None:
        try:
            async with asyncio.timeout(self._timeout_s):
                await self.loop.create_connection(lambda: self.back_end, str(self._to.address), self._to.port)
        except OSError:
            self.break_off()
        else:
            self._join()

    def _join(self) -> None:
        self.is_joined = True
        if not (self.client.is_open and self.back_end.is_open):
            self.break_off()
            return
        self.active = self.loop.time()
        self._look()
        self.client.peer, self.back_end.peer = self.back_end, self.client
        self.client.start()
        self.back_end.start()

    def _look(self) -> None:
        """Breaks off what does not move."""
        now, unsent = self.loop.time(), self.client.unsent() + self.back_end.unsent()
        if unsent != self._unsent:
            self.active, self._unsent = now, unsent
        rest_s = self.active + IDLE_TIMEOUTS * self._timeout_s - now
        if rest_s > 0:
            self._timer = self.loop.call_later(rest_s, self._look)
        else:
            self.break_off()

    def _end(self, *, is_broken: bool) -> None:
        self._is_over = True
        self._task.cancel()
        if self._timer:
            self._timer.cancel()
        self._over(self, is_broken)


class End(asyncio.BufferedProtocol):
    """One connection of a pair."""

    def __init__(self, pair: Pair) -> None:
        self.peer: End | None = None
        self.transport: asyncio.Transport | None = None
        self.is_open = self.has_ended = False
        self._pair = pair
        # What has come before there is a peer.
        self._held = b""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """The connection is there."""
        self.transport, self.is_open = transport, True
        # While anything waits to be sent, the peer is not read.
        transport.set_write_buffer_limits(high=0)
        self._pair.opened(self)

    def get_buffer(self, _sizehint: int) -> memoryview:
        """Where bytes go."""
        return ROOM

    def buffer_updated(self, nbytes: int) -> None:
        """Passes bytes on."""
        self._pair.active = self._pair.loop.time()
        data = bytes(ROOM[:nbytes])
        if self.peer:
            self.peer.transport.write(data)
        else:
            self._held = data
            self.transport.pause_reading()

    def eof_received(self) -> bool:
        """Passes the end of this direction on. Returns that the other one goes on."""
        self._pair.active = self._pair.loop.time()
        self.has_ended = True
        if self.peer:
            self.peer.transport.write_eof()
            self._pair.ended()
        return True

    def pause_writing(self) -> None:
        """Bytes wait to be sent."""
        self.peer.transport.pause_reading()

    def resume_writing(self) -> None:
        """All are sent."""
        self._pair.active = self._pair.loop.time()
        self.peer.transport.resume_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        self.is_open = False
        self._pair.lost(is_broken=exc is not None)

    def start(self) -> None:
        """Passes on what has come before there was a peer."""
        if self._held:
            # Unless the peer stops it again.
            self.transport.resume_reading()
            self.peer.transport.write(self._held)
            self._held = b""
        elif self.has_ended:
            self.eof_received()

    def unsent(self) -> int:
        """So many bytes wait to be sent."""
        return self.transport.get_write_buffer_size()

    def reset(self) -> None:
        """Resets the connection."""
        if self.is_open:
            reset(self.transport)


class Rejected(asyncio.Protocol):
    """A connection that is too much."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Resets it."""
        reset(transport)


def reset(transport: asyncio.Transport) -> None:
    """Closes a connection by a reset."""
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()
