# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""One connection to a service, over which a case sends and receives bytes."""

from __future__ import annotations

import itertools
import select
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

# A server that says nothing for so long hangs.
PATIENCE_S = 20.0
_ROOM = 65_536


class Unexpected(Exception):  # noqa: N818 (reads better where it is caught)
    """The server did something else than it should; the message says what."""


class _ResetError(Unexpected):
    """The connection was reset."""


@dataclass(frozen=True)
class Case:
    """Something to try. `run` gets the server's address and port, and raises `Unexpected`."""

    name: str
    run: Callable[[str, int], None]


class Exchange:
    """One connection. Use it in a `with`."""

    def __init__(self, address: str, port: int) -> None:
        self._begin(socket.create_connection((address, port), timeout=PATIENCE_S))

    @classmethod
    def accepted(cls, listener: socket.socket) -> Self:
        """The other end of a connection: the next that somebody opens.

        Raises `Unexpected` if nobody does.
        """
        listener.settimeout(PATIENCE_S)
        try:
            accepted, _ = listener.accept()
        except TimeoutError as error:
            raise Unexpected(f"nobody connects for {PATIENCE_S:g} s") from error
        exchange = cls.__new__(cls)
        exchange._begin(accepted)
        return exchange

    def _begin(self, connection: socket.socket) -> None:
        self._socket = connection
        self._socket.settimeout(PATIENCE_S)
        # Each piece in a segment of its own.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = bytearray()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, pieces: Iterable[bytes]) -> None:
        """Sends one piece after the other. A server that has enough may close before the last."""
        try:
            for piece in pieces:
                rest = memoryview(piece)
                # Not sendall, whose time-out is for all of it.
                while rest:
                    rest = rest[self._socket.send(rest) :]
        except (BrokenPipeError, ConnectionResetError):
            # What it has said shows whether that was right.
            return

    @contextmanager
    def sending(self, pieces: Iterable[bytes]) -> Iterator[None]:
        """Sends as `send` does, while the body of the `with` reads: else a server that waits for its reader, and a
        reader that is still sending, would wait for each other.
        """
        sender = threading.Thread(target=self.send, args=(pieces,), daemon=True)
        sender.start()
        yield
        sender.join()

    @contextmanager
    def receiving(self, content: bytes) -> Iterator[None]:
        """Receives while the body of the `with` does something else.

        Raises `Unexpected` at the end if other bytes have come.
        """
        found: list[bytes | Unexpected] = []

        def receive() -> None:
            try:
                found.append(self.receive(len(content)))
            except Unexpected as error:
                found.append(error)

        receiver = threading.Thread(target=receive, daemon=True)
        receiver.start()
        yield
        receiver.join()
        [result] = found
        if isinstance(result, Unexpected):
            raise result
        if result != content:
            raise Unexpected(f"{len(content)} bytes arrive as others")

    def send_until_stuck(self, piece: bytes, most: int, stuck_s: float) -> int:
        """Sends a piece again and again, until nothing is taken for a time, or so many bytes were. Returns how many."""
        sent = 0
        self._socket.setblocking(False)
        while sent < most and select.select([], [self._socket], [], stuck_s)[1]:
            sent += self._socket.send(piece[sent % len(piece) :])
        self._socket.settimeout(PATIENCE_S)
        return sent

    def half_close(self) -> None:
        """Closes the direction to the server."""
        self._socket.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        """Ends the connection by a reset."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    def receive(self, count: int) -> bytes:
        """The next bytes.

        Raises `Unexpected` if they do not come.
        """
        while len(self._received) < count:
            if not self._more():
                raise Unexpected(
                    f"the end after {len(self._received)} of {count} bytes: {bytes(self._received[:200])!r}"
                )
        found = bytes(self._received[:count])
        del self._received[:count]
        return found

    def goes_on(self) -> bool:
        """Whether something comes, which is forgotten, and not the end.

        Raises `Unexpected` if neither does.
        """
        self._received.clear()
        return self._more()

    def end(self) -> None:
        """Waits for the server's end.

        Raises `Unexpected` if anything comes before.
        """
        while self._more():
            pass
        if self._received:
            raise Unexpected(f"more than was asked for: {bytes(self._received[:200])!r}")

    def is_reset(self) -> None:
        """Waits for a reset.

        Raises `Unexpected` if anything else comes.
        """
        try:
            found = self._more()
        except _ResetError:
            return
        raise Unexpected(f"{bytes(self._received[:200])!r} came" if found else "the end came, and not a reset")

    def is_broken(self) -> None:
        """Waits for a reset after the end, which receiving does not tell.

        Raises `Unexpected` if none comes.
        """
        waiting = select.poll()
        waiting.register(self._socket, 0)
        if not waiting.poll(1000 * PATIENCE_S):
            raise Unexpected(f"no reset for {PATIENCE_S:g} s")

    def _more(self) -> bool:
        try:
            found = self._socket.recv(_ROOM)
        except TimeoutError as error:
            raise Unexpected(f"nothing for {PATIENCE_S:g} s; before: {bytes(self._received[:200])!r}") from error
        except ConnectionResetError as error:
            raise _ResetError(
                f"the server has reset the connection; before: {bytes(self._received[:200])!r}"
            ) from error
        self._received += found
        return bool(found)


def expect_reset(address: str, port: int) -> None:
    """Connects, and is reset.

    Raises `Unexpected` if anything else happens.
    """
    try:
        with Exchange(address, port) as exchange:
            exchange.is_reset()
    except ConnectionResetError:
        # Before the connection could be used.
        return


def split(data: bytes, at: Sequence[int]) -> list[bytes]:
    """The pieces between these places."""
    places = [0, *at, len(data)]
    return [data[start:end] for start, end in itertools.pairwise(places) if start < end]
