# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Joins each connection to one of its own to a back end, and passes the bytes of both on."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from dataclasses import dataclass

import program
from pair import Pair, Rejected

try:
    from uvloop import new_event_loop
except ImportError:
    from asyncio import new_event_loop


@dataclass
class Counters:
    """What has become of connections."""

    connections: int = 0
    refused: int = 0
    over_limit: int = 0
    broken: int = 0

    def __str__(self) -> str:
        return (
            f"{self.connections} connections, {self.refused} refused, "
            f"{self.over_limit} over the limit, {self.broken} broken"
        )


class Proxy:
    """A proxy on one port."""

    def __init__(self, options: program.Options) -> None:
        self._options = options
        self._counters = Counters()
        self._pairs: set[Pair] = set()
        self._is_empty = asyncio.Event()

    async def serve(self, listener: socket.socket) -> None:
        """Runs until SIGINT or SIGTERM, and then until all pairs have ended, or for a time-out."""
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        server = await loop.create_server(self._accept, sock=listener, backlog=program.BACKLOG)
        print(f"proxy: {self._options}", flush=True)
        await stop.wait()
        server.close()
        try:
            async with asyncio.timeout(self._options.timeout_s):
                while self._pairs:
                    self._is_empty.clear()
                    await self._is_empty.wait()
        except TimeoutError:
            for pair in list(self._pairs):
                pair.break_off()
        print(f"proxy: {self._counters}", flush=True)

    def _accept(self) -> asyncio.BaseProtocol:
        if len(self._pairs) == self._options.limit:
            self._counters.over_limit += 1
            return Rejected()
        pair = Pair(self._options.to, self._options.timeout_s, self._over)
        self._pairs.add(pair)
        return pair.client

    def _over(self, pair: Pair, is_broken: bool) -> None:
        self._pairs.remove(pair)
        self._counters.connections += pair.is_joined
        self._counters.refused += not pair.is_joined
        self._counters.broken += pair.is_joined and is_broken
        if not self._pairs:
            self._is_empty.set()


def run(options: program.Options) -> None:
    """Serves until SIGINT or SIGTERM.

    Raises `ProgramError`.
    """
    listener = program.listen(options.place)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(Proxy(options).serve(listener))


if __name__ == "__main__":
    sys.exit(program.main("proxy", run, is_proxy=True))
