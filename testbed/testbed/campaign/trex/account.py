# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The account of a trial with TRex: its statistics as they came, beside the device's counters, and where frames went.

What TRex cannot measure stays absent: it stamps the frames of a side stream only, has percentiles only when its server
was started with ``--hdrh``, and checks the sequence of stamped frames only.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from testbed.campaign.devices.device import Counts
from testbed.campaign.trex.latency import latency
from testbed.campaign.trial import Pacing, Place, ResetPlan, ResetResult, TrialPlan, TrialResult
from testbed.campaign.validity import on_a_virtual_wire, without_foreign

# The server reports no times. It never ends a trial before its schedule does, and has ended it when its client hears of
# that. A trial whose time, and with it the load, is known less exactly than to this share does not count.
_MOST_UNCERTAIN = 0.02
# What the server may need to answer that it has begun, by which a trial seems shorter.
_BEGIN_S = 0.1
# The frames of a burst are counted, but its time is not known: it is as planned unless its end is heard of later.
_BURST_S = 0.1
# A reset ends when it is over, so that only the client's clock knows how long it took; its requests take up to so long.
_RESET_SHARE = 0.01
_REQUEST_S = 0.2


class PortStats(BaseModel):
    """What a port counted since the statistics were cleared."""

    model_config = ConfigDict(extra="allow")

    opackets: int
    ipackets: int
    oerrors: int = 0
    ierrors: int = 0


class Ran(BaseModel):
    """What the bridge says of a run (`testbed/trex/bridge.py`)."""

    model_config = ConfigDict(extra="allow")

    # To the last port's end, by the client's clock: since the server had begun, and since it was asked to begin.
    measured_s: float
    longest_s: float | None = None
    # Whether the client had to end what the server should have ended.
    cut: bool
    links_down: list[int]
    # Frames that the queue did not take, with --queue-drop.
    queue_drop: int | None
    # Of the whole server: how full its cores were, how often a queue was full.
    whole: dict[str, Any] = Field(alias="global")
    ports: dict[int, PortStats]
    flow_stats: dict[str, Any]
    latency: dict[str, Any]

    def late_s(self, planned_s: float) -> float:
        """How much longer than planned it has taken, at most."""
        return max(0.0, self.measured_s - planned_s, (self.longest_s or 0.0) - planned_s)

    def is_in_time(self, planned_s: float) -> bool:
        """Whether it took as long as planned, as exactly as a load must be known."""
        not_before_s = planned_s - _BEGIN_S
        return (
            not self.cut and self.measured_s >= not_before_s and self.late_s(planned_s) <= _MOST_UNCERTAIN * planned_s
        )

    def duration_s(self, planned_s: float) -> float:
        """How long it really took: as planned if it was in time, else the longest that it may have taken."""
        if self.is_in_time(planned_s):
            return planned_s
        return planned_s + self.late_s(planned_s) if self.measured_s > planned_s else self.measured_s


class Route(BaseModel):
    """Which ports the frames of a trial leave and come back by."""

    tx_ports: list[int]
    rx_ports: list[int]
    # A virtual wire: each side empties the queue that the other fills, and answers for a full one.
    virtual: bool


def account(plan: TrialPlan, ran: Ran, route: Route, before: Counts | None, after: Counts | None) -> TrialResult:
    """What came of a trial.

    The counters of the device are None where nobody knows them; what is lost then is lost at `device`.
    """
    dropped = ran.queue_drop or 0
    sent = sum(ran.ports[port].opackets for port in route.tx_ports) + dropped
    arrived = sum(ran.ports[port].ipackets for port in route.rx_ports)
    marked = marked_frames(ran, route.rx_ports)
    received = arrived if marked is None else min(marked, arrived)
    burst = plan.kind == "burst"
    late_s = ran.late_s(plan.duration_s)
    in_time = late_s <= _BURST_S and not ran.cut if burst else ran.is_in_time(plan.duration_s)
    duration_s = plan.duration_s if in_time else ran.duration_s(plan.duration_s)
    lost_at = _places(sent - received, dropped, sent, received, route.virtual, before, after)
    lost_at = without_foreign(lost_at, arrived - received)
    lost_at = on_a_virtual_wire(lost_at) if route.virtual else lost_at
    result = TrialResult(
        plan=plan,
        sent=sent,
        received=received,
        lost=sent - received,
        lost_at={place: count for place, count in lost_at.items() if count},
        offered_fps=sent / plan.ways / duration_s if duration_s > 0 else 0.0,
        duration_s=duration_s,
        latency=latency(ran.latency, ran.flow_stats) if plan.latency else None,
        pacing=Pacing(load_uncertainty=None if burst else late_s / plan.duration_s),
        raw={
            "checks": port_checks(ran, arrived - received),
            "generator": ran.model_dump(mode="json", by_alias=True),
            **({"forwarder": {"before": before.model_dump(), "after": after.model_dump()}} if before and after else {}),
        },
    )
    reasons = []
    if ran.cut:
        reasons.append(f"TRex did not end in time: its traffic was stopped after {ran.measured_s:.1f} s")
    elif not burst and not in_time and late_s:
        reasons.append(
            f"TRex's load is not verified: it may have sent for {duration_s:.3f} s instead of {plan.duration_s:g} s, "
            f"by its client's clock: use trials of {late_s / _MOST_UNCERTAIN:.1f} s or more"
        )
    if plan.latency and result.latency is None:
        reasons.append("none of the frames that measure latency came back")
    if after is not None and after.in_flight:
        reasons.append(f"{after.in_flight} frames were still in the forwarder when the trial was over")
    return result.invalidated(reasons)


def reset_account(plan: ResetPlan, ran: Ran, route: Route) -> ResetResult:
    """What came of a reset under load: frames that the queue did not take count as sent, into a link that was down."""
    sent = sum(ran.ports[port].opackets for port in route.tx_ports) + (ran.queue_drop or 0)
    arrived = sum(ran.ports[port].ipackets for port in route.rx_ports)
    marked = marked_frames(ran, route.rx_ports)
    received = arrived if marked is None else min(marked, arrived)
    lost, intended = sent - received, plan.load_fps * plan.ways * ran.measured_s
    reasons = []
    if abs(sent - intended) > _RESET_SHARE * intended + _REQUEST_S * plan.load_fps * plan.ways:
        reasons.append(
            f"TRex did not keep its rate while the device was away: {sent} frames were sent instead of about "
            f"{intended:.0f}: without its option --queue-drop it waits for a link that is down"
        )
    if ran.links_down:
        reasons.append(f"the link of port {ran.links_down[0]} was down before or after")
    if not received:
        reasons.append("no frame came back")
    return ResetResult(
        plan=plan,
        sent=sent,
        lost=lost,
        gap_s=lost / plan.ways / plan.load_fps,
        raw={"generator": ran.model_dump(mode="json", by_alias=True)},
    ).invalidated(reasons)


def marked_frames(ran: Ran, ports: list[int]) -> int | None:
    """The frames that came to these ports with a mark of this trial; None if not all frames carry one."""
    counted = [flow for name, flow in ran.flow_stats.items() if name.isdigit()]
    if not any(name.isdigit() and int(name) not in _stamped(ran) for name in ran.flow_stats):
        return None
    return sum(flow.get("rx_pkts", {}).get(str(port)) or 0 for flow in counted for port in ports)


def _stamped(ran: Ran) -> set[int]:
    return {int(name) for name in ran.latency if name.isdigit()}


def _places(
    lost: int, dropped: int, sent: int, received: int, virtual: bool, before: Counts | None, after: Counts | None
) -> dict[Place, int]:
    """Each lost frame at its place; what the device's own counters cannot place, at the device."""
    if before is None or after is None:
        places = {Place.DEVICE: lost}
        if dropped and not virtual:
            places = {Place.GENERATOR: dropped, Place.DEVICE: lost - dropped}
    else:
        missed = (after.missed or 0) - (before.missed or 0)
        no_mbufs = (after.no_mbufs or 0) - (before.no_mbufs or 0)
        came = after.received - before.received
        places = {
            Place.GENERATOR: 0 if virtual else dropped,
            Place.IMISSED: (dropped if virtual else 0) + missed,
            Place.NO_MBUFS: no_mbufs,
            Place.WIRE: sent - dropped - missed - no_mbufs - came,
            Place.DEVICE: (after.short or 0) - (before.short or 0),
            Place.TX_QUEUE: after.dropped - before.dropped,
            Place.RECEIVER: after.sent - before.sent - received,
        }
    return places


def port_checks(ran: Ran, unmarked: int) -> dict[str, int]:
    """The faults of which a valid trial has none (see `validity`)."""
    errors = [flow["err_cntrs"] for name, flow in ran.latency.items() if name.isdigit() and "err_cntrs" in flow]
    full = ran.whole.get("queue_full")
    return {
        "foreign": max(0, unmarked),
        "duplicated": sum(error.get("dup") or 0 for error in errors),
        "reordered": sum(error.get("out_of_order") or 0 for error in errors),
        "queue_full": full if isinstance(full, int) else 0,
        "links_down": len(ran.links_down),
    }
