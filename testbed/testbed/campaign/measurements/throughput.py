# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Throughput (RFC 2544, section 26.1): the highest rate at which as many frames come back as were sent.

The RFC prescribes no search. This one is MLRsearch (RFC 9971, by FD.io's own library), which finds the bounds for one
or several goals in trials whose length grows as the bounds come closer. With a goal of no loss in one trial of 60 s its
result is RFC 2544's (RFC 9971, section 4.10.2).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from MLRsearch import AbstractMeasurer, Config, MeasurementResult, MultipleLossRatioSearch, SearchGoal
from pydantic import Field

from testbed.campaign import grade
from testbed.campaign.grade import Clause, Finding, Level
from testbed.campaign.measurements.loss_verification import (
    MOST_REPEATS,
    LossVerification,
    LossVerified,
    least_lossy,
)
from testbed.campaign.measurements.pause_bound import PauseBound, pause_bound, share_in_pauses
from testbed.campaign.measurements.result import Account, Measured, Settings, continuous, is_line_rate
from testbed.campaign.sizes import WIRE_OVERHEAD_BYTES, mean_bytes
from testbed.campaign.trial import Record, Stream, TrialPlan, TrialResult
from testbed.campaign.validity import Disturbed, NotMeasured, NotOffered, Trials

NO_LOSS = Clause(
    document="RFC 2544", section="26.1", level=Level.MUST, text="at the throughput rate all frames sent come back"
)
FASTEST = Clause(
    document="RFC 2544",
    section="26.1",
    level=Level.MUST,
    text="a higher rate loses frames, or the medium carries none that is higher",
)
CLAUSES = (NO_LOSS, FASTEST, grade.MAXIMUM_RATE, grade.FULL_LENGTH)

# MLRsearch wants a time-out, after which it throws every result away. How long trials take is not its matter: a
# replayed search takes no time, a real one days.
_NEVER_S = 1e15
# The lowest rate, as a share of the highest, and the least frames that a trial has.
_LEAST_SHARE = 1e-3
_LEAST_FRAMES = 10
# After so many rates that the generator did not keep, and none that it kept, a lower one is not tried.
_MOST_NOT_OFFERED = 5
# A generator that keeps less than this share of the highest rate, where the device may do more, is kept from working.
_LEAST_KEPT = 0.01
# The losses that are allowed where pauses allow no rate without loss to be told, and the scenario allows none.
_PARTIAL_DROP = (0.001, 0.005)
# How much a generator may send too little since its clock is slow: as much as Ethernet allows (IEEE 802.3: 100 ppm).
_CLOCK = 1e-4
# A pause can make one trial a little short of frames: so often it is made, until it is not.
_SHORT_TRIES = 3


class Goal(Record):
    """What is searched for, in MLRsearch's terms."""

    loss_ratio: float = Field(0.0, ge=0, lt=1)
    # The share of the trials' time in which more may be lost.
    exceed_ratio: float = Field(0.0, ge=0, lt=1)
    # How far the bounds may be apart at the end.
    relative_width: float = Field(0.005, gt=0, lt=1)
    initial_trial_s: float = Field(1.0, gt=0)
    final_trial_s: float = Field(60.0, gt=0)
    duration_sum_s: float = Field(60.0, gt=0)
    preceding_targets: int = Field(2, ge=0)

    def as_search_goal(self) -> SearchGoal:
        """For the library."""
        return SearchGoal(
            loss_ratio=self.loss_ratio,
            exceed_ratio=self.exceed_ratio,
            relative_width=self.relative_width,
            initial_trial_duration=self.initial_trial_s,
            final_trial_duration=self.final_trial_s,
            duration_sum=self.duration_sum_s,
            preceding_targets=self.preceding_targets,
            expansion_coefficient=2,
            # A device below the lowest rate is a result, not an exception.
            fail_fast=False,
        )


class ThroughputSettings(Settings):
    """How throughput is searched for."""

    goals: tuple[Goal, ...] = Field(default=(Goal(),), min_length=1)
    # Further trials at the rate that was found, as long as the last ones of the search.
    confirmations: int = Field(0, ge=0, le=1000)
    # How often a trial of the search that lost too many frames is repeated before it counts.
    loss_verification: int = Field(0, ge=0, le=MOST_REPEATS)


class Bound(Record):
    """A rate, and what the trials at it amounted to."""

    load_fps: float
    trials: int
    seconds: float
    # The longest trial without loss.
    lossless_s: float
    sent: int
    lost: int


class AtRate(Record):
    """All trials at a rate, of all measurements."""

    trials: int
    lossy: int


class GoalFound(Record):
    """What was found for one goal."""

    goal: Goal
    # None if the lowest rate loses too much, or the highest one does not.
    lower: Bound | None
    upper: Bound | None
    not_offered_fps: float | None = Field(
        None, description="in place of the upper bound: the generator did not keep it"
    )
    # MLRsearch's conditional throughput: what came through at the lower bound.
    conditional_fps: float | None
    pauses: PauseBound | None = Field(
        None, description="in place of all figures: pauses of the machine, not the device"
    )

    @property
    def loss(self) -> str:
        """'0.5 %': what may be lost."""
        return f"{100 * self.goal.loss_ratio:g} %"


class Throughput(Measured):
    """The throughput of one kind of frames."""

    max_fps: float = Field(description="the highest rate that was tried")
    line_rate_fps: float | None
    goals: list[GoalFound]
    # The lower bound of the first goal, in each direction; 0 if even the lowest rate loses too much; None if pauses of
    # the machine allow no figure.
    throughput_fps: float | None
    undisturbed_fps: float | None = Field(
        None, description="in its place: a load for what relates to the throughput. It says nothing of the device"
    )
    at_rate: AtRate | None = Field(None, description="all valid trials at this rate, also those of other measurements")
    loss_verification: LossVerified | None = Field(None, description="of the search; absent if nothing was repeated")

    @property
    def above_fps(self) -> float | None:
        """The lowest rate that loses more than the first goal allows; None if no such rate was found."""
        upper = self.goals[0].upper
        return None if upper is None else upper.load_fps

    @property
    def load_fps(self) -> float:
        """The load of what relates to the throughput."""
        return self.undisturbed_fps or 0.0 if self.throughput_fps is None else self.throughput_fps

    @property
    def pauses(self) -> PauseBound | None:
        """Why there is no throughput."""
        return self.goals[0].pauses

    def bps(self, load_fps: float) -> float:
        """Bits of frames a second in each direction at a load, without preamble and gap."""
        return load_fps * 8 * mean_bytes(self.stream.size)

    def wire_bps(self, load_fps: float) -> float:
        """Bits a second on the wire in each direction, with preamble and gap."""
        return load_fps * 8 * (mean_bytes(self.stream.size) + WIRE_OVERHEAD_BYTES)

    @property
    def at_max(self) -> bool:
        """Whether it is the highest rate that could be tried."""
        if self.throughput_fps is None:
            return False
        return self.throughput_fps >= self.max_fps or self.goals[0].not_offered_fps is not None

    @property
    def generator_was_limit(self) -> bool:
        """Whether the device may be faster: nothing but the generator kept the rate from being higher."""
        if self.throughput_fps is None:
            return False
        return self.at_max and not is_line_rate(self.throughput_fps, self.line_rate_fps)

    def only_offered(self, goal: GoalFound) -> bool:
        """Whether the device may be faster at a goal, with loss too: no rate was offered that misses it."""
        lower = goal.lower
        return goal.upper is None and lower is not None and not is_line_rate(lower.load_fps, self.line_rate_fps)

    @property
    def only_lower_bound(self) -> bool:
        """Whether the device's own throughput was not found: it is higher, or pauses of the machine allow no figure."""
        return any(finding.clause == FASTEST and not finding.met for finding in self.graded.findings)

    @property
    def partial_drop(self) -> str:
        """'4.9 Mpps with at most 0.5 % lost', of each goal that has a rate."""
        told = [(goal.lower.load_fps, goal.loss) for goal in self.goals[1:] if goal.lower is not None]
        return ", ".join(f"{load / 1e6:.4f} Mpps with at most {loss} lost" for load, loss in told)

    @property
    def headline(self) -> str:
        """The rate, or why there is none."""
        if self.throughput_fps is None:
            return "; ".join(part for part in (f"not told: {self.pauses}", self.partial_drop) if part)
        kept = self.goals[0].not_offered_fps is None
        doubts = ["the highest that was tried" if kept else "the generator kept no higher one"] if self.at_max else []
        if self.at_rate is not None and self.at_rate.lossy:
            doubts.append(f"{self.at_rate.lossy} of {self.at_rate.trials} trials at this rate lost frames")
        return f"{self.throughput_fps / 1e6:.4f} Mpps" + (f" ({', '.join(doubts)})" if doubts else "")


class _Search(AbstractMeasurer):
    """Trials for MLRsearch."""

    def __init__(self, verification: LossVerification, stream: Stream, pauses_as_loss: bool = False) -> None:
        self._verification = verification
        self._stream = stream
        self._pauses_as_loss = pauses_as_loss
        self.results: list[TrialResult] = []
        # Rates that the generator did not keep, and why.
        self.not_offered: dict[float, NotOffered] = {}
        # What pauses allow, if they spoilt all trials at a rate.
        self.pauses: PauseBound | None = None
        self._refused: set[float | None] = set()
        # What the least tolerant goal allows.
        self._allowed = 0.0

    def measure(self, intended_duration: float, intended_load: float) -> MeasurementResult:
        """A trial, verified if it loses frames. What was not sent counts as loss, unless it is no more than a clock
        may be slow: a rate that was not offered is not proven. A trial that lacks many frames is invalid, and never
        comes here.

        The duration is the intended one, since seconds that a trial took too short would be made up for by another
        whole trial.
        """
        if self.not_offered and intended_load >= min(self.not_offered):
            return self._not_offered(intended_duration, intended_load)
        if self.pauses is not None and intended_load >= self.pauses.limit_fps:
            return self._not_offered(intended_duration, intended_load)
        plan = continuous(self._stream, intended_load, intended_duration)
        plan = plan.model_copy(update={"pauses_as_loss": self._pauses_as_loss})
        try:
            result, short = self._run(plan)
        except Disturbed as error:
            self.pauses = pause_bound(error.tried, error.pauses_s, error.ring_frames)
            return self._not_offered(intended_duration, intended_load)
        except NotOffered as error:
            self.not_offered[intended_load] = error
            if not self.results and len(self.not_offered) >= _MOST_NOT_OFFERED:
                raise
            return self._not_offered(intended_duration, intended_load)
        if any(one.lost for one in self.at(intended_load)):
            self._refused.discard(intended_load)
        elif short:
            # The generator's bound, and not the device's.
            self._refused.add(intended_load)
        return MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=result.sent,
            loss_count=result.lost,
            intended_count=result.plan.intended_frames if short else result.sent,
        )

    def _run(self, plan: TrialPlan) -> tuple[TrialResult, bool]:
        """The least lossy of a verified trial, and whether too few frames were sent in it.

        If so, and if none was lost, it is made again.
        """
        for _ in range(_SHORT_TRIES):
            tried = self._verification.run(plan, self._allowed)
            self.results += tried
            result = least_lossy(tried)
            intended = result.plan.intended_frames
            short = intended - result.sent > max(len(self._stream.shares), _CLOCK * intended)
            if not short or result.lost:
                break
        return result, short

    def _not_offered(self, intended_duration: float, intended_load: float) -> MeasurementResult:
        """So much loss that the search goes on at half the rate."""
        self._refused.add(intended_load)
        frames = max(2, round(intended_duration * intended_load))
        return MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=frames,
            loss_count=(frames + 1) // 2,
        )

    def find(
        self, goals: Sequence[Goal], rates: tuple[float, float], on_step: Callable[[str], None] = lambda _: None
    ) -> list[GoalFound]:
        """Searches between two rates.

        Raises `NotMeasured`.
        """
        lowest, highest = rates
        self._allowed = min(goal.loss_ratio for goal in goals)
        config = Config()
        # In this order, since each is checked against what the other has now.
        config.max_load = max(highest, config.max_load)
        config.min_load = lowest
        config.max_load = highest
        config.goals = [goal.as_search_goal() for goal in goals]
        config.search_duration_max = _NEVER_S
        config.warmup_duration = None
        try:
            outcome = MultipleLossRatioSearch(config=config).search(measurer=self, debug=on_step)
        except RuntimeError as error:
            raise NotMeasured(f"MLRsearch came to no result: {error}") from error
        if not self.results and self.not_offered:
            raise next(iter(self.not_offered.values()))
        found = [self._found(goal, outcome[goal.as_search_goal()]) for goal in goals]
        kept_fps = found[0].lower.load_fps if found[0].lower is not None else 0.0
        bounded = found[0].not_offered_fps is not None and found[0].pauses is None
        if bounded and self.not_offered and kept_fps < _LEAST_KEPT * highest:
            why = self.not_offered[min(self.not_offered)]
            raise NotMeasured(f"the generator kept no rate above {kept_fps:.0f} of {highest:.0f} frames/s: {why}")
        return found

    def _found(self, goal: Goal, result: Any) -> GoalFound:
        lower, upper = (
            None if bound is None else float(bound)
            for bound in (result.relevant_lower_bound, result.relevant_upper_bound)
        )
        conditional = result.conditional_throughput
        offered = upper not in self._refused
        paused = not offered and self.pauses is not None and upper is not None and upper >= self.pauses.limit_fps
        return GoalFound(
            goal=goal,
            lower=self.bound(lower),
            upper=self.bound(upper) if offered else None,
            not_offered_fps=None if offered else upper,
            conditional_fps=None if conditional is None else float(conditional),
            pauses=self.pauses if paused else None,
        )

    def at(self, load: float) -> list[TrialResult]:
        """All trials at a rate."""
        return [result for result in self.results if result.plan.load_fps == load]

    def bound(self, load: float | None) -> Bound | None:
        """All that was measured at a rate."""
        if load is None:
            return None
        mine = self.at(load)
        return Bound(
            load_fps=load,
            trials=len(mine),
            seconds=sum(result.plan.duration_s for result in mine),
            lossless_s=max((result.plan.duration_s for result in mine if result.lost == 0), default=0.0),
            sent=sum(result.sent for result in mine),
            lost=sum(result.lost for result in mine),
        )


def measure_throughput(
    trials: Trials,
    stream: Stream,
    settings: ThroughputSettings | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> Throughput:
    """Searches for the throughput.

    Raises `NotMeasured`.
    """
    settings = settings or ThroughputSettings()
    account, capabilities = Account(trials), trials.capabilities()
    highest = capabilities.max_fps(stream.size)
    shortest_s = min(goal.initial_trial_s for goal in settings.goals)
    lowest = max(highest * _LEAST_SHARE, _LEAST_FRAMES / shortest_s)
    if lowest >= highest:
        raise NotMeasured(
            f"{highest:g} frames/s are too few to search among: lengthen the goals' initial_trial_s in "
            "settings.throughput of the scenario"
        )
    verification = LossVerification(trials.run, settings.loss_verification)
    search = _Search(verification, stream)
    found = search.find(settings.goals, (lowest, highest), on_step)
    best, undisturbed_fps = found[0].lower, None
    if found[0].pauses is not None:
        undisturbed_fps = best.load_fps if best is not None else None
        lossless = found[:1] if not settings.goals[0].loss_ratio else []
        found = [*lossless, *_partial_drop(verification, stream, settings, found[0], (lowest, highest))]
        best = None if found[0].pauses is not None else found[0].lower
    elif best is not None and settings.confirmations:
        for number in range(settings.confirmations):
            on_step(f"confirmation {number + 1} of {settings.confirmations}")
            # Each loss counts here.
            with contextlib.suppress(NotOffered):
                plan = continuous(stream, best.load_fps, settings.goals[0].final_trial_s)
                search.results.append(trials.run(plan))
        best = search.bound(best.load_fps)
        found = [one.model_copy(update={"lower": search.bound(one.lower and one.lower.load_fps)}) for one in found]
    found = [_declined(one) if one.pauses is not None else one for one in found]
    line = capabilities.line_rate_fps(stream.size)
    findings = [
        *grade.of_every_result(capabilities, settings.survey, stream.size),
        *_findings(best, found[0].pauses),
        _fastest(found[0], highest, line),
        grade.at_maximum_rate(highest, line),
    ]
    return Throughput(
        stream=stream,
        **account.counts(),
        graded=grade.grade(findings),
        max_fps=highest,
        line_rate_fps=line,
        goals=found,
        throughput_fps=best.load_fps if best else None if found[0].pauses is not None else 0.0,
        undisturbed_fps=undisturbed_fps,
        loss_verification=verification.found,
    )


def _partial_drop(
    verification: LossVerification,
    stream: Stream,
    settings: ThroughputSettings,
    first: GoalFound,
    rates: tuple[float, float],
) -> list[GoalFound]:
    """The rates at which some loss is allowed, that of pauses too; without a figure where pauses alone may cost it."""
    # Short trials, in which few pauses are many, decide nothing.
    whole = {"initial_trial_s": first.goal.final_trial_s}
    goals = [goal for goal in settings.goals if goal.loss_ratio] or [
        first.goal.model_copy(update={**whole, "loss_ratio": ratio}) for ratio in _PARTIAL_DROP
    ]
    search, found = _Search(verification, stream, pauses_as_loss=True), []
    for one in search.find(goals, rates):
        share = share_in_pauses(search.at(one.upper.load_fps)) if one.upper is not None else 0.0
        found.append(one if share < one.goal.loss_ratio else one.model_copy(update={"pauses": first.pauses}))
    return found


def _declined(found: GoalFound) -> GoalFound:
    """The goal without its figures, which are the pauses'."""
    return found.model_copy(update={"lower": None, "upper": None, "not_offered_fps": None, "conditional_fps": None})


def _findings(lower: Bound | None, pauses: PauseBound | None) -> list[Finding]:
    if pauses is not None:
        return [NO_LOSS.found(False, str(pauses)), grade.FULL_LENGTH.found(False, "no rate is told")]
    if lower is None:
        return [
            NO_LOSS.found(False, "the lowest rate that was tried loses frames"),
            grade.FULL_LENGTH.found(False, "no trial was without loss"),
        ]
    lost = f"{lower.lost} of {lower.sent} frames lost in {lower.trials} trial{'s' if lower.trials != 1 else ''}"
    longest = f"the longest trial at that rate without loss took {lower.lossless_s:g} s"
    return [
        NO_LOSS.found(lower.lost == 0, lost),
        grade.FULL_LENGTH.found(lower.lossless_s >= grade.TRIAL_S, longest),
    ]


def _fastest(found: GoalFound, highest_fps: float, line_rate_fps: float | None) -> Finding:
    if found.upper is not None:
        return FASTEST.found(True, f"{found.upper.load_fps:.0f} frames/s lose some")
    if found.pauses is not None:
        return FASTEST.found(False, str(found.pauses))
    if found.not_offered_fps is not None:
        return FASTEST.found(False, f"the generator did not keep {found.not_offered_fps:.0f} frames/s")
    if is_line_rate(highest_fps, line_rate_fps):
        return FASTEST.found(True, "it is the medium's rate")
    return FASTEST.found(False, "it is the highest rate that the generator was asked for")
