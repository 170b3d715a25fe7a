# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the echo server has to do: it sends messages of any size back, marked as replies, until the end."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack

from testbed.services.exchange import Case, Exchange, Unexpected, split

TEXT, BYTES, END, ERROR = 1, 2, 3, 4
REPLY = 0x80
HEADER_BYTES = 9
SIZES = (0, 1, 2, 63, 64, 65, 1_459, 1_460, 1_461, 4_095, 4_096, 4_097, 16_384, 65_535, 65_536, 1_000_000)
# Far more than the buffers of both ends have room for.
LARGE = 32 << 20
CROWD = 1_000
END_MESSAGE = bytes([END]) + bytes(8)


def message(kind: int, content: bytes = b"") -> bytes:
    """A header, and what follows it."""
    return bytes([kind]) + len(content).to_bytes(8) + content


def content_of(length: int, seed: int = 1) -> bytes:
    """Bytes that no shift or cut leaves as they are."""
    return random.Random(seed * 1_000_003 + length).randbytes(length)


def cases() -> Iterator[Case]:
    """All of them."""
    for kind, name in ((TEXT, "text"), (BYTES, "bytes")):
        for length in SIZES:
            yield _returns(f"{name} of {length} bytes", [(kind, content_of(length))])
    yield _returns("several messages", [(TEXT, b"one"), (BYTES, b""), (TEXT, b"three"), (BYTES, content_of(5_000))])
    yield _returns("500 messages", [(BYTES, content_of(number, number)) for number in range(500)])
    yield from _pieces()
    yield from _ends()
    yield Case("a large message", _large)
    yield Case("half closed within a message", _half_closed_within)
    yield Case("reset within a message", _reset)
    yield Case(f"{CROWD} connections", _crowd)
    yield Case("a message that never ends", _slow)


def _pieces() -> Iterator[Case]:
    """Two messages and the end, split."""
    wanted = [(TEXT, b"a few words"), (BYTES, bytes(range(40)))]
    data = b"".join(message(*each) for each in wanted) + END_MESSAGE
    for place in range(1, len(data)):
        yield _exchanges(f"split at byte {place}", split(data, [place]), wanted)
    yield _exchanges("byte by byte", split(data, range(1, len(data))), wanted)
    yield _exchanges("all in one", [data], wanted)


def _ends() -> Iterator[Case]:
    yield _exchanges("an end at once", [END_MESSAGE], [])
    yield _exchanges("what follows the end is ignored", [END_MESSAGE + message(TEXT, b"late")], [])
    for kind in (0, ERROR, 5, 0x7F, REPLY, REPLY | TEXT, REPLY | END, 0xFF):
        yield _refused(f"kind {kind:#x}", bytes([kind]) + bytes(8))
    yield _refused("an end with content", message(END, b"x"))
    yield _refused("an end with more content than there can be", bytes([END]) + b"\xff" * 8)
    yield _refused("a web request", b"GET / HTTP/1.1\r\nHost: echo\r\n\r\n")
    yield _refused("a wrong kind after a message", message(TEXT, b"right") + bytes([9]) + bytes(8), [(TEXT, b"right")])


def _exchanges(name: str, pieces: list[bytes], wanted: list[tuple[int, bytes]]) -> Case:
    """Pieces with messages and the end."""

    def run(address: str, port: int) -> None:
        with Exchange(address, port) as exchange, exchange.sending(pieces):
            for kind, content in wanted:
                _expect(exchange, kind, content)
            _expect(exchange, END, b"")
            exchange.end()

    return Case(name, run)


def _returns(name: str, wanted: list[tuple[int, bytes]]) -> Case:
    return _exchanges(name, [*(message(*each) for each in wanted), END_MESSAGE], wanted)


def _refused(name: str, data: bytes, before: list[tuple[int, bytes]] | None = None) -> Case:
    """Answered by an error with a sentence, and the end of the connection."""

    def run(address: str, port: int) -> None:
        with Exchange(address, port) as exchange:
            exchange.send([data])
            for kind, content in before or []:
                _expect(exchange, kind, content)
            _expect_error(exchange)

    return Case(name, run)


def _expect(exchange: Exchange, kind: int, content: bytes) -> None:
    header = exchange.receive(HEADER_BYTES)
    wanted = message(kind | REPLY, content)[:HEADER_BYTES]
    if header != wanted:
        raise Unexpected(f"the header is {header.hex()}, not {wanted.hex()}")
    if exchange.receive(len(content)) != content:
        raise Unexpected(f"{len(content)} bytes of kind {kind} come back as others")


def _expect_error(exchange: Exchange) -> None:
    header = exchange.receive(HEADER_BYTES)
    length = int.from_bytes(header[1:])
    if header[0] != ERROR | REPLY or not 0 < length < 1_000:
        raise Unexpected(f"the header is {header.hex()}, not one of an error")
    text = exchange.receive(length)
    if not text.decode("utf-8", "replace").endswith("."):
        raise Unexpected(f"no sentence: {text!r}")
    exchange.end()


def _large(address: str, port: int) -> None:
    content = content_of(LARGE)
    with Exchange(address, port) as exchange, exchange.sending([message(BYTES, content), END_MESSAGE]):
        _expect(exchange, BYTES, content)
        _expect(exchange, END, b"")
        exchange.end()


def _half_closed_within(address: str, port: int) -> None:
    with Exchange(address, port) as exchange:
        exchange.send([message(TEXT, b"whole"), message(TEXT, b"half")[:-2]])
        exchange.half_close()
        _expect(exchange, TEXT, b"whole")
        # Of the other, what has come may come back.
        while exchange.goes_on():
            pass


def _reset(address: str, port: int) -> None:
    for length in (1, HEADER_BYTES, 100):
        exchange = Exchange(address, port)
        exchange.send([message(BYTES, bytes(1_000))[:length]])
        exchange.reset()
    with Exchange(address, port) as exchange:
        exchange.send([message(TEXT, b"still there")])
        _expect(exchange, TEXT, b"still there")


def _crowd(address: str, port: int) -> None:
    with ExitStack() as stack:
        crowd = [stack.enter_context(Exchange(address, port)) for _ in range(CROWD)]
        for turn in range(2):
            for number, exchange in enumerate(crowd):
                exchange.send([message(BYTES, content_of(100, number + turn))])
            for number, exchange in enumerate(crowd):
                _expect(exchange, BYTES, content_of(100, number + turn))


def _slow(address: str, port: int) -> None:
    """The server has to end this by itself."""
    with Exchange(address, port) as exchange:
        exchange.send([message(BYTES, bytes(1_000))[:-1]])
        while exchange.goes_on():
            pass
