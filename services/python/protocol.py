# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Uvicorn's side of a connection, which refuses what could be read in two ways, and peers that are too slow."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

import httptools
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

# The maximum length of a head in bytes.
LONGEST = 8_192
MOST_HEADERS = 64


@dataclass(frozen=True)
class Refusal:
    """The last answer of a connection: a status, and a sentence; without one, it has no content."""

    status: int
    sentence: str
    headers: str = ""

    def answer(self) -> bytes:
        """As it is sent."""
        if not self.sentence:
            return STATUS_LINE[self.status] + f"{self.headers}connection: close\r\n\r\n".encode()
        head = (
            f"content-type: text/plain\r\ncontent-length: {len(self.sentence)}\r\n{self.headers}connection: close\r\n"
        )
        return STATUS_LINE[self.status] + f"{head}\r\n{self.sentence}".encode()


MALFORMED = Refusal(400, "This is no request of HTTP/1.1.\n")
HAS_BODY = Refusal(400, "The request has a body: send none.\n")
NOT_GET = Refusal(405, "Only GET is answered.\n", "allow: GET\r\n")
# The answer to HEAD has no content (RFC 9110, section 9.3.2).
NO_HEAD = Refusal(405, "", "allow: GET\r\n")
TIMED_OUT = Refusal(408, "The request did not come in time.\n")
TOO_LONG = Refusal(431, "The head is too long: 8192 bytes, 64 fields.\n")


class RefusedError(Exception):
    """Stops the parser."""


class Timer:
    """Calls something, unless it is stopped before."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, call: Callable[[], None]) -> None:
        self._loop, self._seconds, self._call = loop, seconds, call
        self._handle: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """If it does not run already."""
        self._handle = self._handle or self._loop.call_later(self._seconds, self._end)

    def stop(self) -> None:
        """If it runs."""
        if self._handle:
            self._handle.cancel()
            self._handle = None

    def _end(self) -> None:
        self._handle = None
        self._call()


class Protocol(HttpToolsProtocol):
    """One connection. The application gets requests without bodies, and only GET."""

    def __init__(self, timeout_s: float, **words: object) -> None:
        super().__init__(**words)
        # Until a request is complete, and until an answer is taken or a refused peer has closed.
        self._request = Timer(self.loop, timeout_s, self._request_is_late)
        self._answer = Timer(self.loop, timeout_s, self.shutdown)
        # The length of the beginning of a request, as far as it is known.
        self._partial = 0
        self._refusal: Refusal | None = None
        self._answering: RequestResponseCycle | None = None
        self._has_ended = False

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Uvicorn limits the wait for further requests, and not for the first."""
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)

    def connection_lost(self, exc: Exception | None) -> None:
        """Uvicorn forgets its timers, and the request that is being answered if another one has come."""
        if self._answering:
            self._answering.disconnected = True
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self._request.stop()
        self._answer.stop()

    def data_received(self, data: bytes) -> None:
        """Parses requests. After a refusal what comes is read away, so that the peer gets that and not a reset."""
        if self._refusal:
            return
        self._unset_keepalive_if_required()
        self._partial += len(data)
        while data:
            try:
                self.parser.feed_data(data)
                break
            except httptools.HttpParserUpgrade as upgrade:
                # It stays what it is.
                data = memoryview(data)[upgrade.args[0] :]
            except httptools.HttpParserError:
                self._refuse(self._refusal or MALFORMED)
                return
        if self._partial > LONGEST:
            self._refuse(TOO_LONG)
        elif self._partial:
            self._request.start()

    def on_message_begin(self) -> None:
        """Perhaps in the same bytes as the one before."""
        super().on_message_begin()
        self._partial = self._partial or 1

    def on_headers_complete(self) -> None:
        """Passes the request on, or refuses it."""
        self._refusal = self._why_not()
        if self._refusal:
            raise RefusedError
        super().on_headers_complete()
        # Uvicorn closes those of HTTP/1.0.
        self.cycle.keep_alive = self.parser.should_keep_alive()
        if self.cycle.keep_alive and self.scope["http_version"] == "1.0":
            self.cycle.default_headers = [(b"connection", b"keep-alive")]

    def on_message_complete(self) -> None:
        """The next one has its own time."""
        super().on_message_complete()
        self._partial = 0
        self._request.stop()

    def on_response_complete(self) -> None:
        """Uvicorn closes, or begins to answer the next request, or waits for one."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._answer.start()
        elif self.pipeline:
            # Uvicorn would read more before these are answered.
            self.flow.pause_reading()
        elif self._is_idle() and self._refusal:
            self._end()
        elif self._is_idle() and self._has_ended:
            self.transport.close()
            self._answer.start()

    def eof_received(self) -> bool:
        """Uvicorn would close before the answers. Returns whether the connection stays."""
        self._has_ended = True
        if self._is_idle():
            self._answer.start()
        return not self._is_idle()

    def pause_writing(self) -> None:
        """The peer has to read."""
        super().pause_writing()
        self._answer.start()

    def resume_writing(self) -> None:
        """It has read. The last answers have one time-out for all."""
        super().resume_writing()
        if not self.transport.is_closing():
            self._answer.stop()

    def timeout_keep_alive_handler(self) -> None:
        """Uvicorn would wait until all is sent."""
        self.shutdown()

    def shutdown(self) -> None:
        """Ends the connection at once."""
        self.transport.abort()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGIApp) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def _why_not(self) -> Refusal | None:
        length, hosts, lengths = len(self.url), 0, 0
        for name, value in self.headers:
            length += len(name) + len(value)
            if name == b"host":
                hosts += 1
            elif name == b"transfer-encoding":
                return HAS_BODY
            elif name == b"content-length":
                lengths += 1
                if value != b"0" or lengths > 1:
                    return HAS_BODY
        version = self.parser.get_http_version()
        if version not in ("1.0", "1.1") or hosts > 1 or (hosts == 0 and version == "1.1"):
            return MALFORMED
        if length > LONGEST or len(self.headers) > MOST_HEADERS:
            return TOO_LONG
        return {b"GET": None, b"HEAD": NO_HEAD}.get(self.parser.get_method(), NOT_GET)

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _request_is_late(self) -> None:
        if self._is_idle():
            self._refuse(TIMED_OUT)
        else:
            # It is the server that does not read.
            self._request.start()

    def _refuse(self, refusal: Refusal) -> None:
        self._refusal = refusal
        self._request.stop()
        if self._is_idle():
            self._end()

    def _end(self) -> None:
        self.server_state.total_requests += 1
        self.transport.write(self._refusal.answer())
        self.transport.write_eof()
        self._answer.start()
