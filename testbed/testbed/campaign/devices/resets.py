# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Which resets of a device can be measured, and why not the others: the same for the plan and for the campaign."""

from __future__ import annotations

from collections.abc import Mapping

from testbed.campaign.trial import ResetKind

NO_COUNTERS = "the device reports no counters, which would show the end of a reset"
NO_HOST = "nothing here resets the host of the device"


def lacking_resets(counts_frames: bool, no_port_reset: str | None) -> dict[ResetKind, str]:
    """The reasons of those that cannot, by kind."""
    lacks = {ResetKind.HOST: NO_HOST}
    if not counts_frames:
        lacks |= {ResetKind.PROCESS: NO_COUNTERS, ResetKind.PORT: NO_COUNTERS}
    elif no_port_reset is not None:
        lacks[ResetKind.PORT] = no_port_reset
    return lacks


def able_resets(lacks: Mapping[ResetKind, str] | Mapping[str, str]) -> list[ResetKind]:
    """Those that can."""
    return [kind for kind in ResetKind if kind not in lacks]
