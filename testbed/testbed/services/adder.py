# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the adder has to do: `GET /add/A/B` is answered by `A + B = C`, and everything else is refused."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack

from testbed.services.exchange import Case, Unexpected, split
from testbed.services.http import HttpExchange, Response

LEAST, MOST = -(2**63), 2**63 - 1
# A head of as many bytes is answered, and one of twice as many is not.
LONG_HEAD = 7_000
# Far more than the buffers of both ends have room for.
PIPELINED = 20_000
CROWD = 1_000


def get(target: str = "/add/1/2", *headers: str, version: str = "HTTP/1.1", host: str | None = "adder") -> bytes:
    """A request."""
    lines = [f"GET {target} {version}", *([f"Host: {host}"] if host is not None else []), *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1")


def sum_of(a: int, b: int) -> bytes:
    """The body of an answer."""
    return f"{a} + {b} = {a + b}\n".encode()


def cases() -> Iterator[Case]:
    """All of them."""
    yield from _sums()
    yield from _numbers()
    yield from _pages()
    yield from _malformed()
    yield from _smuggled()
    yield from _kept_alive()
    yield from _pieces()
    yield from _hard()


def _sums() -> Iterator[Case]:
    numbers = (0, 1, -1, 7, 1_000_000_007, MOST, LEAST, MOST - 1)
    for a, b in itertools.product(numbers, numbers):
        if LEAST <= a + b <= MOST:
            yield _answers(f"{a} + {b}", [get(f"/add/{a}/{b}")], [sum_of(a, b)])
        else:
            yield _refused(f"{a} + {b} is too large", get(f"/add/{a}/{b}"), 400, keeps=True)
    for text, value in (("007", 7), ("-0", 0), ("-007", -7), ("0" * 100 + "5", 5)):
        yield _answers(f"{text[:8]} is {value}", [get(f"/add/{text}/1")], [sum_of(value, 1)])


def _numbers() -> Iterator[Case]:
    wrong = [
        "",
        "-",
        "+1",
        "--1",
        "1.0",
        "1e3",
        "0x10",
        "a",
        "1a",
        "a1",
        "%31",
        "1%20",
        "1,2",
        "NaN",
    ]
    large = [str(MOST + 1), str(LEAST - 1), "9" * 30, "-" + "9" * 300]
    for text in (*wrong, *large):
        yield _refused(f"'{text[:24]}' as first number", get(f"/add/{text}/1"), 400, keeps=True)
        yield _refused(f"'{text[:24]}' as second number", get(f"/add/1/{text}"), 400, keeps=True)
    yield _refused("a query", get("/add/1/2?a=b"), 400, keeps=True)


def _pages() -> Iterator[Case]:
    for target in (
        "/",
        "/add",
        "/add/",
        "/add/1",
        "/add/1/2/",
        "/add/1/2/3",
        "/sub/1/2",
        "//add/1/2",
        "/ADD/1/2",
        "/a" * 99,
    ):
        yield _refused(f"no page {target[:24]}", get(target), 404, keeps=True)
    for target in ("http://adder/add/3/4", "http://adder:80/add/3/4", "HTTP://x/add/3/4"):
        yield _answers(f"the whole address {target}", [get(target)], [sum_of(3, 4)])
    yield Case("method HEAD", _head)
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "get", "GETS", "G"):
        yield _refused(f"method {method}", get().replace(b"GET", method.encode(), 1))


def _malformed() -> Iterator[Case]:
    good = get()
    for name, request in (
        ("no version", b"GET /add/1/2\r\n\r\n"),
        ("version 0.9", get(version="HTTP/0.9")),
        ("version 2.0", get(version="HTTP/2.0")),
        ("version in small letters", get(version="http/1.1")),
        ("version without a minor number", get(version="HTTP/1")),
        ("two spaces before the target", good.replace(b"GET /", b"GET  /")),
        ("two spaces after the target", good.replace(b" HTTP", b"  HTTP")),
        ("a tab for a space", good.replace(b"GET ", b"GET\t")),
        ("a space before the method", b" " + good),
        ("no target", b"GET HTTP/1.1\r\nHost: adder\r\n\r\n"),
        ("a fourth word", good.replace(b"HTTP/1.1", b"HTTP/1.1 x")),
        ("no host", get(host=None)),
        ("two hosts", get("/add/1/2", "Host: other")),
        ("a header without a colon", get("/add/1/2", "Nonsense")),
        ("a header without a name", get("/add/1/2", ": value")),
        ("a space in a name", get("/add/1/2", "Na me: value")),
        ("a space before a colon", get("/add/1/2", "Name : value")),
        ("a folded header", get("/add/1/2", "Name: one", " two")),
        ("a tab before the first header", b"GET /add/1/2 HTTP/1.1\r\n\tX: y\r\nHost: adder\r\n\r\n"),
        ("NUL in a header", get("/add/1/2", "Name: a\0b")),
        ("NUL in the target", get("/add/1/\0")),
        ("a control character in a name", get("/add/1/2", "Na\x01me: x")),
        ("a control character in a value", get("/add/1/2", "Name: \x01")),
        ("a carriage return alone", get("/add/1/2", "Name: a\rb")),
        ("line feeds alone", good.replace(b"\r\n", b"\n")),
        ("a line feed alone after the first line", good.replace(b"\r\n", b"\n", 1)),
        ("a line feed alone before a header", get("/add/1/2", "A: b\nC: d")),
        ("a TLS greeting", bytes.fromhex("16030100c8010000c40303") + bytes(32) + b"\r\n\r\n"),
        ("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("letters beyond ASCII in the target", get("/add/1/\xb2")),
        ("letters beyond ASCII in the method", b"G\xc9T /add/1/2 HTTP/1.1\r\nHost: adder\r\n\r\n"),
    ):
        yield _refused(name, request)
    long = "x" * (2 * LONG_HEAD)
    yield _refused("a header that is too long", get("/add/1/2", f"Long: {long}"))
    yield _refused("a name that is too long", get("/add/1/2", f"{long}: x"))
    yield _refused("a target that is too long", get(f"/add/1/{'0' * 2 * LONG_HEAD}"))
    yield _refused("too many headers", get("/add/1/2", *(f"N{number}: x" for number in range(1_000))))
    yield _refused("a head without an end", b"GET /add/1/2 HTTP/1.1\r\nLong: " + long.encode())
    yield _answers("a long head", [get("/add/1/2", "Long: " + "x" * LONG_HEAD)], [sum_of(1, 2)])
    yield _answers("empty lines before a request", [b"\r\n\r\n" + good + b"\r\n" + good], [sum_of(1, 2)] * 2)
    yield _answers("any order and letters", [get("/add/1/2", "hOsT: adder", "X-Y: z", host=None)], [sum_of(1, 2)])
    yield _answers("white space around a value", [get("/add/1/2", "X: \t y \t")], [sum_of(1, 2)])


def _smuggled() -> Iterator[Case]:
    """Requests whose end two servers would see in different places, with a second request inside."""
    inner = get("/add/40/2")
    for name, headers, body in (
        ("a body", [f"Content-Length: {len(inner)}"], inner),
        ("two lengths", ["Content-Length: 0", f"Content-Length: {len(inner)}"], inner),
        ("two lengths in one", [f"Content-Length: 0, {len(inner)}"], inner),
        ("twice the same length", ["Content-Length: 0", "Content-Length: 0"], inner),
        ("a length with a sign", ["Content-Length: +0"], inner),
        ("a length in hexadecimal", ["Content-Length: 0x0"], inner),
        ("a negative length", ["Content-Length: -1"], inner),
        ("an empty length", ["Content-Length:"], inner),
        ("a length of letters", ["Content-Length: none"], inner),
        ("a huge length", ["Content-Length: 18446744073709551616"], inner),
        ("a space before the colon of the length", ["Content-Length : 0"], inner),
        ("chunks", ["Transfer-Encoding: chunked"], b"0\r\n\r\n" + inner),
        ("chunks and a length", ["Content-Length: 0", "Transfer-Encoding: chunked"], b"0\r\n\r\n" + inner),
        ("a length and chunks", ["Transfer-Encoding: chunked", f"Content-Length: {len(inner)}"], inner),
        ("chunks in large letters", ["TRANSFER-ENCODING: CHUNKED"], b"0\r\n\r\n" + inner),
        ("an unknown encoding", ["Transfer-Encoding: xchunked"], inner),
        ("identity", ["Transfer-Encoding: identity"], inner),
        ("two encodings", ["Transfer-Encoding: gzip, chunked"], b"0\r\n\r\n" + inner),
        ("an encoding behind a tab", ["Transfer-Encoding:\tchunked"], b"0\r\n\r\n" + inner),
        ("a space before the colon of the encoding", ["Transfer-Encoding : chunked"], b"0\r\n\r\n" + inner),
        ("a folded encoding", ["X: y", " Transfer-Encoding: chunked"], b"0\r\n\r\n" + inner),
        ("chunks with a line feed alone", ["X: y\nTransfer-Encoding: chunked"], b"0\n\n" + inner),
    ):
        yield _refused(f"smuggled by {name}", get("/add/1/2", *headers) + body)
    yield _answers("a length of 0", [get("/add/1/2", "Content-Length: 0") + inner], [sum_of(1, 2), sum_of(40, 2)])


def _kept_alive() -> Iterator[Case]:
    again = [get("/add/1/2"), get("/add/3/4"), get("/add/5/6")]
    yield _answers("several requests", again, [sum_of(1, 2), sum_of(3, 4), sum_of(5, 6)])
    yield _answers("after a refused number", [get("/add/x/2"), get()], [400, sum_of(1, 2)])
    yield _answers("after a page that is not there", [get("/x"), get()], [404, sum_of(1, 2)])
    for token in ("close", "Close", "CLOSE", "x, close", "close, x", "keep-alive, close"):
        yield _answers(
            f"Connection: {token}", [get("/add/1/2", f"Connection: {token}") + get()], [sum_of(1, 2)], closes=True
        )
    yield _answers("Connection: keep-alive", [get("/add/1/2", "Connection: keep-alive"), get()], [sum_of(1, 2)] * 2)
    for headers in ((), ("Connection: close",)):
        old = get("/add/1/2", *headers, version="HTTP/1.0", host=None)
        yield _answers(f"version 1.0 {' '.join(headers)}".strip(), [old + old], [sum_of(1, 2)], closes=True)
    kept = get("/add/1/2", "Connection: keep-alive", version="HTTP/1.0")
    yield _answers("version 1.0, kept alive", [kept, kept], [sum_of(1, 2)] * 2)


def _pieces() -> Iterator[Case]:
    data, bodies = get("/add/12/-7", "X: y") + get("/add/0/1"), [sum_of(12, -7), sum_of(0, 1)]
    for place in range(1, len(data)):
        yield _answers(f"split at byte {place}", split(data, [place]), bodies)
    yield _answers("byte by byte", split(data, range(1, len(data))), bodies)
    yield _answers("all in one", [data], bodies)
    for count in (2, 10, 500):
        many = b"".join(get(f"/add/{number}/1") for number in range(count))
        yield _answers(f"{count} requests in one", [many], [sum_of(number, 1) for number in range(count)])


def _hard() -> Iterator[Case]:
    yield Case("half closed after a request", _half_closed)
    yield Case("half closed within a request", _half_closed_within)
    yield Case(f"{PIPELINED} requests in a row", _many)
    yield Case("reset within a request", _reset)
    yield Case(f"{CROWD} connections", _crowd)
    yield Case("a request that never ends", _slow)


def _half_closed(address: str, port: int) -> None:
    with HttpExchange(address, port) as exchange:
        exchange.send([get("/add/1/2") + get("/add/3/4")])
        exchange.half_close()
        for body in (sum_of(1, 2), sum_of(3, 4)):
            _expect(exchange.response(), body)
        exchange.end()


def _half_closed_within(address: str, port: int) -> None:
    with HttpExchange(address, port) as exchange:
        exchange.send([get()[:-1]])
        exchange.half_close()
        found = exchange.response()
        if found is not None and found.status not in (400, 408):
            raise Unexpected(f"half a request is answered by {found}")
        exchange.end()


def _many(address: str, port: int) -> None:
    """More requests than the buffers of both ends have room for."""
    many = b"".join(get(f"/add/{number}/1") for number in range(PIPELINED))
    with HttpExchange(address, port) as exchange, exchange.sending([many]):
        for number in range(PIPELINED):
            _expect(exchange.response(), sum_of(number, 1))


def _reset(address: str, port: int) -> None:
    for length in (1, 10, len(get())):
        exchange = HttpExchange(address, port)
        exchange.send([get()[:length]])
        exchange.reset()
    with HttpExchange(address, port) as exchange:
        exchange.send([get()])
        _expect(exchange.response(), sum_of(1, 2))


def _crowd(address: str, port: int) -> None:
    with ExitStack() as stack:
        crowd = [stack.enter_context(HttpExchange(address, port)) for _ in range(CROWD)]
        for turn in range(2):
            for number, exchange in enumerate(crowd):
                exchange.send([get(f"/add/{number}/{turn}")])
            for number, exchange in enumerate(crowd):
                _expect(exchange.response(), sum_of(number, turn))


def _slow(address: str, port: int) -> None:
    """The server has to end this by itself, and says 408 or nothing."""
    with HttpExchange(address, port) as exchange:
        exchange.send([get()[:-2]])
        found = exchange.response()
        if found is not None and found.status != 408:
            raise Unexpected(f"a request without an end is answered by {found}")
        exchange.end()


def _answers(name: str, pieces: list[bytes], wanted: list[bytes | int], *, closes: bool = False) -> Case:
    """Pieces that are answered by these bodies or status codes, one by one."""

    def run(address: str, port: int) -> None:
        with HttpExchange(address, port) as exchange:
            exchange.send(pieces)
            found = None
            for each in wanted:
                found = exchange.response()
                _expect(found, each)
            if closes:
                if found is None or not found.closes:
                    raise Unexpected(f"the last answer does not say that it is: {found}")
                exchange.end()
                return
            # It goes on.
            exchange.send([get("/add/20/22")])
            _expect(exchange.response(), sum_of(20, 22))

    return Case(name, run)


def _refused(name: str, request: bytes, status: int | None = None, *, keeps: bool = False) -> Case:
    """A request that is answered by an error with a sentence. Where the next one begins is not known, or the
    connection goes on.
    """

    def run(address: str, port: int) -> None:
        with HttpExchange(address, port) as exchange:
            exchange.send([request])
            found = exchange.response()
            if found is None or not 400 <= found.status <= 505 or (status and found.status != status):
                raise Unexpected(f"not refused{f' with {status}' if status else ''}: {found}")
            if not found.body.strip().endswith(b"."):
                raise Unexpected(f"no sentence: {found}")
            if keeps:
                exchange.send([get("/add/20/22")])
                _expect(exchange.response(), sum_of(20, 22))
                return
            if not found.closes:
                raise Unexpected(f"the connection goes on after what is not understood: {found}")
            exchange.end()

    return Case(name, run)


def _head(address: str, port: int) -> None:
    """Refused, and without content (RFC 9110, section 9.3.2)."""
    with HttpExchange(address, port) as exchange:
        exchange.send([get().replace(b"GET", b"HEAD", 1)])
        found = exchange.response(has_content=False)
        if found is None or not 400 <= found.status <= 505 or not found.closes:
            raise Unexpected(f"not refused: {found}")
        exchange.end()


def _expect(found: Response | None, wanted: bytes | int) -> None:
    if isinstance(wanted, int):
        is_right = found is not None and found.status == wanted
    else:
        is_right = found is not None and (found.status, found.body) == (200, wanted)
    if not is_right:
        raise Unexpected(f"not {wanted!r}: {found}")
