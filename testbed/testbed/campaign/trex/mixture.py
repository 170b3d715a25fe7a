# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Mixtures of sizes with TRex: a stream for each frame of the sequence, and a mark for each size.

The streams begin one frame behind the other and are counted out, so that a trial has each size as often as the sequence
says, and the frames are due in its order. TRex counts frames by their mark and nothing else: that each size was sent
in its number and how many came back is known, in which order they left and came back is not.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from testbed.campaign.sizes import Size, frames_of, in_runs
from testbed.campaign.trex.account import Ran, Route
from testbed.campaign.trial import TrialResult


class OfSize(BaseModel):
    """What was counted of the frames of one size, in all directions."""

    sent: int
    received: int


def tunable(size: Size) -> str:
    """The sequence as the profile has it: '64x3+1280+512'."""
    return in_runs(size).replace(",", "+")


def composition(size: Size, frames: int) -> dict[int, int]:
    """How many of so many frames have which size, as the profile counts them out; the last round may be cut short."""
    sequence = frames_of(size)
    rounds, rest = divmod(frames, len(sequence))
    return {one: rounds * sequence.count(one) + sequence[:rest].count(one) for one in sorted(set(sequence))}


def counted_out(load_fps: float, stamped_fps: float, seconds: float) -> tuple[int, int]:
    """How many frames a direction gets in this time: those that are only counted, and those that measure latency."""
    stamped = max(1, round(stamped_fps * seconds)) if stamped_fps else 0
    return max(1, round(load_fps * seconds) - stamped), stamped


def with_sizes(result: TrialResult, ran: Ran, route: Route, first_mark: int, counts: tuple[int, int]) -> TrialResult:
    """The result with what was counted of each size; invalid if that is not the mixture of so many frames.

    Itself if the frames carry no marks.
    """
    found = by_size(result.plan.size, ran, route, first_mark)
    if found is None:
        return result
    plain, stamped = (composition(result.plan.size, frames) for frames in counts)
    wanted = {size: result.plan.directions * (plain[size] + stamped[size]) for size in found}
    reasons = [
        f"wrong mixture: {one.sent} frames of {size} bytes were sent instead of {wanted[size]}"
        for size, one in found.items()
        if one.sent != wanted[size]
    ]
    told = {str(size): one.model_dump() for size, one in found.items()}
    return result.model_copy(update={"raw": {**result.raw, "sizes": told}}).invalidated(reasons)


def by_size(size: Size, ran: Ran, route: Route, first_mark: int) -> dict[int, OfSize] | None:
    """What was counted of each size; None if not all frames carry a mark."""
    sizes = sorted(set(frames_of(size)))
    found = {}
    for number, one in enumerate(sizes):
        plain = _flows(ran, first_mark + 2 * number)
        if not plain:
            return None
        # Latency frames have marks of their own, after those of all sizes.
        flows = plain + _flows(ran, first_mark + 2 * (len(sizes) + number))
        found[one] = OfSize(
            sent=_total(flows, "tx_pkts", route.tx_ports), received=_total(flows, "rx_pkts", route.rx_ports)
        )
    return found


def _flows(ran: Ran, mark: int) -> list[dict[str, Any]]:
    """What was counted with this mark, and with the one of the other direction."""
    return [flow for way in (0, 1) if (flow := ran.flow_stats.get(str(mark + way))) is not None]


def _total(flows: list[dict[str, Any]], what: str, ports: list[int]) -> int:
    return sum(flow.get(what, {}).get(str(port)) or 0 for flow in flows for port in ports)
