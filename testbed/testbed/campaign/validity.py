# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""When a trial counts: the generator did what was intended, and every frame is accounted for.

Otherwise the trial is invalid, with the reasons; it is repeated, a bounded number of times, and never
counted as loss. RFC 2544 asks for it in section 10 (only test frames count) and leaves the rest to common sense.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import Field

from testbed.campaign.sizes import size_in_words
from testbed.campaign.traffic_generator import Capabilities, Generator
from testbed.campaign.trial import (
    AnyPlan,
    AnyResult,
    Place,
    Record,
    ResetPlan,
    ResetResult,
    StepPlan,
    StepResult,
    TrialPlan,
    TrialResult,
)

# Where `raw` has the account of what came back, the counts of it that no valid trial has. Frames in another order than
# they were sent are reported, but are no fault of the trial.
CHECKS = "checks"
# RFC 2544, section 10, disregards frames that are not those of the test; they are counted.
FOREIGN = "foreign"
_FAULTS = {
    "duplicated": "frames came back more than once",
    "corrupted": "frames came back changed",
    "wrong_mac": "frames came back with wrong MAC addresses",
    "wrong_length": "frames came back longer or shorter",
    "queue_full": "times the generator's queue was full",
    "links_down": "links were down",
}
# Times the attempts of the rules.
_MOST_ATTEMPTS = 3
# Of a trial's time.
_MOST_LAG = 0.1
# A loss at these places says nothing about the device.
NOT_THE_DEVICE = frozenset({Place.GENERATOR, Place.RECEIVER})

R = TypeVar("R", TrialResult, StepResult, ResetResult)


class NotMeasured(Exception):  # noqa: N818 (it is no fault of the tool)
    """A measurement has no result; the message gives the reason."""


class NothingToMeasure(NotMeasured):
    """The device gives no occasion for the measurement, which is skipped."""


class NotOffered(NotMeasured):
    """The generator kept this load in no attempt. It may keep a lower one."""


class Disturbed(NotOffered):
    """In attempts the machine paused for longer than the queues hold frames at this load. A lower one may do."""

    def __init__(self, message: str, tried: list[TrialResult], pauses_s: list[float], ring_frames: int) -> None:
        super().__init__(message)
        self.tried = tried
        # Of the attempts with such a pause, and what a queue holds.
        self.pauses_s = pauses_s
        self.ring_frames = ring_frames


class Rules(Record):
    """How exactly a generator must keep to its plan."""

    # Shares. A continuous load may be off by so much, a burst is sent whole.
    rate_tolerance: float = Field(0.005, gt=0, lt=1)
    count_tolerance: float = Field(0.005, gt=0, lt=1)
    duration_tolerance: float = Field(0.02, gt=0, lt=1)
    # After a pause the generator sends at up to twice the rate. If more frames are due at once than a queue holds
    # (where that is not known: the descriptors of a NIC by default), the device may lose some for no fault of its own.
    most_due: int = Field(1024, ge=1)
    # Frames that were not sent, as a share of those that were: with more, the others may have lost their marks.
    foreign_tolerance: float = Field(0.001, ge=0, lt=1)
    # How often a trial is tried before the measurement is given up. What earlier trials of it have not needed is added,
    # up to three times as many in all: a busy machine spoils some trials often, a fault spoils all.
    attempts: int = Field(6, ge=1, le=20)
    # Whose loss is not the device's.
    not_the_device: frozenset[Place] = NOT_THE_DEVICE


def judged(result: R, rules: Rules | None = None) -> R:
    """The result, marked as invalid with all reasons if it does not count. Judging it twice changes nothing."""
    rules = rules or Rules()
    if isinstance(result, TrialResult):
        found = [*_load_reasons(result, rules), *_balance_reasons(result, rules)]
    elif isinstance(result, StepResult):
        found = _step_reasons(result, rules)
    else:
        found = _reset_reasons(result)
    if not _tolerates_pauses(result):
        found += [*_gap_reasons(result), *_pacing_reasons(result, rules)]
    found += _check_reasons(result, rules)
    return result.invalidated([reason for reason in found if reason not in result.reasons])


def _load_reasons(result: TrialResult, rules: Rules) -> list[str]:
    """Whether the generator sent what was intended."""
    plan, found = result.plan, []
    if result.sent == 0:
        return ["the generator sent nothing"]
    burst = plan.kind == "burst"
    allowed = 0 if burst else max(len(plan.shares), round(rules.count_tolerance * plan.intended_frames))
    if abs(result.sent - plan.intended_frames) > allowed:
        found.append(f"wrong number of frames: {result.sent} were sent instead of {plan.intended_frames}")
    if abs(result.offered_fps - plan.load_fps) > rules.rate_tolerance * plan.load_fps:
        found.append(f"wrong load: {result.offered_fps:.0f} frames/s were offered instead of {plan.load_fps:.0f}")
    if not burst and abs(result.duration_s - plan.duration_s) > rules.duration_tolerance * plan.duration_s:
        found.append(f"wrong duration: {result.duration_s:.3f} s instead of {plan.duration_s:g} s")
    return found


def _balance_reasons(result: TrialResult, rules: Rules) -> list[str]:
    """Whether sent = received + lost, at places that have names."""
    if result.received > result.sent:
        return [f"surplus frames: {result.received} came back of {result.sent} that were sent"]
    found = []
    if result.lost != result.sent - result.received:
        found.append(
            f"accounts that disagree: {result.lost} frames lost, but {result.sent - result.received} did not come back"
        )
    found += [f"surplus frames: {-count} at '{place}'" for place, count in result.lost_at.items() if count < 0]
    named = sum(result.lost_at.values())
    if named != result.lost:
        found.append(f"accounts that disagree: {result.lost} frames lost, of them {named} at named places")
    found += [
        f"loss that is not the device's: {count} frames at '{place}'"
        for place, count in result.lost_at.items()
        if count > 0 and place in rules.not_the_device and not (_tolerates_pauses(result) and place is Place.RECEIVER)
    ]
    return found


def _tolerates_pauses(result: AnyResult) -> bool:
    """Whether what the machine's pauses cost counts as loss: also what came back while the generator paused."""
    return isinstance(result.plan, TrialPlan) and result.plan.pauses_as_loss


def _step_reasons(result: StepResult, rules: Rules) -> list[str]:
    plan, found = result.plan, []
    if len(result.sent) != len(plan.loads_fps) or len(result.lost) != len(plan.loads_fps):
        return [f"accounts that disagree: {len(plan.loads_fps)} loads, but {len(result.sent)} counts"]
    steps = zip(plan.loads_fps, plan.durations_s, result.sent, result.lost, strict=True)
    for number, (load, seconds, sent, lost) in enumerate(steps, start=1):
        intended = sum(round(load * seconds * share) for share in plan.shares)
        if abs(sent - intended) > max(len(plan.shares), rules.count_tolerance * intended):
            found.append(f"wrong number of frames: {sent} were sent instead of {intended} at load {number}")
        if not 0 <= lost <= sent:
            found.append(f"accounts that disagree: {lost} of {sent} frames lost at load {number}")
    if result.last_loss_s is not None and not 0 <= result.last_loss_s <= plan.durations_s[-1]:
        found.append(f"a last loss that was not in the trial: after {result.last_loss_s:g} s")
    return found


def _reset_reasons(result: ResetResult) -> list[str]:
    if result.sent == 0:
        return ["the generator sent nothing"]
    if result.lost < 0:
        return [f"surplus frames: {-result.lost} more came back than were sent"]
    if result.lost > result.sent:
        return [f"accounts that disagree: {result.lost} of {result.sent} frames lost"]
    if result.gap_s is None:
        return ["no frame came back after the reset"]
    return []


def _pacing_reasons(result: AnyResult, rules: Rules) -> list[str]:
    """Whether the generator was so late that the device had to take more than was asked for, whatever it lost.

    Of a reset, its gaps tell that.
    """
    plan, pacing = result.plan, result.pacing
    if pacing.worst_lag_s is None or isinstance(plan, ResetPlan):
        return []
    due, most_due = _frames_in(plan, pacing.worst_lag_s), result.ring_frames or rules.most_due
    if due <= most_due:
        return []
    return [
        f"the generator was {1000 * pacing.worst_lag_s:.3g} ms late, and sent {pacing.caught_up or 0} frames at up to "
        f"twice the rate to catch up: {due} were due at once, more than the {most_due} that a queue holds"
    ]


def _gap_reasons(result: AnyResult) -> list[str]:
    """Whether the machine took a program away for longer than the queues hold frames, whatever was lost.

    Else those trials would count that happen to lose nothing, and those would be repeated that lose frames.
    """
    room, found = result.ring_frames, []
    for who, pause_s in _machine_pauses_s(result, room).items():
        came = _frames_in(result.plan, pause_s)
        if room is not None and came > room:
            found.append(
                f"disturbed: the {who} paused for {1000 * pause_s:.3g} ms, in which {came} frames were due, "
                f"more than the {room} that a queue holds"
            )
    return found


def _machine_pauses_s(result: AnyResult, room: int | None) -> dict[str, float]:
    """The longest gap of each program, but for one of the device that is its own."""
    told = {"generator": result.generator_gaps, "device": result.device_gaps}
    found = {who: gaps.longest_s for who, gaps in told.items() if gaps is not None}
    if own_stall(result, room):
        del found["device"]
    return found


def own_stall(result: AnyResult, room: int | None) -> bool:
    """Whether the device's longest gap is its own: without the time that others had its CPU, more frames were due in it
    than a queue holds. What it lost then counts."""
    gaps, taken_s = result.device_gaps, result.device_taken_s
    if gaps is None or taken_s is None or room is None:
        return False
    return _frames_in(result.plan, max(0.0, gaps.longest_s - taken_s)) > room


def _pause_s(result: AnyResult, rules: Rules) -> float | None:
    """The longest pause in which more frames were due than a queue holds; None if there was none."""
    if isinstance(result.plan, ResetPlan):
        return None
    room = result.ring_frames or rules.most_due
    lag_s = result.pacing.worst_lag_s or 0.0
    # Later than that is no pause: the generator is too slow.
    pauses_s = _machine_pauses_s(result, room).values()
    longest_s = max([*pauses_s, lag_s if lag_s < _MOST_LAG * _seconds(result.plan) else 0.0])
    return longest_s if _frames_in(result.plan, longest_s) > room else None


def _seconds(plan: TrialPlan | StepPlan) -> float:
    return plan.duration_s if isinstance(plan, TrialPlan) else sum(plan.durations_s)


def _frames_in(plan: AnyPlan, seconds: float) -> int:
    """How many frames are due in each direction in this time, at the highest load."""
    if isinstance(plan, StepPlan):
        return round(seconds * max(plan.loads_fps))
    due = round(seconds * plan.load_fps)
    return min(due, plan.burst_frames) if isinstance(plan, TrialPlan) and plan.burst_frames is not None else due


def _generator_failed(result: AnyResult, rules: Rules) -> bool:
    """Whether an invalid trial did not offer its load, or did not fetch what came back."""
    if not isinstance(result, TrialResult) or result.sent == 0:
        return False
    elsewhere = any(count > 0 for place, count in result.lost_at.items() if place in rules.not_the_device)
    return bool(_load_reasons(result, rules) or _pacing_reasons(result, rules) or _gap_reasons(result)) or elsewhere


def _check_reasons(result: AnyResult, rules: Rules) -> list[str]:
    found = [f"{what}: {count}" for name, what in _FAULTS.items() if (count := checked(result, name))]
    sent = result.sent if isinstance(result.sent, int) else sum(result.sent)
    if (foreign := checked(result, FOREIGN)) > rules.foreign_tolerance * sent:
        found.insert(0, f"frames came back that were not sent: {foreign}")
    return found


def checked(result: AnyResult, name: str) -> Any:
    """What a trial's checks counted under this name; 0 if they do not have it."""
    checks = result.raw.get(CHECKS)
    return (checks.get(name) or 0) if isinstance(checks, Mapping) else 0


def without_foreign(places: Mapping[Place, int], foreign: int) -> dict[Place, int]:
    """Places of loss by counters that have counted `foreign` frames too: those that the device received or sent."""
    found = dict(places)
    received = min(foreign, max(0, -found.get(Place.WIRE, 0)))
    sent = min(foreign, max(0, found.get(Place.RECEIVER, 0)))
    found[Place.WIRE] = found.get(Place.WIRE, 0) + received
    found[Place.RECEIVER] = found.get(Place.RECEIVER, 0) - sent
    return found


def on_a_virtual_wire(places: Mapping[Place, int]) -> dict[Place, int]:
    """Places of loss where the generator empties the queue that the device fills: what this one refuses is lost at the
    receiver. A surplus there stays one.
    """
    found = dict(places)
    if found.get(Place.RECEIVER, 0) >= 0:
        found[Place.RECEIVER] = found.get(Place.RECEIVER, 0) + found.pop(Place.TX_QUEUE, 0)
    return found


class Trials:
    """Runs trials until they count, and keeps account of them."""

    def __init__(
        self,
        generator: Generator,
        rules: Rules | None = None,
        on_invalid: Callable[[AnyResult], None] = lambda _: None,
    ) -> None:
        self._generator = generator
        self._rules = rules or Rules()
        self._on_invalid = on_invalid
        self.valid = 0
        self.invalid = 0
        # Attempts that the trials so far have not needed.
        self._spare = 0

    def capabilities(self) -> Capabilities:
        """The generator's."""
        return self._generator.capabilities()

    def run(self, plan: TrialPlan) -> TrialResult:
        """A valid trial.

        Raises `NotMeasured` if none of some attempts was valid.
        """
        return self._until_valid(plan, self._generator.run)

    def step(self, plan: StepPlan) -> StepResult:
        """A valid change of load.

        Raises `NotMeasured`.
        """
        return self._until_valid(plan, self._generator.step)

    def reset(self, plan: ResetPlan) -> ResetResult:
        """A valid reset.

        Raises `NotMeasured`.
        """
        return self._until_valid(plan, self._generator.reset)

    def _until_valid(self, plan: AnyPlan, attempt: Callable[[Any], R]) -> R:
        own = self._rules.attempts
        attempts = own + min(self._spare, (_MOST_ATTEMPTS - 1) * own)
        tried = []
        for number in range(1, attempts + 1):
            result = judged(attempt(plan), self._rules)
            if result.valid:
                self.valid += 1
                self._spare += own - number
                return result
            tried.append(result)
            self.invalid += 1
            self._on_invalid(result)
        # Where an attempt failed for another reason, another load would too.
        by_generator = all(_generator_failed(result, self._rules) for result in tried)
        message = (
            f"{attempts} trials of {size_in_words(plan.size)} at {_load(plan)} were invalid, the last one "
            "for: " + "; ".join(result.reasons)
        )
        pauses_s = [pause for one in tried if (pause := _pause_s(one, self._rules)) is not None]
        trials = [one for one in tried if isinstance(one, TrialResult)]
        if by_generator and trials and 2 * len(pauses_s) > len(tried):
            raise Disturbed(message, trials, pauses_s, result.ring_frames or self._rules.most_due)
        raise (NotOffered if by_generator else NotMeasured)(message)


def _load(plan: AnyPlan) -> str:
    loads = plan.loads_fps if isinstance(plan, StepPlan) else (plan.load_fps,)
    return ", then ".join(f"{load:,.0f} frames/s" for load in loads)
