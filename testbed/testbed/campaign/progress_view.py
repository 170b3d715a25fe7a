# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a campaign is doing right now: a live table on a terminal, a line a trial in a log."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from testbed.campaign.recorder import Watcher
from testbed.campaign.sizes import size_in_words
from testbed.campaign.summary import Finding
from testbed.campaign.trial import AnyPlan, AnyResult, ResetPlan, StepPlan, TrialPlan, TrialResult
from testbed.command_line.console import say

# The machine may have no core to spare for drawing.
_REFRESHES_PER_SECOND = 2


class Interval:
    """Between which loads a search is: seen from its trials, so that it holds for every search."""

    def __init__(self) -> None:
        # The highest load without loss, and the lowest with.
        self.low: float | None = None
        self.high: float | None = None

    def take(self, result: AnyResult) -> None:
        """Narrows the interval by a valid trial at a constant load."""
        if not isinstance(result, TrialResult) or not result.valid or result.plan.kind == "burst":
            return
        load = result.plan.load_fps
        if result.lost == 0:
            self.low = max(self.low or 0.0, load)
        else:
            self.high = min(self.high or load, load)

    def __str__(self) -> str:
        if self.low is None and self.high is None:
            return "–"
        low = "0" if self.low is None else mega(self.low)
        high = "?" if self.high is None else mega(self.high)
        note = "; noisy: loss below a load that lost nothing" if (self.low or 0) > (self.high or float("inf")) else ""
        return f"{low} to {high} Mpps{note}"


@dataclass(frozen=True)
class Progress:
    """What a campaign is doing at one moment."""

    planned: int
    # Measurements.
    done: int
    # All, those of them that are invalid, and those that were taken from the journal.
    trials: int
    invalid: int
    replayed: int
    left_s: float | None
    # The measurement, its search, and its trial that runs and the one before.
    place: str
    interval: Interval
    plan: AnyPlan | None
    last: AnyResult | None


class View(Watcher):
    """Shows the campaign; use it in a `with`."""

    def __init__(
        self, console: Console, planned: int, expected_s: float | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._console = console
        self._planned = planned
        self._expected_s = expected_s
        self._clock = clock
        self._begin = clock()
        self._done = 0
        # The expected time of what is done, by which what is left is corrected.
        self._done_expected_s = 0.0
        # What a resumed campaign took from the journal has cost no time.
        self._replayed_expected_s = 0.0
        self._place = ""
        # The measurements that run, in turns if there are several: what each is expected to take, and since when.
        self._running: dict[str, float] = {}
        self._running_begin = self._begin
        self._intervals: dict[str, Interval] = {}
        self._plan: AnyPlan | None = None
        self._plan_begin = self._begin
        self._last: AnyResult | None = None
        self._trials = self._invalid = self._replayed = 0
        self._real_trials: set[str] = set()
        self._live: Live | None = None

    def measurement_begins(self, place: str, expected_s: float) -> None:
        """The trials of another place follow."""
        self._place, self._last = place, None
        if not self._running:
            self._running_begin = self._clock()
        self._running[place], self._intervals[place] = expected_s, Interval()

    def longer(self, place: str, seconds: float) -> None:
        """What is measured there, now or later, takes so much longer than was expected."""
        if self._expected_s is not None:
            self._expected_s += seconds
        if place in self._running:
            self._running[place] += seconds

    def measurement_ended(self, finding: Finding) -> None:
        """It has found something, or not."""
        expected_s = self._running.pop(finding.place, 0.0)
        self._done += 1
        self._done_expected_s += expected_s
        if finding.place not in self._real_trials:
            self._replayed_expected_s += expected_s
        self._real_trials.discard(finding.place)
        text = finding.headline if finding.status == "done" else f"{finding.status}: {finding.reason}"
        say(self._console, f"{finding.place}: {text or 'done'}")

    def trial_begins(self, place: str, plan: AnyPlan) -> None:
        """A trial is about to be run."""
        self._place, self._plan, self._plan_begin = place, plan, self._clock()

    def trial_ended(self, place: str, result: AnyResult, replayed: bool) -> None:
        """A trial's result is known."""
        self._trials += 1
        self._invalid += not result.valid
        self._intervals.setdefault(place, Interval()).take(result)
        self._last, self._plan = result, None
        if replayed:
            self._replayed += 1
            return
        self._real_trials.add(place)
        if self._live is None:
            say(self._console, f"{place}: trial {self._trials}: {in_words(result.plan)}: {outcome(result)}")

    def alarm(self, place: str, text: str) -> None:
        """A device that is watched for hours has lost its first frames."""
        if self._console.is_terminal:
            self._console.bell()
        say(self._console, f"ALARM: {place}: {text}")

    def tell(self, text: str) -> None:
        """Something that the user should know."""
        say(self._console, text)

    def left_s(self) -> float | None:
        """How long it will still take: as planned, corrected by how what is done compares with its plan."""
        if self._expected_s is None:
            return None
        now = self._clock()
        run_expected_s = self._done_expected_s - self._replayed_expected_s
        pace = (self._running_begin - self._begin) / run_expected_s if run_expected_s > 0 else 1.0
        # A measurement that takes longer than expected does not shorten the later ones.
        running_s = sum(self._running.values())
        here_s = max(0.0, running_s * pace - (now - self._running_begin))
        later_s = max(0.0, self._expected_s - self._done_expected_s - running_s) * pace
        return here_s + later_s

    def progress(self) -> Progress:
        """What the table shows, for programs."""
        return Progress(
            planned=self._planned,
            done=self._done,
            trials=self._trials,
            invalid=self._invalid,
            replayed=self._replayed,
            left_s=self.left_s(),
            place=self._place,
            interval=self._intervals.get(self._place, Interval()),
            plan=self._plan,
            last=self._last,
        )

    def render(self) -> RenderableType:
        """The table of a terminal."""
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim")
        table.add_column(overflow="fold")
        table.add_row("measuring", Text(self._place or "…"))
        table.add_row("search between", str(self._intervals.get(self._place, Interval())))
        if self._plan is not None:
            running_s = self._clock() - self._plan_begin
            table.add_row("trial", Text(f"{self._trials + 1}: {in_words(self._plan)}; {running_s:.0f} s so far"))
        else:
            table.add_row("trial", "–")
        table.add_row("last trial", Text(outcome(self._last)) if self._last is not None else "–")
        replayed = f", {self._replayed} from the journal" if self._replayed else ""
        table.add_row("trials", f"{self._trials}, {self._invalid} invalid{replayed}")
        left_s = self.left_s()
        left = "unknown" if left_s is None else str(timedelta(seconds=round(left_s)))
        table.add_row("time", f"{timedelta(seconds=round(self._clock() - self._begin))}, left about {left}")
        bar = ProgressBar(total=max(1, self._planned), completed=self._done, width=40)
        return Group(table, Group(bar, Text(f"  {self._done} of {self._planned} measurements", style="dim")))

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live = Live(
                get_renderable=self.render,
                console=self._console,
                refresh_per_second=_REFRESHES_PER_SECOND,
                transient=True,
            )
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None


def mega(fps: float) -> str:
    """Million frames per second, with as many digits as searches resolve."""
    return f"{fps / 1e6:.4f}"


def in_words(plan: AnyPlan) -> str:
    """'64 bytes at 1.5000 Mpps for 60 s'."""
    ways = " each way" if plan.directions == 2 else ""
    if isinstance(plan, StepPlan):
        loads = ", then ".join(
            f"{mega(load)} Mpps for {seconds:g} s"
            for load, seconds in zip(plan.loads_fps, plan.durations_s, strict=True)
        )
        return f"{size_in_words(plan.size)} at {loads}{ways}"
    if isinstance(plan, ResetPlan):
        return f"{size_in_words(plan.size)} at {mega(plan.load_fps)} Mpps{ways}, reset of the {plan.kind}"
    if isinstance(plan, TrialPlan) and plan.burst_frames is not None:
        return f"burst of {plan.burst_frames} frames of {size_in_words(plan.size)} at {mega(plan.load_fps)} Mpps{ways}"
    return f"{size_in_words(plan.size)} at {mega(plan.load_fps)} Mpps{ways} for {plan.duration_s:g} s"


def outcome(result: AnyResult) -> str:
    """What came of a trial, in a line."""
    if not result.valid:
        return f"invalid: {'; '.join(result.reasons)}"
    sent, lost = result.sent, result.lost
    if isinstance(sent, list) or isinstance(lost, list):
        losses = ", then ".join(str(count) for count in result.lost)
        return f"lost {losses} of {sum(result.sent)}"
    if lost == 0:
        return f"nothing lost of {sent}"
    places = ""
    if isinstance(result, TrialResult) and result.lost_at:
        places = " (" + ", ".join(f"{place} {count}" for place, count in result.lost_at.items()) + ")"
    return f"lost {lost} of {sent}, {100 * lost / max(sent, 1):.4f} %{places}"
