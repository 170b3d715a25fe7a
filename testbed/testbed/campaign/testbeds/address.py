# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The address of a scheduler, and who may reach it: whoever does runs programs as the testbeds' user."""

from __future__ import annotations

import ipaddress
import re

# For Dask's HTTP servers, which cannot be left out and have no TLS: a free port that only this machine reaches.
NOWHERE = "127.0.0.1:0"
_ADDRESS = re.compile(r"(tcp|tls)://(\[[^]]+]|[^:/]+):(\d+)")


def has_tls(address: str) -> bool:
    """Whether an address is 'tls://…'."""
    return address.startswith("tls://")


def is_this_machine(address: str) -> bool:
    """Whether it can be reached from this machine alone."""
    host = host_and_port(address)[0]
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def host_and_port(address: str) -> tuple[str, int]:
    """'lab' and 8786 of 'tls://lab:8786'.

    Raises `ValueError`.
    """
    if (found := _ADDRESS.fullmatch(address)) is None:
        raise ValueError(f"the scheduler's address '{address}': write tls://HOST:PORT, or tcp://HOST:PORT")
    return found[2].strip("[]"), int(found[3])


def check_address(address: str, trusted_network: bool, how_to_trust: str) -> None:
    """Raises `ValueError` for an address without TLS that others may reach, unless somebody trusts them all."""
    if has_tls(address) or is_this_machine(address) or trusted_network:
        host_and_port(address)
        return
    encrypted = address.replace("tcp://", "tls://", 1)
    raise ValueError(
        f"{address} has no TLS: whoever reaches the scheduler or a testbed runs programs as its user: use {encrypted} "
        f"and make certificates with ./x testbed certificates, or {how_to_trust} if all machines and users of that "
        "network may do so"
    )
