# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A generator that records each result before it returns it, and replays the recorded results after a resumption.

The searches are deterministic given their results. So a resumed campaign runs them from their beginning; what the
journal has is handed out in its order, and the first trial that it has not is the first that is really run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from testbed.campaign.journal import Journal, JournalError
from testbed.campaign.loss_alarm import LossAlarm
from testbed.campaign.sizes import Size
from testbed.campaign.traffic_generator import Capabilities, Generator, Rejoining, Resting, Watchable
from testbed.campaign.trial import (
    AnyPlan,
    AnyResult,
    ResetPlan,
    ResetResult,
    StepPlan,
    StepResult,
    TrialPlan,
    TrialResult,
)
from testbed.campaign.validity import judged

R = TypeVar("R", TrialResult, StepResult, ResetResult)


class Watcher:
    """Is notified of each trial; does nothing."""

    def trial_begins(self, place: str, plan: AnyPlan) -> None:
        """A trial is about to be run."""

    def trial_ended(self, place: str, result: AnyResult, replayed: bool) -> None:
        """A trial's result is known."""

    def alarm(self, place: str, text: str) -> None:
        """A soak has lost its first frames."""


class RecordedSetup:
    """A test setup (RFC 2544, section 6): a generator and the device that it is joined to.

    It is started when first needed, and each of its trials is written to the journal.
    """

    def __init__(self, name: str, start: Callable[[], Generator], journal: Journal, watcher: Watcher) -> None:
        self.name = name
        self._start = start
        self._journal = journal
        self._watcher = watcher
        self._generator: Generator | None = None
        self._capabilities = journal.capabilities(name)
        # What all devices of a group can be offered, by frame size.
        self._limits: dict[Size, float] = {}
        self._resting = False
        # Passed to the generator at its start.
        self._replayed: list[AnyPlan] = []

    def capabilities(self) -> Capabilities:
        """Its capabilities when the campaign began: a resumed search must see the same limits."""
        if self._capabilities is None:
            found = self._running().capabilities()
            self._journal.join(self.name, found)
            self._capabilities = found
        return self._capabilities.model_copy(
            update={"max_fps_by_size": {**self._capabilities.max_fps_by_size, **self._limits}}
        )

    def limit(self, size: Size, most_fps: float) -> None:
        """From now on no more is offered at this size: so much can be offered to the other devices too."""
        self._limits[size] = most_fps

    def rest(self) -> None:
        """Keeps its device from the CPU until its next trial, if it runs and would use it."""
        if isinstance(self._generator, Resting) and not self._resting:
            self._generator.rest()
            self._resting = True

    def at(self, place: str) -> RecordedGenerator:
        """The generator for one place of the campaign."""
        return RecordedGenerator(self, place, self._journal.results(place))

    def measure(self, place: str, plan: AnyPlan, run: Callable[[Generator], R]) -> R:
        """Runs a trial and writes it down."""
        self._watcher.trial_begins(place, plan)
        generator, alarm = self._running(), None
        if isinstance(plan, TrialPlan) and plan.windows:
            alarm = LossAlarm(partial(self._alarmed, place), self._journal.results(place))
            if isinstance(generator, Watchable):
                generator.watch(alarm.second)
        result = judged(run(generator))
        self._journal.add(place, result)
        self._watcher.trial_ended(place, result, replayed=False)
        if alarm is not None and isinstance(result, TrialResult):
            alarm.ended(result)
        return result

    def replay(self, place: str, result: AnyResult) -> None:
        """Reports a trial that is in the journal."""
        if self._generator is None:
            self._replayed.append(result.plan)
        else:
            self._generator.replayed(result.plan)
        self._watcher.trial_ended(place, result, replayed=True)

    def close(self) -> None:
        """Ends generator and device. May be called again."""
        if self._generator is not None:
            generator, self._generator, self._resting = self._generator, None, False
            generator.close()

    def _alarmed(self, place: str, text: str) -> None:
        self._journal.alarm(place, text)
        self._watcher.alarm(place, text)

    def _running(self) -> Generator:
        if self._generator is None:
            self._generator = self._start()
            if self._capabilities is not None and isinstance(self._generator, Rejoining):
                self._generator.rejoin(self._capabilities)
            for plan in self._replayed:
                self._generator.replayed(plan)
            self._replayed.clear()
        if self._resting and isinstance(self._generator, Resting):
            self._generator.wake()
            self._resting = False
        return self._generator


class RecordedGenerator:
    """A `Generator` for one place of the campaign."""

    def __init__(self, setup: RecordedSetup, place: str, recorded: list[AnyResult]) -> None:
        self.place = place
        self._setup = setup
        self._recorded = recorded
        self._next = 0

    def capabilities(self) -> Capabilities:
        """Those of the setup."""
        return self._setup.capabilities()

    def run(self, plan: TrialPlan) -> TrialResult:
        """One trial."""
        return self._taken(plan, TrialResult) or self._setup.measure(self.place, plan, lambda real: real.run(plan))

    def step(self, plan: StepPlan) -> StepResult:
        """Loads one after the other."""
        return self._taken(plan, StepResult) or self._setup.measure(self.place, plan, lambda real: real.step(plan))

    def reset(self, plan: ResetPlan) -> ResetResult:
        """A reset of the device under load."""
        return self._taken(plan, ResetResult) or self._setup.measure(self.place, plan, lambda real: real.reset(plan))

    def replayed(self, plan: AnyPlan) -> None:
        """Only the recorder replays."""

    def close(self) -> None:
        """Whoever made the setup closes it."""

    def _taken(self, plan: AnyPlan, kind: type[R]) -> R | None:
        """The journal's result for this trial, if it has one."""
        if self._next >= len(self._recorded):
            return None
        result = self._recorded[self._next]
        if not isinstance(result, kind) or result.plan != plan:
            raise JournalError(
                f"trial {self._next + 1} of {self.place} was {_words(result.plan)}, and would now be {_words(plan)}: "
                "the tool or the scenario has changed since. Go on with those of then, or begin a new campaign"
            )
        self._next += 1
        self._setup.replay(self.place, result)
        return result


def _words(plan: AnyPlan) -> str:
    return plan.model_dump_json(exclude_defaults=True)
