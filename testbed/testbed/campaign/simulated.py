# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A device whose figures are known, to test the searches: each must find the model's value.

It is a queue: frames come at the offered rate, leave at the device's, and what finds the buffer full is lost. Time is
virtual. Whatever is random depends on the seed, the plan, and how often that plan was asked for before, so that a
resumed campaign sees what an undisturbed one does.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from pydantic import Field, model_validator

from testbed.campaign.sizes import Size, frames_of, is_mixture, size_in_words
from testbed.campaign.traffic_generator import Capabilities, NotCapable, Pauses
from testbed.campaign.trial import (
    GAP_LIMITS_S,
    AnyPlan,
    Fps,
    Gaps,
    Latency,
    Pacing,
    Place,
    Record,
    ResetKind,
    ResetPlan,
    ResetResult,
    StepPlan,
    StepResult,
    Stream,
    TrialPlan,
    TrialResult,
    Window,
    line_rate_fps,
)
from testbed.campaign.validity import CHECKS

_PERCENTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99_9": 0.999, "p99_99": 0.9999}


class DeviceModel(Record):
    """What the searches are to find."""

    # At most, by frame size; for a size that is not listed, what the next smaller one has (of bits: the line rate).
    throughput_fps: dict[Size, Fps] = Field(min_length=1)
    line_rate_bps: float = Field(25e9, gt=0)
    # Of the throughput, in each direction when both are used.
    bidirectional_share: float = Field(1.0, gt=0, le=1)
    buffer_frames: int = Field(1024, ge=1)
    # How much of its throughput the device loses at line rate; in between in proportion to the excess.
    collapse: float = Field(0.0, ge=0, lt=1)
    # Latency is this and an exponentially distributed rest of that mean.
    latency_base_ns: float = Field(5_000, gt=0)
    latency_rest_ns: float = Field(1_000, ge=0)
    # What the generator adds to it: the latency that it measures when connected to itself.
    generator_ns: float = Field(0, ge=0)
    # How long it keeps losing frames after an overload.
    recovery_s: float = Field(0.25, ge=0)
    reset_gap_s: dict[ResetKind, float] = Field(default_factory=lambda: {ResetKind.PROCESS: 1.5, ResetKind.PORT: 0.4})
    seed: int = 0
    # Standard deviation of the throughput from trial to trial, as a share.
    noise: float = Field(0.0, ge=0, lt=0.5)
    # The share of trials in which the generator falls short of its load.
    shortfalls: float = Field(0.0, ge=0, le=1)
    # The share of trials in which the generator pauses once, and how long; then it sends at twice the rate for as long.
    stalls: float = Field(0.0, ge=0, le=1)
    stall_s: float = Field(0.0, ge=0)
    # How often in a second of load the machine pauses the device, and for how long; `buffer_frames` are its queue then.
    pauses_per_s: float = Field(0.0, ge=0, le=1000)
    pause_s: float = Field(0.0, ge=0)
    # The share of trials in which a frame comes back changed.
    corrupts: float = Field(0.0, ge=0, le=1)
    # The share of trials in which one frame is lost by chance.
    mishaps: float = Field(0.0, ge=0, le=1)
    # Real seconds for each simulated one, for whoever wants to watch; 0: none.
    pace: float = Field(0.0, ge=0, le=1)

    @model_validator(mode="after")
    def _below_line_rate(self) -> DeviceModel:
        for size, fps in self.throughput_fps.items():
            if fps > line_rate_fps(size, self.line_rate_bps):
                raise ValueError(f"throughput_fps at {size_in_words(size)} is more than line_rate_bps allows")
        if all(is_mixture(size) for size in self.throughput_fps):
            raise ValueError("throughput_fps has mixtures only: list at least one size too")
        return self

    def throughput(self, size: int | str, directions: int = 1) -> float:
        """The highest load, in each direction, that the device forwards for ever."""
        if (listed := self.throughput_fps.get(size)) is not None:
            able = listed
        else:
            # Of a mixture: it takes for each frame what it takes for one of that size.
            each = [1 / self._throughput_listed(frame) for frame in frames_of(size)]
            able = len(each) / sum(each)
        at_most = min(able, line_rate_fps(size, self.line_rate_bps))
        return at_most * (self.bidirectional_share if directions == 2 else 1.0)

    def _throughput_listed(self, size: int) -> float:
        """What is listed for the size, or the next smaller one, or else the smallest."""
        sizes = [listed for listed in self.throughput_fps if isinstance(listed, int)]
        return self.throughput_fps[max([listed for listed in sizes if listed <= size] or [min(sizes)])]

    def forwarding_rate(self, size: int | str, load_fps: float, directions: int = 1) -> float:
        """What leaves the device at a load, when its buffer is full."""
        able = self.throughput(size, directions)
        excess = load_fps - able
        if excess <= 0:
            return load_fps
        return able * (1 - self.collapse * excess / max(line_rate_fps(size, self.line_rate_bps) - able, excess))

    def back_to_back_frames(self, size: int | str, directions: int = 1) -> float:
        """The longest burst at line rate without loss; infinite where the device forwards line rate."""
        line = line_rate_fps(size, self.line_rate_bps)
        served = self.forwarding_rate(size, line, directions) / line
        return math.inf if served >= 1 else self.buffer_frames / (1 - served)


class SimulatedGenerator:
    """The simulated device with its generator."""

    def __init__(self, model: DeviceModel, pauses: Pauses | None = None, name: str = "simulated") -> None:
        self.model = model
        self.name = name
        # Virtual seconds since the start.
        self.clock_s = 0.0
        self._pauses = pauses or Pauses()
        self._asked: Counter[str] = Counter()
        self._told: Callable[[Window], None] = lambda _: None

    def capabilities(self) -> Capabilities:
        """All that the campaign knows of."""
        return Capabilities(
            generator="simulated",
            version="1",
            line_rate_bps=self.model.line_rate_bps,
            directions=2,
            flows=1 << 20,
            latency=True,
            latency_definition="that of a model, which no clock measured",
            burst=True,
            step=True,
            resets=list(self.model.reset_gap_s),
            proves_frames=True,
            pauses=self._pauses,
        )

    def run(self, plan: TrialPlan) -> TrialResult:
        """One trial."""
        chance = self._chance(plan)
        line = line_rate_fps(plan.size, self.model.line_rate_bps)
        able = self._able(plan, chance)
        short = chance.random() < self.model.shortfalls
        offered = min(plan.load_fps, line) * (0.9 if short else 1.0)
        each = plan.burst_frames if plan.burst_frames is not None else round(offered * plan.duration_s)
        # A burst is sent whole whatever its rate.
        duration_s = each / offered if plan.kind == "burst" else plan.duration_s
        served = able(offered)
        stalled = bool(self.model.stalls) and chance.random() < self.model.stalls
        paused = self._paused(duration_s, chance) if self.model.pauses_per_s else 0
        mishap = bool(self.model.mishaps) and chance.random() < self.model.mishaps
        counted = [self._counted(plan, offered, share, able, stalled, paused) for share in plan.shares]
        sent, lost, left = (sum(counts) for counts in zip(*counted, strict=True))
        if mishap:
            lost = max(lost, len(counted))
        pacing = Pacing()
        if stalled:
            pacing = Pacing(
                worst_lag_s=self.model.stall_s, caught_up=min(round(2 * offered * self.model.stall_s), each)
            )
        windows = self._windows(plan, offered, served, duration_s) if plan.windows else []
        self._takes(duration_s, windows)
        result = TrialResult(
            plan=plan,
            sent=sent,
            received=sent - lost,
            # The buffer is emptied when the load is over.
            received_under_load=max(0, sent - lost - left),
            lost=lost,
            lost_at={Place.IMISSED: lost} if lost else {},
            pacing=pacing,
            **self._gaps(paused),
            offered_fps=offered,
            duration_s=duration_s,
            latency=self._latency(sent - lost, lost > 0, served, chance) if plan.latency else None,
            baseline=self._baseline(sent) if plan.latency else None,
            windows=windows,
            # No random number for a device that never does it: campaigns keep those that they have.
            raw={CHECKS: {"corrupted": 1}} if self.model.corrupts and chance.random() < self.model.corrupts else {},
        )
        if offered < plan.load_fps:
            return result.invalidated([f"the generator offered {offered:.0f} frames/s instead of {plan.load_fps:.0f}"])
        return result

    def _counted(
        self,
        plan: TrialPlan,
        most_offered: float,
        share: float,
        able: Callable[[float], float],
        stalled: bool,
        paused: int,
    ) -> tuple[int, int, int]:
        """Frames of one direction that were sent, that were lost, and that were in the buffer when the load ended."""
        offered = most_offered * share
        model, served = self.model, able(offered)
        burst = plan.burst_frames
        sent = round(offered * plan.duration_s) if burst is None else math.ceil(burst * share)
        lost = _overflow(sent, offered, served, model.buffer_frames)
        if stalled:
            # In the time that it lacks, and in as much to make up for it.
            behind = min(round(2 * offered * model.stall_s), sent)
            lost = max(lost, _overflow(behind, 2 * offered, able(2 * offered), model.buffer_frames))
        # A pause costs what the queue has no room for; where it is full anyway, what would have been forwarded.
        in_a_pause = offered * model.pause_s - model.buffer_frames
        in_a_pause = max(0, math.ceil(in_a_pause if served >= offered else served * model.pause_s))
        left = min(model.buffer_frames, math.ceil(sent * (1 - served / offered)))
        return sent, min(sent, lost + paused * in_a_pause), left

    def step(self, plan: StepPlan) -> StepResult:
        """Consecutive loads: the device keeps losing frames for its recovery time."""
        able = self._able(plan, self._chance(plan))
        sent, lost = [], []
        overloaded, last_loss_s = False, None
        for load, duration_s in zip(plan.loads_fps, plan.durations_s, strict=True):
            suffers_s = min(self.model.recovery_s, duration_s) if overloaded else 0.0
            loads = [load * share for share in plan.shares]
            missing = [_overflow(round(one * duration_s), one, able(one), self.model.buffer_frames) for one in loads]
            overloaded = any(missing)
            if overloaded:
                last_loss_s = duration_s
            else:
                # Every other frame is lost meanwhile.
                missing, last_loss_s = [math.ceil(one * suffers_s / 2) for one in loads], suffers_s
            sent.append(sum(round(one * duration_s) for one in loads))
            lost.append(sum(missing))
        self._takes(sum(plan.durations_s))
        return StepResult(plan=plan, sent=sent, lost=lost, last_loss_s=last_loss_s)

    def reset(self, plan: ResetPlan) -> ResetResult:
        """A reset: nothing is forwarded during its gap."""
        if plan.kind not in self.model.reset_gap_s:
            raise NotCapable(f"{self.name}: it knows no reset of the {plan.kind}")
        self._chance(plan)
        gap_s = self.model.reset_gap_s[plan.kind]
        seconds = gap_s + 1
        self._takes(seconds)
        result = ResetResult(
            plan=plan,
            sent=sum(round(plan.load_fps * seconds * share) for share in plan.shares),
            lost=sum(round(plan.load_fps * gap_s * share) for share in plan.shares),
            gap_s=gap_s,
        )
        if gap_s > plan.patience_s:
            return result.invalidated([f"the device did not forward again within {plan.patience_s:g} s"])
        return result

    def watch(self, told: Callable[[Window], None]) -> None:
        """Each second of a trial with windows goes to `told` before the trial's result."""
        self._told = told

    def replayed(self, plan: AnyPlan) -> None:
        """Counts a replayed trial, so that the random numbers of later trials stay the same."""
        self._asked[_key(plan)] += 1

    def close(self) -> None:
        """Nothing runs."""

    def _chance(self, plan: Stream) -> Random:
        """What is random in a trial of this plan."""
        key = _key(plan)
        self._asked[key] += 1
        return Random(f"{self.model.seed} {self.name} {key} {self._asked[key]}")

    def _able(self, plan: Stream, chance: Random) -> Callable[[float], float]:
        """What the device forwards at a load in this trial."""
        factor = max(0.1, 1 + chance.gauss(0, self.model.noise)) if self.model.noise else 1.0

        def able(load_fps: float) -> float:
            able_fps = self.model.throughput(plan.size, plan.directions) * factor
            steady = self.model.forwarding_rate(plan.size, load_fps, plan.directions) * factor
            return load_fps if load_fps <= able_fps else min(steady, load_fps)

        return able

    def _paused(self, seconds: float, chance: Random) -> int:
        """How often the machine pauses in this time (a Poisson process)."""
        number, at_s = 0, chance.expovariate(self.model.pauses_per_s)
        while at_s < seconds:
            number, at_s = number + 1, at_s + chance.expovariate(self.model.pauses_per_s)
        return number

    def _gaps(self, paused: int) -> dict[str, Any]:
        """What the device reports of so many pauses."""
        if not self.model.pauses_per_s:
            return {}
        above = {name: paused if self.model.pause_s > limit_s else 0 for name, limit_s in GAP_LIMITS_S.items()}
        gaps = Gaps(longest_s=self.model.pause_s if paused else 0.0, **above)
        return {"generator_gaps": Gaps(), "device_gaps": gaps, "ring_frames": self.model.buffer_frames}

    def _latency(self, count: int, overloaded: bool, served_fps: float, chance: Random) -> Latency:
        """The distribution's own figures; a full buffer adds the time that it takes to empty."""
        base = (
            self.model.generator_ns
            + self.model.latency_base_ns
            + (1e9 * self.model.buffer_frames / served_fps if overloaded else 0.0)
        )
        rest = self.model.latency_rest_ns
        if self.model.noise:
            rest *= max(0.1, 1 + chance.gauss(0, self.model.noise))
        if count == 0:
            return Latency(count=0)
        quantiles = {name: base - rest * math.log(1 - share) for name, share in _PERCENTILES.items()}
        # The mean difference of two values of an exponential distribution is its mean.
        ipdv = rest
        return Latency(
            count=count, min=base, avg=base + rest, max=base + rest * math.log(count + 1), ipdv=ipdv, **quantiles
        )

    def _baseline(self, count: int) -> Latency:
        """The generator connected to itself: it adds the same to each frame."""
        return Latency(
            count=count, ipdv=0, **dict.fromkeys(["min", "avg", "max", *_PERCENTILES], self.model.generator_ns)
        )

    def _windows(self, plan: TrialPlan, offered: float, served: float, duration_s: float) -> list[Window]:
        """The seconds of a load; its buffer is full after some of them."""
        windows: list[Window] = []
        lost = 0
        for second in range(1, math.ceil(duration_s) + 1):
            end_s = min(second, duration_s)
            by_then = _overflow(round(offered * end_s), offered, served, self.model.buffer_frames)
            by_then *= sum(share == 1 for share in plan.shares)
            windows.append(Window(end_s=end_s, sent_fps=offered, received_fps=served, lost=by_then - lost))
            lost = by_then
        return windows

    def _takes(self, seconds: float, windows: Sequence[Window] = ()) -> None:
        whole_s = seconds + self._pauses.total_s
        self.clock_s += whole_s
        if self.model.pace:
            time.sleep(whole_s * self.model.pace)
        for window in windows:
            self._told(window)


def _overflow(frames: int, offered_fps: float, served_fps: float, buffer_frames: int) -> int:
    """Frames that find the buffer full."""
    if served_fps >= offered_fps:
        return 0
    # One frame more or less is the rounding of the rates.
    waiting = frames * (1 - served_fps / offered_fps)
    return max(0, math.ceil(waiting - buffer_frames - 1e-6))


def _key(plan: Stream) -> str:
    # What is told or made of a trial changes nothing in it; and campaigns keep the random numbers that they have.
    usual = {"port_pairs", "reverse_share"} if len(plan.shares) == plan.ways == plan.directions else set()
    return plan.model_dump_json(exclude={"windows", "pauses_as_loss", *usual})
