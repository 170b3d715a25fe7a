# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The headers of the frames, and the addresses that tell their flows apart.

A frame's size counts all bytes from the destination address to the FCS, so also those of tags and tunnels: a link
carries as many frames of a size a second with more headers as without.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address
from typing import Annotated

from pydantic import Field

from testbed.campaign.trial import Record

# Of Ethernet, IPv4, UDP and what identifies a frame of the embedded generator, with FCS. TRex's needs 2 bytes less.
_LEAST_BYTES = 64
_TAG_BYTES = 4
# An IPv6 header is longer than one of IPv4 by this.
_IPV6_BYTES = 20
# Ethernet, IPv4, UDP and VXLAN.
_VXLAN_BYTES = 50

# The networks for benchmarks: RFC 2544, appendix C.2.2, and RFC 5180, section 8. One half sends, the other receives.
# With IPv6 the first address of a network is that of its routers.
_SOURCES = (IPv4Address("198.18.0.0"), IPv6Address("2001:2::1"))
_DESTINATIONS = (IPv4Address("198.19.0.0"), IPv6Address("2001:2:0:1::1"))
_MOST_IPV4_ADDRESSES = 1 << 16
_UDP_PORT = 10000


class Headers(Record):
    """Those that a scenario asks for beside Ethernet, IPv4 and UDP."""

    # 0 would be a priority tag, and 4,095 is reserved (IEEE 802.1Q, table 9-2).
    vlan: list[Annotated[int, Field(ge=1, le=4094)]] = Field(
        default_factory=list, max_length=2, description="VLAN identifiers; of two, that of the service tag first (QinQ)"
    )
    vxlan: int | None = Field(None, ge=0, lt=1 << 24, description="network identifier of a VXLAN tunnel")
    ipv6: bool = Field(False, description="IPv6 in place of IPv4; in a tunnel, inside")

    @property
    def least_bytes(self) -> int:
        """Of a frame that its generator can identify, with FCS."""
        more = _TAG_BYTES * len(self.vlan) + (_VXLAN_BYTES if self.vxlan is not None else 0)
        return _LEAST_BYTES + more + (_IPV6_BYTES if self.ipv6 else 0)

    @property
    def in_words(self) -> list[str]:
        """'QinQ 100, 200', 'VXLAN 5000', 'IPv6'; nothing if there are none."""
        kind = "QinQ" if len(self.vlan) > 1 else "VLAN"
        words = [f"{kind} {', '.join(map(str, self.vlan))}"] if self.vlan else []
        words += [f"VXLAN {self.vxlan}"] if self.vxlan is not None else []
        return words + (["IPv6"] if self.ipv6 else [])

    @property
    def source(self) -> str:
        """The address that all frames come from."""
        return str(_SOURCES[self.ipv6])

    def destinations(self, flows: int) -> tuple[str, str]:
        """The first and the last address, where so many flows differ first of all in these."""
        first = _DESTINATIONS[self.ipv6]
        return str(first), str(first + (flows if self.ipv6 else min(flows, _MOST_IPV4_ADDRESSES)) - 1)

    def source_ports(self, flows: int) -> tuple[int, int]:
        """The first and the last UDP port, for flows that the destinations do not suffice for."""
        more = 0 if self.ipv6 else (flows - 1) // _MOST_IPV4_ADDRESSES
        return _UDP_PORT, _UDP_PORT + more

    def options(self, flows: int) -> tuple[str, ...]:
        """Of the embedded generator, for so many flows."""
        (first, last), (port, last_port) = self.destinations(flows), self.source_ports(flows)
        ports, more = (f"{port}-{last_port}", [f"--flows={flows}"]) if last_port > port else (str(port), [])
        more += [f"--vlan={','.join(map(str, self.vlan))}"] if self.vlan else []
        more += [f"--vxlan={self.vxlan}"] if self.vxlan is not None else []
        return (
            f"--src-ip={self.source}",
            f"--dst-ip={first}-{last}",
            f"--src-udp={ports}",
            f"--dst-udp={_UDP_PORT}",
            *more,
        )

    @property
    def tunables(self) -> dict[str, str | int]:
        """Of TRex's profile."""
        words: dict[str, str | int] = {"vlan": "+".join(map(str, self.vlan))} if self.vlan else {}
        words |= {"vxlan": self.vxlan} if self.vxlan is not None else {}
        return words | ({"ip": 6} if self.ipv6 else {})


# Ethernet, IPv4 and UDP.
PLAIN = Headers()
