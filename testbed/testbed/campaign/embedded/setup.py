# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the embedded generator is joined to, and how."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from testbed.campaign.devices.device import DeviceKind
from testbed.campaign.embedded.rings import Rings
from testbed.campaign.headers import PLAIN, Headers
from testbed.campaign.sizes import Size
from testbed.campaign.traffic_generator import Pauses
from testbed.campaign.trial import Stream
from testbed.run.lcores import LcorePlan
from testbed.run.programs import Program
from testbed.wire.virtual_wire import Wire


@dataclass(frozen=True)
class EmbeddedSetup:
    """What is joined, and how."""

    device: str
    kind: DeviceKind
    generator: Program
    # Of all trials to come: their highest rates are found out before the first.
    sizes: tuple[Size, ...]
    directions: Literal[1, 2]
    lcores: LcorePlan
    hugepages: bool
    pauses: Pauses
    raw: Path
    # Without a word the virtual wire.
    wire: Wire | None = None
    # The highest rate to ask for, if not all that it keeps.
    most_fps: float | None = None
    # Whether bursts are to come.
    bursts: bool = True
    # The same for all devices that are compared.
    rings: Rings = field(default_factory=Rings)
    headers: Headers = PLAIN
    port_pairs: int = 1
    reverse_share: float = 1.0

    @property
    def ports(self) -> int:
        """One port there and back, or pairs with traffic both ways."""
        return self.directions * self.port_pairs

    @property
    def queues(self) -> int:
        """Pairs of queues of each port: each of the device's lcores has at least one."""
        return -(-len(self.lcores.forwarders) // self.ports)

    def stream(self, size: Size) -> Stream:
        """One flow of these frames."""
        return Stream(
            size=size, directions=self.directions, port_pairs=self.port_pairs, reverse_share=self.reverse_share
        )


def free_folder(parent: Path, name: str) -> Path:
    """A new folder for the logs of one start of a device: a resumed campaign keeps those of before."""
    number = 1
    while True:
        folder = parent / f"{name}-{number}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return folder
