# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The account of a trial with the embedded generator: its counts beside the forwarder's, and where frames were lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from testbed.campaign.devices.device import Counts
from testbed.campaign.trial import (
    Gaps,
    Latency,
    Pacing,
    Place,
    ResetKind,
    ResetPlan,
    ResetResult,
    StepPlan,
    StepResult,
    TrialPlan,
    TrialResult,
)
from testbed.campaign.validity import on_a_virtual_wire, without_foreign
from testbed.wire.generator import Latency as StreamLatency
from testbed.wire.generator import Result
from testbed.wire.virtual_wire import VirtualWire

# A burst ends when the generator's loop next looks at the clock; that is no part of the burst.
_LOOP_S = 50e-6


def account(
    plan: TrialPlan,
    result: Result,
    before: Counts | None,
    after: Counts | None,
    raw: dict[str, Any],
    macs_checked: bool = True,
    ring_frames: int | None = VirtualWire.RING_SIZE,
) -> TrialResult:
    """The outcome of a trial. The counts are None if the device does not report them. `ring_frames` is what a queue of
    the virtual wire holds; None on another wire.

    What the generator's queue did not take counts as sent. On a virtual wire the queue that the generator fills is the
    one that the forwarder empties: a frame that finds it full is what a NIC would have missed. In the same way the
    queue that the forwarder fills is emptied by the generator: what finds that one full is lost at the receiver.
    Otherwise both queues are the kernel's: what the generator's does not take is lost on the wire.
    """
    total, virtual = result.total, ring_frames is not None
    received = total.sent - total.lost
    places = _places(result, received, before, after)
    places = on_a_virtual_wire(places) if virtual else places
    refused = Place.IMISSED if virtual else Place.WIRE
    places[refused] = places.get(refused, 0) + total.tx_failed
    offered = total.sent + total.tx_failed
    duration_s = result.duration_s
    if plan.kind == "burst":
        duration_s = burst_seconds(duration_s, offered / plan.ways / plan.load_fps)
    outcome = TrialResult(
        plan=plan,
        sent=offered,
        received=received,
        received_under_load=result.received_under_load,
        lost=offered - received,
        lost_at={place: count for place, count in places.items() if count},
        offered_fps=offered / plan.ways / duration_s if duration_s > 0 else 0.0,
        duration_s=duration_s,
        latency=latency([stream.latency_ns for stream in result.streams]) if plan.latency else None,
        pacing=_pacing(result),
        **_gaps(result, after, ring_frames),
        raw={
            **raw,
            "checks": _checks(result),
            "generator": result.model_dump(),
            **({"forwarder": {"before": _told(before), "after": _told(after)}} if before and after else {}),
        },
    )
    reasons = []
    if result.interrupted:
        reasons.append("the generator was interrupted")
    if total.wrong_mac is None and macs_checked:
        reasons.append("the generator did not check the MAC addresses")
    if after is not None and after.in_flight:
        reasons.append(f"{after.in_flight} frames were still in the forwarder when the trial was over")
    return outcome.invalidated(reasons)


def burst_seconds(duration_s: float, planned_s: float) -> float:
    """How long a burst took, without what the loop takes to begin and to end."""
    return duration_s - min(max(0.0, duration_s - planned_s), _LOOP_S)


def _places(result: Result, received: int, before: Counts | None, after: Counts | None) -> dict[Place, int]:
    """Frames that were sent, by the place of their loss, as far as the device reports it."""
    total, probes = result.total, result.probes
    if before is None or after is None:
        return {Place.DEVICE: total.lost}
    missed = _rise(before.missed, after.missed)
    places = {
        Place.IMISSED: missed,
        Place.WIRE: total.sent + probes.sent - (after.received - before.received) - missed,
        Place.DEVICE: _rise(before.short, after.short),
        Place.TX_QUEUE: after.dropped - before.dropped,
        Place.RECEIVER: after.sent - before.sent - received - probes.received,
    }
    _take_out_probes(places, probes.sent - probes.received)
    return without_foreign(places, result.foreign)


def _rise(before: int | None, after: int | None) -> int:
    """The difference of a count that not every device reports, and that is missing before the first trial."""
    return 0 if after is None else after - (before or 0)


def _told(counts: Counts) -> dict[str, Any]:
    return counts.model_dump(exclude_none=True)


def _take_out_probes(places: dict[Place, int], lost: int) -> None:
    """Probes that were lost are in the forwarder's counters too, and no loss of the trial."""
    # Most likely first: before the forwarder was ready, they got lost on the way to it.
    for place in (Place.WIRE, Place.TX_QUEUE, Place.RECEIVER, Place.DEVICE):
        taken = min(max(0, places[place]), lost)
        places[place] -= taken
        lost -= taken


def step_account(
    plan: StepPlan,
    result: Result,
    raw: dict[str, Any],
    after: Counts | None = None,
    ring_frames: int | None = VirtualWire.RING_SIZE,
) -> StepResult:
    """What came of two loads; what the queue did not take is lost, as in `account`."""
    steps = result.steps
    if steps is None:
        nothing = [0] * len(plan.loads_fps)
        reasons = ["the generator says nothing of the second load, which never began"]
        return StepResult(plan=plan, sent=nothing, lost=nothing, last_loss_s=None, valid=False, reasons=reasons)
    reasons = []
    if result.interrupted:
        reasons.append("the generator was interrupted")
    if result.total.reordered:
        # Which load a frame was lost of is known by the order of those that came.
        reasons.append(f"{result.total.reordered} frames came back in another order")
    return StepResult(
        plan=plan,
        sent=[load.sent + load.tx_failed for load in steps.loads],
        lost=[load.lost + load.tx_failed for load in steps.loads],
        # The loop may look at the clock a little late.
        last_loss_s=min(steps.last_loss_s, plan.durations_s[-1]),
        pacing=_pacing(result),
        **_gaps(result, after, ring_frames),
        raw={**raw, "checks": _checks(result), "generator": result.model_dump()},
    ).invalidated(reasons)


def reset_account(
    plan: ResetPlan,
    result: Result,
    before: Counts | None,
    after: Counts | None,
    down_s: float | None,
    ring_frames: int | None = VirtualWire.RING_SIZE,
) -> ResetResult:
    """What came of a reset under load; what the queue did not take is lost, as in `account`. The device's gaps are not
    known: its loop ends in a reset.

    `down_s` is how long the device says that its ports were down. Over a reset of its ports it goes on counting, and no
    frame comes back that it has not sent; a process that was started anew has forgotten what was before.
    """
    total = result.total
    lost = total.tx_failed + total.lost
    reasons, raw = [], {"generator": result.model_dump()}
    if plan.kind is ResetKind.PORT and before is not None and after is not None:
        raw |= {
            "checks": _checks(result),
            "forwarder": {"before": _told(before), "after": _told(after), "down_s": down_s},
        }
        surplus = total.sent - total.lost + result.probes.received - (after.sent - before.sent)
        if surplus > 0:
            reasons.append(f"accounts that disagree: {surplus} more frames came back than the forwarder has sent")
    return ResetResult(
        plan=plan,
        sent=total.sent + total.tx_failed,
        lost=lost,
        gap_s=max((one.outage_s for one in result.streams if one.outage_s is not None), default=None if lost else 0.0),
        pacing=_pacing(result),
        **_gaps(result, None, ring_frames),
        raw=raw,
    ).invalidated(reasons)


def _pacing(result: Result) -> Pacing:
    late = result.lateness
    return Pacing() if late is None else Pacing(worst_lag_s=late.worst_lag_s, caught_up=late.caught_up)


def _gaps(result: Result, after: Counts | None, ring_frames: int | None) -> dict[str, Any]:
    """When generator and device did not poll, and what a queue between them holds. Of a real NIC, or the kernel's
    queues, that is not known."""
    told = result.gaps
    return {
        "generator_gaps": None if told is None else Gaps(**told.model_dump(include=set(Gaps.model_fields))),
        "device_gaps": None if after is None else after.gaps,
        "ring_frames": ring_frames,
    }


def _checks(result: Result) -> dict[str, int | None]:
    total = result.total
    return {
        "foreign": result.foreign,
        "duplicated": total.duplicated,
        "reordered": total.reordered,
        "corrupted": total.corrupted,
        "wrong_mac": total.wrong_mac,
    }


def latency(streams: Sequence[StreamLatency | None]) -> Latency:
    """Of all directions together: means are weighted, of the others the worse one counts (of the least the better)."""
    known = [stream for stream in streams if stream is not None and stream.count]
    count = sum(stream.count for stream in known)
    if not count:
        return Latency(count=0)

    def worst(name: str) -> float | None:
        values = [getattr(stream, name) for stream in known]
        return None if None in values else max(values)

    lowest = [stream.min for stream in known if stream.min is not None]
    return Latency(
        count=count,
        min=min(lowest, default=None),
        avg=sum((stream.avg or 0.0) * stream.count for stream in known) / count,
        **{name: worst(name) for name in ("max", "ipdv", "p50", "p90", "p99", "p99_9", "p99_99")},
    )
