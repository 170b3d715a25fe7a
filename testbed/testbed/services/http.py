# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Exchanges with an HTTP server, byte by byte: what is sent is as wrong as the case wants it."""

from __future__ import annotations

import itertools
import socket
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# A server that says nothing for so long hangs.
PATIENCE_S = 20.0
_ROOM = 65_536


class Unexpected(Exception):  # noqa: N818 (reads better where it is caught)
    """The server did something else than it should; the message says what."""


@dataclass(frozen=True)
class Response:
    """A response whose form was checked."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def closes(self) -> bool:
        """Whether it says that it is the last one of its connection."""
        return "close" in self.headers.get("connection", "").lower()


class Exchange:
    """One connection. Use it in a `with`."""

    def __init__(self, address: str, port: int) -> None:
        self._socket = socket.create_connection((address, port), timeout=PATIENCE_S)
        # Each piece in a segment of its own.
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""

    def __enter__(self) -> Exchange:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, pieces: Iterable[bytes]) -> None:
        """Sends one piece after the other. A server that has enough may close before the last."""
        try:
            for piece in pieces:
                self._socket.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            # What it has said shows whether that was right.
            return

    def half_close(self) -> None:
        """Closes the direction to the server."""
        self._socket.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        """Ends the connection by a reset."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    def response(self) -> Response | None:
        """The next response; None if the server has closed the connection instead.

        Raises `Unexpected`.
        """
        while b"\r\n\r\n" not in self._received:
            if not self._more():
                if self._received:
                    raise Unexpected(f"the connection ends within a response: {self._received[:200]!r}")
                return None
        head, _, self._received = self._received.partition(b"\r\n\r\n")
        status, headers = _parse(head)
        length = headers.get("content-length", "")
        if not length.isascii() or not length.isdigit():
            raise Unexpected(f"Content-Length is '{length}': {head!r}")
        while len(self._received) < int(length):
            if not self._more():
                raise Unexpected(f"{len(self._received)} bytes of a body of {length}")
        body, self._received = self._received[: int(length)], self._received[int(length) :]
        return Response(status, headers, body)

    def end(self) -> None:
        """Waits for the server's end.

        Raises `Unexpected` if anything comes before.
        """
        while self._more():
            pass
        if self._received:
            raise Unexpected(f"more than was asked for: {self._received[:200]!r}")

    def _more(self) -> bool:
        try:
            found = self._socket.recv(_ROOM)
        except TimeoutError as error:
            raise Unexpected(f"nothing for {PATIENCE_S:g} s; before: {self._received[:200]!r}") from error
        except ConnectionResetError as error:
            raise Unexpected(f"the server has reset the connection; before: {self._received[:200]!r}") from error
        self._received += found
        return bool(found)


def _parse(head: bytes) -> tuple[int, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ", 2)
    if len(words) != 3 or words[0] != "HTTP/1.1" or not words[1].isdigit() or len(words[1]) != 3:
        raise Unexpected(f"the status line is {first!r}")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip() or name.lower() in headers:
            raise Unexpected(f"a header is {line!r}")
        headers[name.lower()] = value.strip()
    return int(words[1]), headers


def split(data: bytes, at: Sequence[int]) -> list[bytes]:
    """The pieces between these places."""
    places = [0, *at, len(data)]
    return [data[start:end] for start, end in itertools.pairwise(places) if start < end]
