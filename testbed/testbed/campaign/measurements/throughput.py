# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Throughput (RFC 2544, section 26.1): the highest rate at which as many frames come back as were sent.

The RFC prescribes no search. This one is MLRsearch (RFC 9971, by FD.io's own library), which finds the bounds for one
or several goals in trials whose length grows as the bounds come closer. With a goal of no loss in one trial of 60 s its
result is RFC 2544's (RFC 9971, section 4.10.2).
"""

from __future__ import annotations

from collections.abc import Callable

from MLRsearch import AbstractMeasurer, Config, MeasurementResult, MultipleLossRatioSearch, SearchGoal
from pydantic import Field

from testbed.campaign import grade
from testbed.campaign.grade import Clause, Finding, Level
from testbed.campaign.measurements.result import Account, Measured, Settings, continuous, is_line_rate
from testbed.campaign.sizes import WIRE_OVERHEAD_BYTES, mean_bytes
from testbed.campaign.trial import Record, Stream, TrialResult
from testbed.campaign.validity import NotMeasured, NotOffered, Trials

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
# How much a generator may send too little since its clock is slow: as much as Ethernet allows (IEEE 802.3: 100 ppm).
_CLOCK = 1e-4


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


class Throughput(Measured):
    """The throughput of one kind of frames."""

    max_fps: float = Field(description="the highest rate that was tried")
    line_rate_fps: float | None
    goals: list[GoalFound]
    # The lower bound of the first goal, in each direction; 0 if even the lowest rate loses too much.
    throughput_fps: float
    at_rate: AtRate | None = Field(None, description="all valid trials at this rate, also those of other measurements")

    @property
    def above_fps(self) -> float | None:
        """The lowest rate that loses more than the first goal allows; None if no such rate was found."""
        upper = self.goals[0].upper
        return None if upper is None else upper.load_fps

    @property
    def throughput_bps(self) -> float:
        """Bits of frames a second in each direction, without preamble and gap."""
        return self.throughput_fps * 8 * mean_bytes(self.stream.size)

    @property
    def wire_bps(self) -> float:
        """Bits a second on the wire in each direction, with preamble and gap."""
        return self.throughput_fps * 8 * (mean_bytes(self.stream.size) + WIRE_OVERHEAD_BYTES)

    @property
    def at_max(self) -> bool:
        """Whether it is the highest rate that could be tried."""
        return self.throughput_fps >= self.max_fps or self.goals[0].not_offered_fps is not None

    @property
    def generator_was_limit(self) -> bool:
        """Whether the device may be faster: nothing but the generator kept the rate from being higher."""
        return self.at_max and not is_line_rate(self.throughput_fps, self.line_rate_fps)

    @property
    def headline(self) -> str:
        """The rate."""
        kept = self.goals[0].not_offered_fps is None
        doubts = ["the highest that was tried" if kept else "the generator kept no higher one"] if self.at_max else []
        if self.at_rate is not None and self.at_rate.lossy:
            doubts.append(f"{self.at_rate.lossy} of {self.at_rate.trials} trials at this rate lost frames")
        return f"{self.throughput_fps / 1e6:.4f} Mpps" + (f" ({', '.join(doubts)})" if doubts else "")


class _Search(AbstractMeasurer):
    """Trials for MLRsearch."""

    def __init__(self, trials: Trials, stream: Stream) -> None:
        self._trials = trials
        self._stream = stream
        self.results: list[TrialResult] = []
        # Rates that the generator did not keep, and why.
        self.not_offered: dict[float, NotOffered] = {}

    def measure(self, intended_duration: float, intended_load: float) -> MeasurementResult:
        """A trial. What was not sent counts as loss, unless it is no more than a clock may be slow: a rate that was not
        offered is not proven. A trial that lacks many frames is invalid, and never comes here.

        The duration is the intended one, since seconds that a trial took too short would be made up for by another
        whole trial.
        """
        if self.not_offered and intended_load >= min(self.not_offered):
            return self._not_offered(intended_duration, intended_load)
        try:
            result = self._trials.run(continuous(self._stream, intended_load, intended_duration))
        except NotOffered as error:
            self.not_offered[intended_load] = error
            if not self.results and len(self.not_offered) >= _MOST_NOT_OFFERED:
                raise
            return self._not_offered(intended_duration, intended_load)
        self.results.append(result)
        intended = result.plan.intended_frames
        unsent = intended - result.sent
        return MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=result.sent,
            loss_count=result.lost,
            intended_count=intended if unsent > max(self._stream.directions, _CLOCK * intended) else result.sent,
        )

    @staticmethod
    def _not_offered(intended_duration: float, intended_load: float) -> MeasurementResult:
        """So much loss that the search goes on at half the rate."""
        frames = max(2, round(intended_duration * intended_load))
        return MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=frames,
            loss_count=(frames + 1) // 2,
        )

    def bound(self, load: float | None) -> Bound | None:
        """All that was measured at a rate."""
        if load is None:
            return None
        mine = [result for result in self.results if result.plan.load_fps == load]
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
    config = Config()
    # In this order, since each is checked against what the other has now.
    config.max_load = max(highest, config.max_load)
    config.min_load = lowest
    config.max_load = highest
    config.goals = [goal.as_search_goal() for goal in settings.goals]
    config.search_duration_max = _NEVER_S
    config.warmup_duration = None
    search = _Search(trials, stream)
    try:
        outcome = MultipleLossRatioSearch(config=config).search(measurer=search, debug=on_step)
    except RuntimeError as error:
        raise NotMeasured(f"MLRsearch came to no result: {error}") from error
    best_fps = outcome[settings.goals[0].as_search_goal()].relevant_lower_bound
    if best_fps is None and not search.results:
        raise next(iter(search.not_offered.values()))
    for number in range(settings.confirmations if best_fps is not None else 0):
        on_step(f"confirmation {number + 1} of {settings.confirmations}")
        search.measure(settings.goals[0].final_trial_s, float(best_fps))
    found = []
    for goal in settings.goals:
        result = outcome[goal.as_search_goal()]
        lower, upper = (
            None if bound is None else float(bound)
            for bound in (result.relevant_lower_bound, result.relevant_upper_bound)
        )
        conditional = result.conditional_throughput
        offered = upper is None or upper not in search.not_offered
        found.append(
            GoalFound(
                goal=goal,
                lower=search.bound(lower),
                upper=search.bound(upper) if offered else None,
                not_offered_fps=None if offered else upper,
                conditional_fps=None if conditional is None else float(conditional),
            )
        )
    best, line = found[0].lower, capabilities.line_rate_fps(stream.size)
    findings = [
        *grade.of_every_result(capabilities, settings.survey, stream.size),
        *_findings(best),
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
        throughput_fps=best.load_fps if best else 0.0,
    )


def _findings(lower: Bound | None) -> list[Finding]:
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
    if found.not_offered_fps is not None:
        return FASTEST.found(False, f"the generator did not keep {found.not_offered_fps:.0f} frames/s")
    if is_line_rate(highest_fps, line_rate_fps):
        return FASTEST.found(True, "it is the medium's rate")
    return FASTEST.found(False, "it is the highest rate that the generator was asked for")
