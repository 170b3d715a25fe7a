# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What every generator can be asked: the embedded one, the simulated one, and those to come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from pydantic import Field

from testbed.campaign.sides import Side
from testbed.campaign.sizes import Size, longest, size_in_words
from testbed.campaign.trial import (
    AnyPlan,
    Record,
    ResetKind,
    ResetPlan,
    ResetResult,
    Seconds,
    StepPlan,
    StepResult,
    TrialPlan,
    TrialResult,
    Window,
    line_rate_fps,
)


class GeneratorError(Exception):
    """Nothing can be measured any more: the generator or the device cannot be started, or is gone for good.

    A single trial that went wrong is no such error, but an invalid result.
    """


class NotCapable(GeneratorError):  # noqa: N818 (reads better where it is caught)
    """The generator cannot do what was asked; its capabilities say so beforehand."""


class Pauses(Record):
    """The times around a trial (RFC 2544, section 23)."""

    before_s: Seconds = Field(2.0, description="from the learning frames to the trial")
    residual_s: Seconds = Field(2.0, description="for frames that are still under way after the last was sent")
    settle_s: Seconds = Field(5.0, description="before the next trial")

    @property
    def total_s(self) -> float:
        """What they add to each trial."""
        return self.before_s + self.residual_s + self.settle_s


class CalibrationTry(Record):
    """What a generator was asked for before the first trial, and what it offered, in each direction."""

    size: Size
    # Of a burst; None of a continuous load.
    burst_frames: int | None = None
    # Of the queues; None where they are not known.
    ring_frames: int | None = None
    asked_fps: float
    offered_fps: float
    kept: bool


class Capabilities(Record):
    """What a generator can do with the device that it is joined to."""

    generator: str
    version: str
    # Of the link; None where there is no such limit, as on a virtual wire.
    line_rate_bps: float | None = Field(default=None, gt=0)
    # What it was seen to send, by frame size, in each direction; without an entry the line rate counts.
    max_fps_by_size: dict[Size, float] = Field(default_factory=dict)
    directions: int = 1
    flows: int = Field(1, description="most flows")
    latency: bool = False
    # From where to where its latency is measured, how finely, and with which bias.
    latency_definition: str = "not said"
    burst: bool = False
    step: bool = False
    resets: list[ResetKind] = Field(default_factory=list)
    # Why it cannot do what it might: reasons by 'latency', 'step', a kind of reset, or 'pieces'.
    lacks: dict[str, str] = Field(default_factory=dict)
    # Longer frames can neither differ nor measure latency (`lacks["pieces"]`); None where there is no such limit.
    one_piece_bytes: int | None = None
    # Whether each frame's sequence, length, addresses and payload are checked, or only frames counted.
    proves_frames: bool = False
    pauses: Pauses = Field(default_factory=Pauses)
    # What a queue between generator and device holds, and the longest pause of either program at calibration; None
    # where it is not known.
    ring_frames: int | None = Field(None, ge=1)
    pause_s: Seconds | None = None
    # How the highest rates were found, in the order of the tries; empty where it is not known.
    calibration: list[CalibrationTry] = Field(default_factory=list)
    # How both sides are set up; None where that is not known.
    generator_side: Side | None = None
    device_side: Side | None = None
    # What it takes to start and end a trial, beside the pauses.
    overhead_s: Seconds = 0.0

    def line_rate_fps(self, size: int | str) -> float | None:
        """The most frames that the link carries each way; None where it is not known."""
        return None if self.line_rate_bps is None else line_rate_fps(size, self.line_rate_bps)

    def why_not(self, what: str, otherwise: str) -> str:
        """Why it cannot do something."""
        return self.lacks.get(what, f"the generator '{self.generator}' {otherwise}")

    def check(self, plan: AnyPlan) -> None:
        """Raises `NotCapable` for frames that it cannot send."""
        if self.one_piece_bytes is None or longest((plan.size,)) <= self.one_piece_bytes:
            return
        latency = isinstance(plan, TrialPlan) and plan.latency
        if latency or plan.flows > 1:
            what = "latency" if latency else "flows"
            raise NotCapable(
                f"{self.generator} has {what} only with frames of up to {self.one_piece_bytes} bytes: "
                + self.lacks.get("pieces", "it sends longer ones in pieces")
            )

    def max_fps(self, size: int | str) -> float:
        """The highest load that can be asked for.

        Raises `GeneratorError` if that is not known.
        """
        limits = [limit for limit in (self.max_fps_by_size.get(size), self.line_rate_fps(size)) if limit is not None]
        if not limits:
            raise GeneratorError(
                f"{self.generator}: its highest rate with {size_in_words(size)} is not known: give line_rate_bps in "
                "the scenario"
            )
        return min(limits)


@runtime_checkable
class Resting(Protocol):
    """A generator whose device must be kept from the CPU that another device needs now."""

    def rest(self) -> None:
        """Stops the device where it is; nothing but `wake` and `close` is called then."""
        ...

    def wake(self) -> None:
        """Lets it go on."""
        ...


@runtime_checkable
class Rejoining(Protocol):
    """A generator that must be joined to its device as it was in an earlier run of the campaign."""

    def rejoin(self, before: Capabilities) -> None:
        """Called before the first trial with what it could do then."""
        ...


@runtime_checkable
class Watchable(Protocol):
    """A generator that reports each second of a trial with `windows` while it runs."""

    def watch(self, told: Callable[[Window], None]) -> None:
        """From now on each second goes to `told`, in the thread that runs the trial."""
        ...


@runtime_checkable
class Generator(Protocol):
    """A generator joined to a running device under test.

    A trial that did not do what was intended gives an invalid result. An exception ends the campaign.
    """

    def capabilities(self) -> Capabilities:
        """What it can do; the same for its whole life, but for sizes added to `max_fps_by_size`."""
        ...

    def run(self, plan: TrialPlan) -> TrialResult:
        """One trial, pauses included."""
        ...

    def step(self, plan: StepPlan) -> StepResult:
        """Loads one after the other, for the time that the device takes to recover.

        Raises `NotCapable`.
        """
        ...

    def reset(self, plan: ResetPlan) -> ResetResult:
        """A reset of the device under load, for the gap that it leaves.

        Raises `NotCapable`.
        """
        ...

    def replayed(self, plan: AnyPlan) -> None:
        """A trial of an earlier run of this campaign has been taken from the journal instead of being run."""
        ...

    def close(self) -> None:
        """Ends generator and device. May be called again."""
        ...
