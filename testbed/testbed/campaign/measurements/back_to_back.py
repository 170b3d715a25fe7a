# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Back-to-back frames (RFC 2544, section 26.4, updated by RFC 9004): the longest burst without loss.

Only where the throughput is below the medium's rate does a burst say anything: it fills the device's buffer by what
the device does not forward meanwhile. RFC 9004, section 6.4, makes a time of it: the burst's length at the medium's
rate, less the part that the device forwarded (throughput / rate).

That difference is small where the throughput is close to the medium's rate, and wrong where a device forwards less in a
burst than its throughput. So the time has bounds: by the bounds of the throughput, and by what the device forwarded of
the longest burst that lost frames. It is withheld if the bounds are far apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from pydantic import Field

from testbed.campaign import grade
from testbed.campaign.grade import Clause, Finding, Level
from testbed.campaign.measurements.loss_verification import (
    MOST_REPEATS,
    LossVerification,
    LossVerified,
    least_lossy,
)
from testbed.campaign.measurements.result import Account, Measured, Sample, Settings, burst
from testbed.campaign.sizes import is_mixture
from testbed.campaign.traffic_generator import NotCapable, Pauses
from testbed.campaign.trial import Stream
from testbed.campaign.validity import NothingToMeasure, Trials

SHORTEST_GAP = Clause(
    document="RFC 2544", section="26.4", level=Level.MUST, text="the frames have the medium's shortest gap"
)
TRIAL_LENGTH = Clause(
    document="RFC 2544", section="26.4", level=Level.MUST, text="a trial, with the wait for its frames, takes 2 s"
)
REPEATED = Clause(
    document="RFC 2544", section="26.4", level=Level.SHOULD, text="at least 50 repetitions, of which the average counts"
)
BELOW_LINE_RATE = Clause(
    document="RFC 9004", section="6.1", level=Level.MUST, text="only sizes with a throughput below the medium's rate"
)
EMPTIED = Clause(
    document="RFC 9004",
    section="6.2",
    level=Level.MUST,
    text="2 s pass when a burst has come back, more after bursts of more than 2 s",
)
BINARY_SEARCH = Clause(
    document="RFC 9004", section="6.2", level=Level.MUST, text="a binary search whose parameters are reported"
)
WITHIN_LIMIT = Clause(
    document="RFC 9004", section="6.2", level=Level.MUST, text="the result is not the search's upper limit"
)
SEARCHED_ANEW = Clause(
    document="RFC 9004", section="6.3", level=Level.MUST, text="each repetition is a search of its own"
)
CLAUSES = (
    SHORTEST_GAP,
    TRIAL_LENGTH,
    REPEATED,
    BELOW_LINE_RATE,
    EMPTIED,
    BINARY_SEARCH,
    WITHIN_LIMIT,
    SEARCHED_ANEW,
)

# Of the corrected time: with bounds further apart, in shares of it, it is withheld.
_MOST_SPAN = 0.25
# A burst with loss must be longer than the longest without by so many steps of the search, to show what the device
# forwards in it.
_LEAST_EXCESS_STEPS = 20
_LEAST_TRIAL_S = 2.0
_LEAST_IDLE_S = 2.0
_REPEATS = 50
# RFC 9004, section 6.1.
NOTHING_LOST = "the device loses nothing at the highest rate that is offered, so no burst fills its buffer"


class BackToBackSettings(Settings):
    """How the longest burst is searched for."""

    repeats: int = Field(_REPEATS, ge=1)
    # The longest burst, in seconds at the medium's rate: at first, and where that comes back whole, at most.
    limit_s: float = Field(2.0, gt=0, le=30)
    most_limit_s: float = Field(30.0, gt=0, le=30)
    # How far the bounds of the first search may be apart at the end; the others keep its step.
    relative_step: float = Field(0.005, gt=0, lt=1)
    # How often a burst that lost frames is repeated before it counts.
    loss_verification: int = Field(0, ge=0, le=MOST_REPEATS)


class BackToBack(Measured):
    """The longest bursts of one kind of frames, in each direction."""

    rate_fps: float = Field(description="of the bursts")
    step_frames: int
    limit_frames: int
    # False only in results of earlier versions, where nothing was searched for.
    below_line_rate: bool
    at_limit: bool = False
    # As above: None.
    frames: Sample | None = None
    implied_buffer_s: float | None = None
    corrected_buffer_s: float | None = Field(None, description="absent if the bounds are too far apart")
    corrected_buffer_bounds_s: tuple[float, float] | None = Field(
        None, description="by the throughput's bounds, and by what came back of the longest burst with loss"
    )
    served_fps: float | None = Field(
        None, description="forwarded behind the longest burst without loss, in a longer one; in each direction"
    )
    loss_verification: LossVerified | None = Field(None, description="absent if no burst was to be repeated")

    @property
    def headline(self) -> str:
        """The average and the buffer."""
        if self.frames is None:
            return NOTHING_LOST
        more = "at least " if self.at_limit else ""
        return f"{more}{self.frames.mean:.0f} frames, {self.buffer_in_words}"

    @property
    def buffer_in_words(self) -> str:
        """'buffer of 504.0 µs (501.2 to 506.9)', or that it is unknown, and between which bounds it lies."""
        bounds = [f"{1e6 * bound:.1f}" for bound in self.corrected_buffer_bounds_s or ()]
        if self.corrected_buffer_s is None:
            return "buffer unknown" + (f", between {' and '.join(bounds)} µs" if bounds else "")
        more = "at least " if self.at_limit else ""
        return f"buffer of {more}{1e6 * self.corrected_buffer_s:.1f} µs" + (
            f" ({' to '.join(bounds)})" if bounds else ""
        )


class _Bursts:
    """Bursts of one kind of frames."""

    def __init__(self, verification: LossVerification, stream: Stream, rate_fps: float, limit: int) -> None:
        self._verification = verification
        self._stream = stream
        self._rate = rate_fps
        self.limit = limit
        # The longest burst with loss: its frames, and those that came back, in each direction.
        self._longest_lossy = (0, 0.0)

    def passes(self, count: int) -> bool:
        """Whether a burst comes back whole, at last when it is repeated."""
        result = least_lossy(self._verification.run(burst(self._stream, self._rate, count)))
        if result.lost and count > self._longest_lossy[0]:
            self._longest_lossy = (count, result.received / result.plan.ways)
        return result.lost == 0

    def served_fps(self, longest: float, step: int) -> float | None:
        """What the device forwards in a burst once its buffer is full; None if no burst shows it.

        Of the frames behind the longest burst without loss, those that came back.
        """
        count, received = self._longest_lossy
        if count - longest < _LEAST_EXCESS_STEPS * step:
            return None
        return self._rate * max(0.0, received - longest) / (count - longest)

    def first(self, relative_step: float, most: int) -> tuple[int, int]:
        """The longest burst, and the step with which it was found.

        A limit that comes back whole is raised, up to the most that it may be. Halves the ratio of the bounds rather
        than their difference, as nothing is known of the burst's magnitude.
        """
        passed = 0
        while self.passes(self.limit):
            passed = self.limit
            if self.limit >= most:
                return self.limit, 1
            self.limit = min(2 * self.limit, most)
        failed = self.limit
        while failed - passed > max(1, int(relative_step * failed)):
            middle = round(math.sqrt(max(passed, 1) * failed))
            middle = min(max(middle, passed + 1), failed - 1)
            if self.passes(middle):
                passed = middle
            else:
                failed = middle
        return passed, failed - passed

    def again(self, start: int, step: int) -> int:
        """The longest burst, searched for two steps on either side of one that was found before.

        These bounds are assumed: one that the search comes to is tried too, and moved on, by twice as much each time,
        until it holds. So each repetition has a burst that passed and one that did not, both of its own.
        """
        assumed = max(0, start - 2 * step), min(self.limit + 1, start + 2 * step)
        low, high = self._halved(*assumed, step)
        reach = 2 * step
        if low == assumed[0]:
            while low > 0 and not self.passes(low):
                low, high, reach = max(0, low - reach), low, 2 * reach
        elif high == assumed[1]:
            while high <= self.limit and self.passes(high):
                low, high, reach = high, min(self.limit + 1, high + reach), 2 * reach
        return self._halved(low, high, step)[0]

    def _halved(self, low: int, high: int, step: int) -> tuple[int, int]:
        """Bounds no more than a step apart, if these are bounds."""
        while high - low > step:
            middle = low + max(1, (high - low) // (2 * step)) * step
            if self.passes(middle):
                low = middle
            else:
                high = middle
        return low, high


def measure_back_to_back(
    trials: Trials,
    stream: Stream,
    throughput_fps: float,
    settings: BackToBackSettings | None = None,
    on_step: Callable[[str], None] = lambda _: None,
    *,
    above_fps: float | None = None,
) -> BackToBack:
    """Searches for the longest burst, again and again.

    `above_fps` is the lowest rate that is known to be above the throughput.

    Raises `NotMeasured`, `NothingToMeasure`, `NotCapable`.
    """
    settings = settings or BackToBackSettings()
    account, capabilities = Account(trials), trials.capabilities()
    if not capabilities.burst:
        raise NotCapable(f"the generator '{capabilities.generator}' does not send bursts")
    if is_mixture(stream.size):
        raise NotCapable("a burst has frames of one size (RFC 9004, section 3), and no mixture")
    rate, line = capabilities.max_fps(stream.size), capabilities.line_rate_fps(stream.size)
    limit, most = (max(1, int(seconds * rate)) for seconds in (settings.limit_s, settings.most_limit_s))
    # The search for the throughput begins with the highest rate.
    if throughput_fps >= rate:
        raise NothingToMeasure(NOTHING_LOST)
    common = [
        *grade.of_every_result(capabilities, settings.survey, stream.size),
        SHORTEST_GAP.found(line is not None and rate >= line, f"{rate:.0f} frames/s"),
        BELOW_LINE_RATE.found(True, f"the throughput is {100 * throughput_fps / rate:.1f} % of it"),
    ]
    verification = LossVerification(trials.run, settings.loss_verification)
    bursts = _Bursts(verification, stream, rate, limit)
    on_step(f"the first search, up to {limit} frames")
    longest, step = bursts.first(settings.relative_step, most)
    at_limit = longest >= most
    # Then the throughput is a lower bound only, since the generator did not keep the highest rate when it was searched
    # for; or a trial at that rate lost frames by chance.
    if at_limit and (above_fps is None or above_fps >= rate):
        raise NothingToMeasure(NOTHING_LOST)
    found = [longest]
    # What the limit cut off is no result, however often it is repeated.
    while len(found) < settings.repeats and not at_limit:
        on_step(f"repetition {len(found) + 1} of {settings.repeats}")
        found.append(bursts.again(found[0], step))
    sample = Sample.of(found)
    served = bursts.served_fps(sample.mean, step)
    corrected, bounds = _corrected(sample, step, rate, (throughput_fps, above_fps, served), at_limit=at_limit)
    stored = sample.mean * (1 - throughput_fps / rate)
    trial_s = sample.least / rate + capabilities.pauses.residual_s
    findings = [
        *common,
        grade.at_least(TRIAL_LENGTH, trial_s, _LEAST_TRIAL_S, "s"),
        grade.at_least(REPEATED, len(found), _REPEATS, "repetitions"),
        _emptied(capabilities.pauses, stored / max(throughput_fps, 1.0), bursts.limit / rate),
        BINARY_SEARCH.found(True, f"by ratio from 1 to {bursts.limit} frames, in steps of {step} at the end"),
        WITHIN_LIMIT.found(not at_limit, f"the limit is {bursts.limit} frames"),
        SEARCHED_ANEW.found(True, "each from bounds around the first one's result, until both are tried"),
    ]
    return BackToBack(
        stream=stream,
        **account.counts(),
        graded=grade.grade(findings),
        rate_fps=rate,
        step_frames=step,
        limit_frames=bursts.limit,
        below_line_rate=True,
        at_limit=at_limit,
        frames=sample,
        implied_buffer_s=sample.mean / rate,
        corrected_buffer_s=corrected,
        corrected_buffer_bounds_s=bounds,
        served_fps=served,
        loss_verification=verification.found,
    )


def _corrected(
    frames: Sample,
    step: int,
    rate_fps: float,
    services_fps: tuple[float, float | None, float | None],
    *,
    at_limit: bool,
) -> tuple[float | None, tuple[float, float] | None]:
    """The time of RFC 9004, section 6.4, by the first of the services, and its bounds by all that are known.

    A burst at the search's limit gives a lower bound only. The time is None if the bounds are too far apart.
    """
    services = [service for service in services_fps if service is not None]
    low = frames.least / rate_fps * (1 - min(max(services) / rate_fps, 1.0))
    if at_limit:
        return low, None
    high = (frames.most + step) / rate_fps * (1 - min(services) / rate_fps)
    corrected = frames.mean / rate_fps * (1 - services[0] / rate_fps)
    return corrected if high - low <= _MOST_SPAN * corrected else None, (low, high)


def _emptied(pauses: Pauses, drain_s: float, longest_s: float) -> Finding:
    """Whether the device's buffers had the time to empty between bursts.

    A full buffer goes on forwarding for `drain_s` when the burst is over; the longest burst took `longest_s`.
    """
    idle_s = pauses.residual_s + pauses.settle_s - drain_s
    met = idle_s > _LEAST_IDLE_S if longest_s > _LEAST_IDLE_S else idle_s >= _LEAST_IDLE_S
    return EMPTIED.found(met, f"{max(idle_s, 0.0):.3g} s after bursts of up to {longest_s:.3g} s")
