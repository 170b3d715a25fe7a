# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Loads one after the other with TRex, for the time that a device takes to recover (RFC 2544, section 26.5).

TRex counts frames by their mark and keeps no times. So the last load is cut into slices with a mark each, which the
server sends one after another without a pause. The last loss is then somewhere in the last slice that has lost
frames, and what is told is that slice's end: never too early, and too late by at most the slice, a seventh of the time.
"""

from __future__ import annotations

from pydantic import BaseModel

from testbed.campaign.sizes import frames_of
from testbed.campaign.trex.account import Ran, Route, port_checks
from testbed.campaign.trial import Pacing, StepPlan, StepResult

# So many slices with growing lengths, the first of them a thousandth of the load. With those of the other direction
# they are fewer than the marks that the filters of NICs can distinguish (127 on the XXV710).
_SLICES = 50
_FIRST_SHARE = 1e-3
# Slices are not worth a mark with fewer frames: then the first ones are longer.
_LEAST_FRAMES = 64


class MarkedStream(BaseModel):
    """Frames with one mark at one rate."""

    load_fps: float
    frames: int
    # Since this load began; of the last load only its slices have different ends.
    end_s: float


def marked_streams(plan: StepPlan) -> list[MarkedStream]:
    """What is sent in each direction: a stream for each load but the last, whose slices follow.

    Of a mixture each stream has whole repetitions.
    """
    round_frames = len(frames_of(plan.size))

    def rounds(load: float, seconds: float) -> int:
        return max(1, round(load * seconds / round_frames))

    found = [
        MarkedStream(load_fps=load, frames=round_frames * rounds(load, seconds), end_s=seconds)
        for load, seconds in zip(plan.loads_fps[:-1], plan.durations_s[:-1], strict=True)
    ]
    load, seconds = plan.loads_fps[-1], plan.durations_s[-1]
    whole = rounds(load, seconds)
    before = 0
    for number in range(_SLICES):
        share = _FIRST_SHARE ** (1 - number / (_SLICES - 1))
        until = whole if number == _SLICES - 1 else round(share * whole)
        frames = round_frames * (until - before)
        if frames >= _LEAST_FRAMES or until == whole:
            found.append(MarkedStream(load_fps=load, frames=frames, end_s=seconds * until / whole))
            before = until
        if until == whole:
            break
    return found


def sequence(sent: list[MarkedStream]) -> str:
    """As the profile's tunable has it."""
    return "+".join(f"{stream.load_fps:.6f}:{stream.frames}" for stream in sent)


def step_account(plan: StepPlan, sent: list[MarkedStream], ran: Ran, route: Route, first_mark: int) -> StepResult:
    """What came of it: frames by load, and the end of the last slice that lost some."""
    reasons: list[str] = []
    counts = [
        [_count(ran, mark, "tx_pkts", route.tx_ports), _count(ran, mark, "rx_pkts", route.rx_ports)]
        for mark in _marks(sent, first_mark)
    ]
    loads = len(plan.loads_fps) - 1
    per_load = [*counts[:loads], [sum(column) for column in zip(*counts[loads:], strict=True)]]
    slices = [
        {"end_s": stream.end_s, "sent": went, "lost": went - came}
        for stream, (went, came) in zip(sent[loads:], counts[loads:], strict=True)
    ]
    lossy = [one["end_s"] for one in slices if one["lost"]]
    planned_s = sum(plan.durations_s)
    if ran.cut:
        reasons.append(f"TRex did not end in time: its traffic was stopped after {ran.measured_s:.1f} s")
    elif not ran.is_in_time(planned_s):
        reasons.append(f"wrong duration: {ran.duration_s(planned_s):.3f} s instead of {planned_s:g} s")
    if ran.queue_drop and not route.virtual:
        reasons.append(f"loss that is not the device's: TRex's queue did not take {ran.queue_drop} frames")
    arrived = sum(ran.ports[port].ipackets for port in route.rx_ports)
    return StepResult(
        plan=plan,
        sent=[went for went, _ in per_load],
        lost=[went - came for went, came in per_load],
        last_loss_s=max(lossy, default=0.0),
        pacing=Pacing(load_uncertainty=ran.late_s(planned_s) / planned_s),
        raw={
            "checks": port_checks(ran, arrived - sum(came for _, came in counts)),
            "slices": slices,
            "generator": ran.model_dump(mode="json", by_alias=True),
        },
    ).invalidated(reasons)


def _marks(sent: list[MarkedStream], first: int) -> range:
    # Two each: one for each direction.
    return range(first, first + 2 * len(sent), 2)


def _count(ran: Ran, mark: int, what: str, ports: list[int]) -> int:
    """Frames of this stream, of both directions."""
    flows = (ran.flow_stats.get(str(mark + direction), {}) for direction in (0, 1))
    return sum(flow.get(what, {}).get(str(port)) or 0 for flow in flows for port in ports)
