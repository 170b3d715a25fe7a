# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What TRex can measure with an arrangement, and why not the rest: the same for the plan and for the campaign."""

from __future__ import annotations

from typing import Any

from testbed.campaign.devices.resets import NO_COUNTERS, able_resets, lacking_resets
from testbed.campaign.trex.settings import Trex
from testbed.campaign.trial import ResetKind

# TRex makes frames up to this length (without FCS) in one piece. Longer ones with fields that change or with a stamp
# are chains of mbufs, after which DPDK 25.07's memif device, which TRex 3.08 has, mixes up frames: it leaves the mark
# of a chain in its descriptors (`eth_memif_tx`).
_ONE_PIECE_BYTES = 128
_FCS_BYTES = 4
_MEMIF = "net_memif"


def abilities(
    settings: Trex,
    counts_frames: bool | None,
    memif: bool | None,
    latency: bool = True,
    no_port_reset: str | None = None,
) -> dict[str, Any]:
    """The fields of `Capabilities` that say what can be measured.

    `counts_frames` says whether the device tells its counters, `memif` whether the server's ports are memif devices;
    None where nobody has asked it yet: then the scenario's words count. Whether latency frames come back as such is
    known only when one has been sent. `no_port_reset` is why the device's ports cannot be reset, if they cannot.
    """
    joined = settings.forwarder
    if memif is None:
        memif = joined is not None and any(vdev.startswith(_MEMIF) for vdev in joined.vdevs)
    lacks: dict[str, str] = {**lacking_resets(True, _why_no_port(memif, no_port_reset))}
    why_neither = _why_no_process(settings, counts_frames)
    if why_neither is not None:
        lacks |= {ResetKind.PROCESS: why_neither, ResetKind.PORT: why_neither}
    if not settings.flow_stats:
        lacks["step"] = (
            "flow_stats is false: without a mark in the frames TRex cannot tell when the last one was lost; set it to "
            "true, if TRex's cores keep up with reading marks"
        )
    if not latency:
        lacks["latency"] = (
            "the frame that TRex sent to try it did not come back as one that measures latency: another firmware of "
            "the NIC, or TRex's option --software, may help"
        )
    if memif:
        lacks["pieces"] = "over memif it sends longer ones in pieces, which DPDK's memif device mixes up"
    return {
        "flows": 1 << 20,
        "latency": latency,
        "burst": True,
        "step": "step" not in lacks,
        "resets": able_resets(lacks),
        "lacks": {str(name): why for name, why in lacks.items()},
        "one_piece_bytes": _ONE_PIECE_BYTES + _FCS_BYTES if memif else None,
    }


def _why_no_process(settings: Trex, counts_frames: bool | None) -> str | None:
    """Why neither the device's process nor its ports can be reset; None if the process can."""
    joined = settings.forwarder
    if joined is None:
        return "the device is not started by the testbed (forwarder), which therefore cannot start it again"
    if counts_frames is False:
        return NO_COUNTERS
    if not joined.survives_a_restart:
        return (
            "the device is the server of a memif wire, and TRex's client there does not connect again: make the device "
            "the client (role=client in forwarder.vdevs, role=server in TRex's configuration)"
        )
    return None


def _why_no_port(memif: bool, no_port_reset: str | None) -> str | None:
    """Why the device's ports cannot be reset; None if they can."""
    if no_port_reset is None and memif:
        return "over memif, stopping a port disconnects it, which a reset of the process measures too"
    return no_port_reset
