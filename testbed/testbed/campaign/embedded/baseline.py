# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The generator connected to itself: a device of net_ring returns its own frames, so that what it measures as latency
is neither the wire's nor the device's (back to back, as RFC 2544 generators are calibrated)."""

from __future__ import annotations

from dataclasses import replace

from testbed.wire.generator import Load

LATENCY_DEFINITION = (
    "software, call to call: from before the generator's transmit call to after its receive poll, in the loop that "
    "also sends; resolution that of the TSC"
)
VDEV = "net_ring0"
# Long enough for a million frames at the rates of a virtual wire.
_LONGEST_S = 1.0
# Of two ports, and of a device that needs time.
_NOT_ALONE = ("--bidirectional", "--reverse-share=", "--before=")


def baseline_load(load: Load) -> Load:
    """The same frames at the same rate through one port, which come back as they were sent."""
    return replace(
        load,
        ports=(0,),
        seconds=min(load.seconds, _LONGEST_S),
        expect_src=None,
        expect_dst=None,
        residual_wait_s=0.1,
        more=tuple(word for word in load.more if not word.startswith(_NOT_ALONE)),
    )
