# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Serves metrics over HTTP while a command runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

if TYPE_CHECKING:
    from prometheus_client.registry import Collector

_ADDRESS = re.compile(r"(?P<host>[^:\[\]\s]+|\[[0-9a-fA-F:.]+\]):(?P<port>\d{1,5})", re.ASCII)


class MetricsError(Exception):
    """The metrics cannot be served; the message says why."""


class Address(NamedTuple):
    """Where a server listens."""

    # Without the brackets of an IPv6 address.
    host: str
    # 0: one that is free.
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_address(text: str) -> Address:
    """Reads '127.0.0.1:9876' or '[::1]:9876'.

    Raises `typer.BadParameter`.
    """
    found = _ADDRESS.fullmatch(text)
    if found is None or int(found["port"]) > 65535:
        raise typer.BadParameter(f"'{text}' is not HOST:PORT, such as 127.0.0.1:9876")
    return Address(found["host"].strip("[]"), int(found["port"]))


MetricsOption = Annotated[
    Address | None,
    typer.Option(
        "--metrics",
        metavar="HOST:PORT",
        parser=read_address,
        help="Serve metrics for Prometheus here while it runs, to everybody who reaches the address.",
    ),
]


@contextmanager
def served(address: Address, collector: Collector) -> Iterator[Address]:
    """Serves what the collector collects at each request; yields the address with its port.

    Raises `MetricsError`.
    """
    from prometheus_client import CollectorRegistry, start_http_server

    registry = CollectorRegistry()
    registry.register(collector)
    try:
        server, thread = start_http_server(address.port, address.host, registry)
    except OSError as error:
        why = error.strerror or error
        raise MetricsError(f"cannot serve metrics at '{address}': {why}: give another --metrics") from error
    try:
        yield address._replace(port=server.server_port)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
