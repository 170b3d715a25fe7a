# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the origin has to do: `GET /` is answered by 10 KiB of text, by the same rules of HTTP as those of the adder."""

from __future__ import annotations

from collections.abc import Iterator

from testbed.services.adder import get
from testbed.services.exchange import Case, Unexpected
from testbed.services.http import HttpExchange, Response

_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
PAGE = "".join(f"{line:03}  {_ALPHABET}\n" for line in range(320)).encode()
# Answers of 20 MB, more than the buffers of both ends have room for.
PIPELINED = 2_000


def cases() -> Iterator[Case]:
    """All of them."""
    yield Case("the page", lambda address, port: _pages(address, port, [get("/")], 1))
    yield Case("the page by its whole address", lambda address, port: _pages(address, port, [get("http://a/")], 1))
    yield Case(f"{PIPELINED} requests", lambda address, port: _pages(address, port, [get("/") * PIPELINED], PIPELINED))
    yield Case("the last page", _last)
    for name, request, status in (
        ("another page", get("/add/1/2"), 404),
        ("a post", get("/").replace(b"GET", b"POST"), 405),
        ("no host", get("/", host=None), 400),
        ("a body", get("/", "Content-Length: 5") + b"about", 400),
        ("a long head", get("/", "X: " + "x" * 16_384), 431),
    ):
        yield _refused(name, request, status)


def _pages(address: str, port: int, pieces: list[bytes], count: int) -> None:
    with HttpExchange(address, port) as exchange, exchange.sending(pieces):
        for _ in range(count):
            _is_page(exchange.response())


def _is_page(response: Response | None) -> None:
    if response is None or response.status != 200 or response.body != PAGE:
        raise Unexpected(f"not the page, but {str(response)[:200]}")


def _last(address: str, port: int) -> None:
    with HttpExchange(address, port) as exchange:
        exchange.send([get("/", "Connection: close")])
        _is_page(exchange.response())
        exchange.end()


def _refused(name: str, request: bytes, status: int) -> Case:
    def run(address: str, port: int) -> None:
        with HttpExchange(address, port) as exchange:
            exchange.send([request])
            response = exchange.response()
            if response is None or response.status != status or not response.body.endswith(b".\n"):
                raise Unexpected(f"no sentence with status {status}, but {str(response)[:200]}")

    return Case(name, run)
