# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a proxy has to do: join each connection to one to its back end, which is here, and pass on all that happens."""

from __future__ import annotations

import random
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from testbed.services.exchange import Case, Exchange, Unexpected, expect_reset, split

SIZES = (1, 2, 1_459, 1_460, 1_461, 4_096, 16_383, 16_384, 16_385, 65_536, 1_000_000)
LARGE = 32 << 20
CROWD = 1_000
# Who takes no more bytes for so long waits for its reader. All buffers on the way have room for less than this.
STUCK_S = 2.0
MOST_HELD = 64 << 20


@dataclass(frozen=True)
class BackEnd:
    """Where the proxy connects to. The address is one of this host."""

    address: str
    port: int

    @property
    def family(self) -> socket.AddressFamily:
        """Of the address."""
        return socket.AF_INET6 if ":" in self.address else socket.AF_INET

    @contextmanager
    def listening(self, backlog: int = 2 * CROWD) -> Iterator[socket.socket]:
        """Listens there, until the end of the `with`."""
        with socket.create_server((self.address, self.port), family=self.family, backlog=backlog) as listener:
            yield listener


@dataclass(frozen=True)
class Pair:
    """Both ends of a connection through the proxy."""

    client: Exchange
    server: Exchange

    def swapped(self) -> Pair:
        """With the ends exchanged."""
        return Pair(self.server, self.client)


def cases(back_end: BackEnd) -> Iterator[Case]:
    """All of them."""

    def joined(name: str, run: Callable[[Pair], None]) -> Case:
        def run_joined(address: str, port: int) -> None:
            with back_end.listening() as listener, _joined(listener, address, port) as pair:
                run(pair)

        return Case(name, run_joined)

    for name, turn in (("to the back end", lambda pair: pair), ("to the client", Pair.swapped)):
        for length in SIZES:
            yield joined(f"{length} bytes {name}", lambda pair, turn=turn, length=length: _passes(turn(pair), length))
        data = _content(60)
        for place in range(1, len(data)):
            pieces = split(data, [place])
            yield joined(
                f"split at byte {place}, {name}", lambda pair, turn=turn, pieces=pieces: _pieces(turn(pair), pieces)
            )
        pieces = split(data, range(1, len(data)))
        yield joined(f"byte by byte {name}", lambda pair, turn=turn, pieces=pieces: _pieces(turn(pair), pieces))
        yield joined(f"an end at once, {name}", lambda pair, turn=turn: _ends(turn(pair), 0, 0))
        yield joined(f"the end passes on {name}", lambda pair, turn=turn: _ends(turn(pair), 100_000, 0))
        yield joined(f"half-closed {name}", lambda pair, turn=turn: _ends(turn(pair), 5_000, 3_000_000))
        yield joined(f"a reset passes on {name}", lambda pair, turn=turn: _resets(turn(pair), 0))
        yield joined(f"a reset after bytes passes on {name}", lambda pair, turn=turn: _resets(turn(pair), 10_000))
        yield joined(f"who does not read stops who sends {name}", lambda pair, turn=turn: _held(turn(pair)))
    yield joined(f"{LARGE >> 20} MiB both ways", _both_ways)
    yield Case(f"{CROWD} connections", lambda address, port: _crowd(back_end, address, port))
    yield Case("the back end speaks at once", lambda address, port: _greeted(back_end, address, port))
    yield Case("no back end", lambda address, port: _refused(back_end, address, port))
    yield Case("a back end that does not answer", lambda address, port: _unanswered(back_end, address, port))


def _content(length: int, seed: int = 7) -> bytes:
    return random.Random(seed * 1_000_003 + length).randbytes(length)


@contextmanager
def _joined(listener: socket.socket, address: str, port: int) -> Iterator[Pair]:
    with Exchange(address, port) as client, Exchange.accepted(listener) as server:
        yield Pair(client, server)


def _passes(pair: Pair, length: int) -> None:
    _pieces(pair, [_content(length)])
    # And back.
    _pieces(pair.swapped(), [_content(length, 8)])


def _pieces(pair: Pair, pieces: list[bytes]) -> None:
    with pair.client.sending(pieces):
        _expect(pair.server, b"".join(pieces))


def _expect(exchange: Exchange, content: bytes) -> None:
    if exchange.receive(len(content)) != content:
        raise Unexpected(f"{len(content)} bytes arrive as others")


def _ends(pair: Pair, before: int, after: int) -> None:
    """One direction ends; the other one goes on, and ends."""
    with pair.client.sending([_content(before)]):
        _expect(pair.server, _content(before))
    pair.client.half_close()
    pair.server.end()
    with pair.server.sending([_content(after, 9)]):
        _expect(pair.client, _content(after, 9))
    pair.server.half_close()
    pair.client.end()


def _resets(pair: Pair, length: int) -> None:
    _pieces(pair, [_content(length + 1)])
    pair.client.reset()
    pair.server.is_reset()


def _held(pair: Pair) -> None:
    piece = _content(65_536)
    sent = pair.client.send_until_stuck(piece, MOST_HELD, STUCK_S)
    if sent >= MOST_HELD:
        raise Unexpected(f"{sent} bytes were taken that nobody has read")
    whole = piece * (sent // len(piece) + 1)
    _expect(pair.server, whole[:sent])


def _both_ways(pair: Pair) -> None:
    one, other = _content(LARGE), _content(LARGE, 10)
    with pair.client.sending([one]), pair.server.sending([other]), pair.server.receiving(one):
        _expect(pair.client, other)


def _crowd(back_end: BackEnd, address: str, port: int) -> None:
    with back_end.listening() as listener, ExitStack() as stack:
        crowd = [stack.enter_context(_joined(listener, address, port)) for _ in range(CROWD)]
        for turn in range(2):
            for number, pair in enumerate(crowd):
                pair.client.send([_content(100, number + turn)])
            for number, pair in enumerate(crowd):
                _expect(pair.server, _content(100, number + turn))
                pair.server.send([_content(90, number + turn)])
            for number, pair in enumerate(crowd):
                _expect(pair.client, _content(90, number + turn))


def _greeted(back_end: BackEnd, address: str, port: int) -> None:
    """What comes before the client has said anything, while others connect."""
    greeting = _content(100)
    with back_end.listening() as listener, ExitStack() as stack:

        def greet() -> None:
            for _ in range(CROWD):
                stack.enter_context(Exchange.accepted(listener)).send([greeting])

        greeter = threading.Thread(target=greet, daemon=True)
        greeter.start()
        crowd = [stack.enter_context(Exchange(address, port)) for _ in range(CROWD)]
        for client in crowd:
            _expect(client, greeting)
        greeter.join()


def _refused(back_end: BackEnd, address: str, port: int) -> None:
    """Without a back end the client is reset; with one, the next is served."""
    expect_reset(address, port)
    with back_end.listening() as listener, _joined(listener, address, port) as pair:
        _passes(pair, 10)


def _unanswered(back_end: BackEnd, address: str, port: int) -> None:
    """Linux does not answer while its queue of connections to accept is full."""
    with back_end.listening(backlog=0) as listener, ExitStack() as stack:
        while _is_answered(back_end, stack):
            pass
        expect_reset(address, port)
    with back_end.listening() as listener, _joined(listener, address, port) as pair:
        _passes(pair, 10)


def _is_answered(back_end: BackEnd, stack: ExitStack) -> bool:
    filler = stack.enter_context(socket.socket(back_end.family))
    filler.setblocking(False)
    filler.connect_ex((back_end.address, back_end.port))
    # On the host itself the answer comes at once.
    return bool(select.select([], [filler], [], 0.5)[1])
