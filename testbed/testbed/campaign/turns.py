# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Measurements of several devices in lock step: one trial of each in turn, so that all meet the same minutes of a
machine that others use too.

A search asks for a trial in the middle of its work, deep inside a library. So each measurement has a thread, which
stands still at each trial until it has its turn: of all threads one runs at a time, and the trials themselves are run
by the thread that called, which is the one that signals reach.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from testbed.campaign.traffic_generator import Capabilities, Generator
from testbed.campaign.trial import (
    AnyPlan,
    ResetPlan,
    ResetResult,
    StepPlan,
    StepResult,
    TrialPlan,
    TrialResult,
)

T = TypeVar("T")


class _AbandonedError(BaseException):
    """Nobody waits for this measurement any more. No measurement catches it."""


class _Asking:
    """The generator that a measurement sees: each trial waits for its turn."""

    def __init__(self, turns: _Stepwise[Any], generator: Generator) -> None:
        self._turns = turns
        self._generator = generator

    def capabilities(self) -> Capabilities:
        # No trial; `limit_group` has asked before, so that no device is started now.
        return self._generator.capabilities()

    def run(self, plan: TrialPlan) -> TrialResult:
        return self._turns.ask(lambda: self._generator.run(plan))

    def step(self, plan: StepPlan) -> StepResult:
        return self._turns.ask(lambda: self._generator.step(plan))

    def reset(self, plan: ResetPlan) -> ResetResult:
        return self._turns.ask(lambda: self._generator.reset(plan))

    def replayed(self, plan: AnyPlan) -> None:
        self._generator.replayed(plan)

    def close(self) -> None:
        """Whoever made the generator closes it."""


# Between two tries to end a thread.
_AGAIN_S = 0.2


class _Stepwise(Generic[T]):
    """A measurement that goes on to its next trial when it is told to."""

    def __init__(self, measure: Callable[[Generator], T], generator: Generator) -> None:
        self.found: list[T] = []
        self._measure = measure
        self._asking = _Asking(self, generator)
        self._wanted: Callable[[], Any] | None = None
        self._answer: Any = None
        self._error: BaseException | None = None
        self._abandoned = False
        # Whose turn it is.
        self._its, self._callers = threading.Semaphore(0), threading.Semaphore(0)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def goes_on(self) -> bool:
        """Runs the trial that it waits for, and lets it go on to the next one; False when it has ended.

        Raises what the measurement raises.
        """
        self._answers()
        if self._wanted is not None:
            return True
        self._thread.join()
        if self._error is not None:
            raise self._error
        return False

    def _answers(self) -> None:
        """Runs what it waits for, if it does, and waits until it asks again or has ended."""
        wanted, self._wanted, self._answer, self._error = self._wanted, None, None, None
        if wanted is not None:
            try:
                self._answer = wanted()
            except Exception as error:
                # Whether that ends it is the measurement's to say.
                self._error = error
        self._its.release()
        self._callers.acquire()

    def ask(self, wanted: Callable[[], Any]) -> Any:
        """In its thread: what comes of `wanted`, which the caller's thread runs when its turn comes."""
        self._wanted = wanted
        self._callers.release()
        self._its.acquire()
        if self._abandoned:
            raise _AbandonedError
        if self._error is not None:
            raise self._error
        return self._answer

    def abandon(self) -> None:
        """Ends it where it is, if it has not ended. May be called again."""
        self._abandoned = True
        # An interrupt within an earlier release may have left a waiter in the semaphore that is gone already. Then one
        # release wakes nobody, and the next one does.
        while self._thread.is_alive():
            self._its.release()
            self._thread.join(_AGAIN_S)

    def _run(self) -> None:
        self._its.acquire()
        try:
            if not self._abandoned:
                self.found.append(self._measure(self._asking))
            self._error = None
        except _AbandonedError:
            pass
        except BaseException as error:
            self._error = error
        finally:
            self._wanted = None
            self._callers.release()


def in_turns(
    measures: Sequence[Callable[[Generator], T]],
    generators: Sequence[Generator],
    turn_ends: Callable[[int], None] = lambda number: None,
) -> list[T]:
    """What each measurement finds with its generator: a trial of the first, one of the second, …, the first again.

    `turn_ends` is told which of them has had its turn. Raises what a measurement raises; the others are abandoned.
    """
    if len(measures) == 1:
        return [measures[0](generators[0])]
    with contextlib.ExitStack() as cleanup:
        players = []
        for measure, generator in zip(measures, generators, strict=True):
            players.append(_Stepwise(measure, generator))
            cleanup.callback(players[-1].abandon)
        playing = list(enumerate(players))
        while playing:
            for number, player in list(playing):
                if not player.goes_on():
                    playing.remove((number, player))
                turn_ends(number)
        return [player.found[0] for player in players]
