# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""One trial: what was intended, and what came of it.

Loads and rates are frames a second in each direction, and of unequal ones in that with more; counts are frames of all
directions together. Sizes include the FCS. What a generator cannot measure is absent (None), never zero.
"""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from testbed.campaign.sizes import WIRE_OVERHEAD_BYTES, Size, mean_bytes

Fps = Annotated[float, Field(gt=0, allow_inf_nan=False, description="frames a second in each direction")]
Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Frames = Annotated[int, Field(ge=0)]
MOST_PORT_PAIRS = 16
LEAST_REVERSE_SHARE = 0.001


def line_rate_fps(size: int | str, bits_per_second: float) -> float:
    """How many frames of `size` bytes, or of a mixture, a second a link can carry each way."""
    return bits_per_second / (8 * (mean_bytes(size) + WIRE_OVERHEAD_BYTES))


class Record(BaseModel):
    """A part of the journal: unknown fields are an error, and what was written down does not change."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Place(StrEnum):
    """Where frames are lost."""

    GENERATOR = "generator"
    WIRE = "wire"
    # The device's receiving queue was full: what a NIC counts as imissed.
    IMISSED = "imissed"
    NO_MBUFS = "no_mbufs"
    TX_QUEUE = "tx_queue"
    RECEIVER = "receiver"
    # The device does not say.
    DEVICE = "device"


class Stream(Record):
    """What all kinds of trials have in common: the frames."""

    size: Size
    directions: Literal[1, 2] = 1
    flows: int = Field(default=1, ge=1, le=1 << 20)
    port_pairs: int = Field(1, ge=1, le=MOST_PORT_PAIRS, description="with traffic like that of the first")
    reverse_share: float = Field(
        1.0, ge=LEAST_REVERSE_SHARE, le=1, description="of the load, from the second port of each pair to the first"
    )

    @property
    def frames(self) -> dict[str, Any]:
        """The fields that say which frames are sent, and where."""
        return {name: getattr(self, name) for name in Stream.model_fields}

    @property
    def shares(self) -> tuple[float, ...]:
        """What each direction of each pair has of the load."""
        pair = (1.0,) if self.directions == 1 else (1.0, self.reverse_share)
        return pair * self.port_pairs

    @property
    def ways(self) -> float:
        """All directions together, in those that have the whole load."""
        return sum(self.shares)


class TrialPlan(Stream):
    """Frames at one rate for some time, or a burst of them."""

    load_fps: Fps
    # Of a burst: about how long it takes; its length counts.
    duration_s: float = Field(gt=0, le=31_536_000, allow_inf_nan=False)
    kind: Literal["continuous", "burst"] = "continuous"
    burst_frames: int | None = Field(default=None, ge=1, description="in each direction")
    latency: bool = False
    windows: bool = Field(default=False, description="whether to say every second what came back, if it can")
    pauses_as_loss: bool = Field(
        False, description="what pauses of the machine cost counts as loss, and makes no trial invalid"
    )

    @model_validator(mode="after")
    def _burst_has_a_length(self) -> Self:
        if (self.kind == "burst") != (self.burst_frames is not None):
            raise ValueError("a burst has burst_frames, and nothing else has")
        return self

    @property
    def intended_frames(self) -> int:
        """What the generator should send, in all directions."""
        if self.burst_frames is not None:
            return sum(math.ceil(self.burst_frames * share) for share in self.shares)
        return sum(round(self.load_fps * self.duration_s * share) for share in self.shares)


class Latency(Record):
    """Nanoseconds under way."""

    count: Frames
    min: float | None = None
    avg: float | None = None
    max: float | None = None
    ipdv: float | None = Field(None, description="mean of |IPDV| (RFC 5481, section 4.1) over all frames")
    jitter: float | None = Field(None, description="RFC 3550's running estimate: mostly of the last 16 frames")
    p50: float | None = None
    p90: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    p99_99: float | None = None


class Pacing(Record):
    """How well the generator kept its schedule; None where it does not say."""

    worst_lag_s: Seconds | None = Field(None, description="the longest that a frame left after it was due")
    caught_up: Frames | None = Field(None, description="frames sent faster than asked for, to make up for a pause")
    load_uncertainty: float | None = Field(
        None, ge=0, description="the share by which the load may have been lower, where the generator reports no times"
    )


class Gaps(Record):
    """Times in which a program did not look at its queues while there was load: others had its CPU, or it stalled.

    Measured by the TSC, in the program's own loop.
    """

    longest_s: Seconds = 0.0
    above_100us: Frames = Field(0, description="how many lasted longer than that; those of the next fields included")
    above_1ms: Frames = 0
    above_3ms: Frames = 0
    above_10ms: Frames = 0


# By the name of the field of `Gaps`.
GAP_LIMITS_S = {"above_100us": 1e-4, "above_1ms": 1e-3, "above_3ms": 3e-3, "above_10ms": 1e-2}


class Window(Record):
    """What a generator saw in one second of a trial."""

    end_s: Seconds = Field(description="from the beginning of the load")
    sent_fps: float = Field(ge=0, description="frames a second in each direction")
    received_fps: float = Field(ge=0)
    lost: Frames = Field(description="known by then; what is still under way, or was not taken, comes at the end")


class Outcome(Record):
    """What the results of all kinds of trials have in common: whether they count.

    An invalid trial has reasons; it is repeated, and never counted as loss.
    """

    valid: bool = True
    reasons: list[str] = Field(default_factory=list, description="why it is invalid; empty if it is valid")
    pacing: Pacing = Pacing()
    generator_gaps: Gaps | None = Field(None, description="between two polls of the generator; None if it does not say")
    device_gaps: Gaps | None = Field(None, description="between two polls of the device; None if it does not say")
    device_taken_s: Seconds | None = Field(
        None, description="for how long others had the device's CPUs at most, by the kernel's counts; None if not known"
    )
    ring_frames: int | None = Field(
        None, ge=1, description="frames that a queue between generator and device holds; None where it is not known"
    )
    raw: dict[str, Any] = Field(default_factory=dict, description="the accounts of generator and device, as they came")

    @model_validator(mode="after")
    def _invalid_with_a_reason(self) -> Self:
        if self.valid == bool(self.reasons):
            raise ValueError("an invalid trial has reasons, and a valid one has none")
        return self

    def invalidated(self, reasons: list[str]) -> Self:
        """The same with further reasons not to count; itself if there are none."""
        if not reasons:
            return self
        return self.model_copy(update={"valid": False, "reasons": [*self.reasons, *reasons]})


class TrialResult(Outcome):
    """What came of a `TrialPlan`."""

    plan: TrialPlan
    sent: Frames
    received: Frames
    received_under_load: Frames | None = Field(
        None, description="of these, those that came back while frames were sent; None if the generator does not say"
    )
    # Negative if more came back than was sent, which no valid trial has.
    lost: int
    lost_at: dict[Place, int] = Field(default_factory=dict, description="frames by the place of their loss")
    offered_fps: float = Field(ge=0, description="frames a second in each direction that were really offered")
    duration_s: Seconds
    latency: Latency | None = None
    baseline: Latency | None = Field(
        None, description="latency of the generator connected to itself, without wire and device, at the same load"
    )
    windows: list[Window] = Field(default_factory=list, description="of a plan that asks for them")

    @property
    def loss_ratio(self) -> float:
        """Lost frames / sent frames."""
        return self.lost / self.sent if self.sent else 0.0

    @property
    def forwarded_fps(self) -> float:
        """Frames a second that came back under the load, in each direction.

        What a buffer gives away afterwards does not count, as far as the generator can tell it apart.
        """
        received = self.received if self.received_under_load is None else self.received_under_load
        return received / self.plan.ways / self.duration_s if self.duration_s else 0.0


class StepPlan(Stream):
    """Loads one after the other without a pause: overload, then relief (RFC 2544, section 26.5)."""

    loads_fps: tuple[Fps, ...] = Field(min_length=2)
    durations_s: tuple[Annotated[float, Field(gt=0)], ...]

    @model_validator(mode="after")
    def _each_load_has_a_duration(self) -> Self:
        if len(self.loads_fps) != len(self.durations_s):
            raise ValueError("give as many durations_s as loads_fps")
        return self


class StepResult(Outcome):
    """What came of a `StepPlan`."""

    plan: StepPlan
    sent: list[Frames] = Field(description="at each load")
    lost: list[int] = Field(description="of these")
    # Since the last load began; 0 if nothing was lost at that load, None if it is not known when.
    last_loss_s: float | None


class ResetKind(StrEnum):
    """What is reset (RFC 6201)."""

    PROCESS = "process"
    PORT = "port"
    HOST = "host"


class ResetPlan(Stream):
    """A stream during which the device is reset (RFC 2544, section 26.6)."""

    kind: ResetKind
    load_fps: Fps
    # Until the device must forward again.
    patience_s: float = Field(gt=0)


class ResetResult(Outcome):
    """What came of a `ResetPlan`."""

    plan: ResetPlan
    sent: Frames = Field(description="those included that the generator's queue did not take, which are lost")
    lost: int
    # Between the last frame before and the first after the reset; from TRex lost frames / load.
    gap_s: float | None


AnyPlan = TrialPlan | StepPlan | ResetPlan
AnyResult = TrialResult | StepResult | ResetResult


def planned_s(plan: AnyPlan) -> float:
    """How long frames are sent; for a reset, at most."""
    if isinstance(plan, StepPlan):
        return sum(plan.durations_s)
    return plan.patience_s if isinstance(plan, ResetPlan) else plan.duration_s


def seconds_of(result: AnyResult) -> float:
    """How long frames were sent; for a reset, at least."""
    if isinstance(result, StepResult):
        return planned_s(result.plan)
    return (result.gap_s or 0.0) if isinstance(result, ResetResult) else result.duration_s
