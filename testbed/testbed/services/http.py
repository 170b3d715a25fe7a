# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Responses of HTTP/1.1, whose form is checked; what is sent is as wrong as a case wants it."""

from __future__ import annotations

from dataclasses import dataclass

from testbed.services.exchange import Exchange, Unexpected


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


class HttpExchange(Exchange):
    """A connection to a web service."""

    def response(self, *, has_content: bool = True) -> Response | None:
        """The next response; None if the server has closed the connection instead.

        That to HEAD has no content.

        Raises `Unexpected`.
        """
        while b"\r\n\r\n" not in self._received:
            if not self._more():
                if self._received:
                    raise Unexpected(f"the connection ends within a response: {bytes(self._received[:200])!r}")
                return None
        head = self.receive(self._received.index(b"\r\n\r\n"))
        self.receive(4)
        status, headers = _parse(head)
        if not has_content:
            return Response(status, headers, b"")
        length = headers.get("content-length", "")
        if not length.isascii() or not length.isdigit():
            raise Unexpected(f"Content-Length is '{length}': {head!r}")
        return Response(status, headers, self.receive(int(length)))


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
