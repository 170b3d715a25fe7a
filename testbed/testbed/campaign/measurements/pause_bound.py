# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Where pauses of the machine, and not the device, bound the rate without loss.

A trial in which more frames are due in a pause than the queues hold counts neither way. If the attempts at a rate have
such pauses, a search tells what the queues hold, and nothing of the device. What can be told then is the rate at which
some loss is allowed, as long as the pauses alone cost less than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from pydantic import Field

from testbed.campaign.trial import AnyResult, Gaps, Record, TrialResult

_LIMITS_S = {"above_100us": 1e-4, "above_1ms": 1e-3, "above_3ms": 3e-3, "above_10ms": 1e-2}


class PauseBound(Record):
    """That pauses end a search."""

    pause_s: float = Field(gt=0, description="each trial at a higher rate had a pause of at least this length")
    per_s: float = Field(gt=0, description="how many of that length in a second of load, at least")
    ring_frames: int = Field(ge=1, description="what the queues hold meanwhile")

    @property
    def limit_fps(self) -> float:
        """The rate at which the queues hold what is due in such a pause."""
        return self.ring_frames / self.pause_s

    @property
    def pauses_in_words(self) -> str:
        """'this machine pauses 3 ms about once a second'."""
        return f"this machine pauses {1000 * self.pause_s:.2g} ms {_often(self.per_s)}"

    def __str__(self) -> str:
        rate = f"{self.limit_fps / 1e6:.2g} Mpps"
        return f"{self.pauses_in_words}: no rate above {rate} can be told free of loss"


def _often(per_s: float) -> str:
    if per_s >= 1.5:
        return f"about {per_s:.0f} times a second"
    return "about once a second" if per_s > 0.67 else f"about every {1 / per_s:.0f} seconds"


def pause_bound(tried: Sequence[TrialResult], pauses_s: Sequence[float], ring_frames: int) -> PauseBound:
    """By the attempts at a rate, and the pause of each of them that was too long for the queues."""
    pause_s = min(pauses_s)
    counted = max(sum(_as_long(gaps, pause_s) for gaps in of_all if gaps) for of_all in _gaps_of(tried))
    seconds = sum(result.plan.duration_s for result in tried)
    return PauseBound(pause_s=pause_s, per_s=max(counted, len(pauses_s)) / seconds, ring_frames=ring_frames)


def share_in_pauses(results: Sequence[TrialResult]) -> float:
    """The share of their frames that pauses may have cost at most, by the gaps that the programs report."""
    frames = sum(result.plan.load_fps * result.plan.duration_s for result in results)
    cost = 0.0
    for result in results:
        room_s = (result.ring_frames or 0) / result.plan.load_fps
        ours, theirs = result.generator_gaps, result.device_gaps
        lag_s = result.pacing.worst_lag_s if ours is None and theirs is None else None
        # Longer than others had its CPU, the device paused by itself.
        of_device_s = min(_beyond_s(theirs, room_s), inf if result.device_taken_s is None else result.device_taken_s)
        beyond_s = _beyond_s(ours, room_s) + of_device_s + max(0.0, (lag_s or 0.0) - room_s)
        cost += result.plan.load_fps * beyond_s
    return cost / frames if frames else 0.0


def _gaps_of(tried: Sequence[AnyResult]) -> tuple[list[Gaps | None], list[Gaps | None]]:
    return [one.generator_gaps for one in tried], [one.device_gaps for one in tried]


def _as_long(gaps: Gaps, pause_s: float) -> int:
    """How many gaps were about as long, by the longest limit below it."""
    name = max((name for name, limit in _LIMITS_S.items() if limit < pause_s), key=_LIMITS_S.__getitem__, default=None)
    return getattr(gaps, name) if name else 0


def _beyond_s(gaps: Gaps | None, room_s: float) -> float:
    """How much longer than that the gaps lasted, all together, at most."""
    return 0.0 if gaps is None else sum(max(0.0, length - room_s) for length in _lengths_s(gaps))


def _lengths_s(gaps: Gaps) -> list[float]:
    """How long each gap was at most: the next limit, or the longest of all."""
    limits = [*_LIMITS_S.values(), gaps.longest_s]
    counts = [*(getattr(gaps, name) for name in _LIMITS_S), 0]
    return [
        min(upper, gaps.longest_s)
        for upper, count, more in zip(limits[1:], counts, counts[1:], strict=False)
        for _ in range(count - more)
    ]
