# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a scenario says of a virtual machine."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from testbed.campaign.trial import Record

# Free ones are what a forwarder on another host takes (`remote.host`).
HUGEPAGES_MB = 512
# The longest frame of packet sockets, with the default MTU of the interface that QEMU reads.
MOST_BYTES = 1518


class Guest(Record):
    """A virtual machine in which the devices run; it is booted for the campaign and gone afterwards."""

    # As QEMU emulates it.
    nic: Literal["e1000e", "e1000", "vmxnet3", "virtio"] = "e1000e"
    # Half a gigabyte of it becomes hugepages.
    memory_mb: int = Field(1024, ge=896, le=65536)
