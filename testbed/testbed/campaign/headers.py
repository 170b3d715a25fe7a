# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The headers of the frames beside Ethernet, IPv4 and UDP.

A frame's size counts all bytes from the destination address to the FCS, so also those of tags: a link carries as many
frames of a size a second with tags as without.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from testbed.campaign.trial import Record

# Without tags, what identifies a frame of the embedded generator ends here, FCS included. TRex's needs 2 bytes less.
_LEAST_BYTES = 64
_TAG_BYTES = 4


class Headers(Record):
    """Those that a scenario adds."""

    # 0 would be a priority tag, and 4,095 is reserved (IEEE 802.1Q, table 9-2).
    vlan: list[Annotated[int, Field(ge=1, le=4094)]] = Field(
        default_factory=list, max_length=2, description="VLAN identifiers; of two, that of the service tag first (QinQ)"
    )

    @property
    def least_bytes(self) -> int:
        """Of a frame that its generator can identify, with FCS."""
        return _LEAST_BYTES + _TAG_BYTES * len(self.vlan)

    @property
    def in_words(self) -> list[str]:
        """'VLAN 100', 'QinQ 100, 200'; nothing if there are none."""
        kind = "QinQ" if len(self.vlan) > 1 else "VLAN"
        return [f"{kind} {', '.join(map(str, self.vlan))}"] if self.vlan else []

    @property
    def options(self) -> tuple[str, ...]:
        """Of the embedded generator."""
        return (f"--vlan={','.join(map(str, self.vlan))}",) if self.vlan else ()


# Untagged.
PLAIN = Headers()
