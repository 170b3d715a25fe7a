# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Serves an ASGI application with uvicorn."""

from __future__ import annotations

import functools
import signal
import socket

import uvicorn
from starlette.types import ASGIApp

import program
from protocol import Protocol

# A connection without requests is closed after so many time-outs.
IDLE_TIMEOUTS = 6


class Server(uvicorn.Server):
    """A server that says when it listens."""

    def __init__(self, config: uvicorn.Config, greeting: str) -> None:
        super().__init__(config)
        self._greeting = greeting

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """From here on SIGTERM ends it as it should."""
        await super().startup(sockets)
        print(self._greeting, flush=True)


def serve(name: str, app: ASGIApp, options: program.Options) -> None:
    """Serves until SIGINT or SIGTERM.

    Raises `ProgramError`.
    """
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http=functools.partial(Protocol, options.timeout_s),
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        backlog=program.BACKLOG,
        timeout_keep_alive=options.timeout_s * IDLE_TIMEOUTS,
    )
    server = Server(config, f"{name}: {options}")
    # Uvicorn's handlers are there while it runs. After that it raises the signal that has ended it once more.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, server.handle_exit)
    server.run([program.listen(options.place)])
    print(f"{name}: {server.server_state.total_requests} requests answered", flush=True)
