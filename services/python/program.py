# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the programs have in common: their command lines, and how they fail."""

from __future__ import annotations

import getopt
import math
import os
import re
import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

SERVICE = """\
usage: NAME kernel ADDRESS PORT [--timeout SECONDS]

Serves a TCP port until SIGINT or SIGTERM.

  ADDRESS            the address to listen at, such as 127.0.0.1 or ::
  PORT               1 to 65535
  --timeout SECONDS  how long a request, or the room for an answer, may take; default: 10
  -h, --help         print this text
"""
PROXY = """\
usage: NAME kernel ADDRESS PORT TO [--timeout SECONDS] [--limit N]

Passes the connections to a TCP port on to another one until SIGINT or SIGTERM, and then until all of them have ended.

  ADDRESS            the address to listen at, such as 127.0.0.1 or ::
  PORT               1 to 65535
  TO                 the address and port to connect to, such as 127.0.0.1:80 or [::1]:80
  --timeout SECONDS  how long connecting may take, and at the end what is open; default: 10
  --limit N          so many connections are passed on at a time; default: 10000
  -h, --help         print this text
"""
BACKLOG = 4_096


class ProgramError(Exception):
    """Why a program does not run: a sentence with the value and the remedy."""


@dataclass(frozen=True)
class Place:
    """An address and a port."""

    address: IPv4Address | IPv6Address
    port: int

    def __str__(self) -> str:
        return f"[{self.address}]:{self.port}" if self.address.version == 6 else f"{self.address}:{self.port}"


@dataclass(frozen=True)
class Options:
    """The command line, checked."""

    place: Place
    timeout_s: float = 10.0
    # Where a proxy connects to, and how many connections it passes on at a time.
    to: Place | None = None
    limit: int = 10_000

    def __str__(self) -> str:
        to = f" to {self.to}" if self.to else ""
        return f"kernel {self.place.address} port {self.place.port}{to}"


def main(name: str, run: Callable[[Options], None], *, is_proxy: bool = False) -> int:
    """Runs a program with the words of its command line. Returns the exit status."""
    try:
        options = parse(sys.argv[1:], is_proxy=is_proxy)
        if options is None:
            print((PROXY if is_proxy else SERVICE).replace("NAME", name), end="")
        else:
            run(options)
    except (ProgramError, getopt.GetoptError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    return 0


def parse(words: Sequence[str], *, is_proxy: bool) -> Options | None:
    """Reads the command line. None: the usage is asked for.

    Raises `ProgramError` or `GetoptError`.
    """
    flags, values = getopt.gnu_getopt(words, "h", ["help", "timeout=", *(["limit="] if is_proxy else [])])
    given = dict(flags)
    if "-h" in given or "--help" in given:
        return None
    if len(values) != 3 + is_proxy:
        needed = "an address, a port, and where to connect to" if is_proxy else "an address, and a port"
        raise ProgramError(f"give kernel, {needed}: see --help")
    kind, address, port, *to = values
    if kind != "kernel":
        raise ProgramError(f"'{kind}' is no kind of sockets: give kernel")
    return Options(
        Place(_address(address), _port(port)),
        _timeout(given.get("--timeout", "10")),
        _back_end(to[0]) if is_proxy else None,
        _limit(given.get("--limit", "10000")),
    )


def listen(place: Place) -> socket.socket:
    """A listener.

    Raises `ProgramError`.
    """
    is_v6 = place.address.version == 6
    family = socket.AF_INET6 if is_v6 else socket.AF_INET
    try:
        return socket.create_server(
            (str(place.address), place.port), family=family, backlog=BACKLOG, dualstack_ipv6=is_v6
        )
    except OSError as error:
        raise ProgramError(f"cannot listen at {place}: {os.strerror(error.errno)}") from error


def _address(text: str) -> IPv4Address | IPv6Address:
    try:
        return ip_address(text)
    except ValueError as error:
        raise ProgramError(f"'{text}' is no address: give one such as 127.0.0.1") from error


def _port(text: str) -> int:
    if not re.fullmatch("[0-9]{1,5}", text) or not 1 <= int(text) <= 65_535:
        raise ProgramError(f"port '{text}': give 1 to 65535")
    return int(text)


def _timeout(text: str) -> float:
    try:
        timeout_s = float(text)
    except ValueError:
        timeout_s = math.nan
    if not 0 < timeout_s < math.inf:
        raise ProgramError(f"a timeout of {text} s: give more than 0")
    return timeout_s


def _limit(text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text) or int(text) == 0:
        raise ProgramError(f"a limit of {text} connections: give 1 or more")
    return int(text)


def _back_end(text: str) -> Place:
    address, _, port = text.rpartition(":")
    is_v6 = address.startswith("[") and address.endswith("]")
    try:
        return Place(IPv6Address(address[1:-1]) if is_v6 else IPv4Address(address), _port(port))
    except (ProgramError, ValueError) as error:
        remedy = "give an address and a port such as 127.0.0.1:80 or [::1]:80"
        raise ProgramError(f"'{text}' is nothing to connect to: {remedy}") from error
