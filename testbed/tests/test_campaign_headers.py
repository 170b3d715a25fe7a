# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a scenario's headers and flows become on the generators' command lines."""

from __future__ import annotations

import pytest

from testbed.campaign.headers import Headers


@pytest.mark.parametrize(
    ("headers", "flows", "words"),
    [
        ({}, 1, "--src-ip=198.18.0.0 --dst-ip=198.19.0.0-198.19.0.0 --src-udp=10000 --dst-udp=10000"),
        ({}, 65536, "--src-ip=198.18.0.0 --dst-ip=198.19.0.0-198.19.255.255 --src-udp=10000 --dst-udp=10000"),
        # More than the network has addresses: its addresses with as few ports as suffice, and not all pairs of them.
        (
            {},
            65537,
            "--src-ip=198.18.0.0 --dst-ip=198.19.0.0-198.19.255.255 --src-udp=10000-10001 --dst-udp=10000 "
            "--flows=65537",
        ),
        (
            {"ipv6": True, "vxlan": 0, "vlan": [5, 6]},
            1 << 20,
            "--src-ip=2001:2::1 --dst-ip=2001:2:0:1::1-2001:2:0:1::10:0 --src-udp=10000 --dst-udp=10000 --vlan=5,6 "
            "--vxlan=0",
        ),
    ],
)
def test_flows_have_addresses_of_the_networks_for_benchmarks(headers: dict, flows: int, words: str) -> None:
    assert Headers(**headers).options(flows) == tuple(words.split())


def test_trex_has_the_same_headers() -> None:
    assert Headers().tunables == {}
    assert Headers(ipv6=True, vxlan=0, vlan=[5, 6]).tunables == {"vlan": "5+6", "vxlan": 0, "ip": 6}
