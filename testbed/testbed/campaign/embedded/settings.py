# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a scenario says of the embedded generator."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from testbed.campaign.guest.settings import MOST_BYTES as _GUEST_MOST_BYTES
from testbed.campaign.guest.settings import Guest
from testbed.campaign.lcores import Lcores
from testbed.campaign.trial import Record

_MOST_BYTES = 9000


class Embedded(Record):
    """The project's own generator, on this machine, over the virtual wire, veth pairs or into a virtual machine."""

    kind: Literal["embedded"]
    wire: Literal["virtual", "veth"] = Field("virtual", description="veth: through the kernel, which needs root")
    hugepages: bool | None = Field(None, description="without a word: if there are some")
    # CPUs; without them two are chosen. The forwarder may have several: [2, 3].
    lcore: int | None = Field(None, ge=0)
    forwarder_lcore: Lcores | None = None
    most_fps: float | None = Field(
        None, gt=0, description="the highest rate that is asked for; without a word as much as it was seen to keep"
    )
    # The virtual machine in which the devices run, connected by NICs.
    guest: Guest | None = None

    @model_validator(mode="after")
    def _both_or_none(self) -> Self:
        if self.guest is not None and self.forwarder_lcore is not None:
            raise ValueError("forwarder_lcore is a CPU of this machine, and the forwarder has one of the guest's")
        if self.guest is not None and self.wire != "virtual":
            raise ValueError("a guest has a wire of its own: leave wire out")
        if self.guest is None and (self.lcore is None) != (self.forwarder_lcore is None):
            raise ValueError("give lcore and forwarder_lcore, or neither")
        if (
            self.lcore is not None
            and self.lcore in (self.forwarder_lcore or ())
            and len(self.forwarder_lcore or ()) > 1
        ):
            raise ValueError(f"CPU {self.lcore} is the generator's, and one of the forwarder's")
        return self

    @property
    def most_bytes(self) -> int:
        """Of a frame with FCS."""
        return _MOST_BYTES if self.guest is None else _GUEST_MOST_BYTES
