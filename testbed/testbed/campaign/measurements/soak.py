# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Soak: hours at a share of the throughput, trial after trial, to see whether the device stays what it was.

No RFC describes it. Within a trial the generator says every second what came back (`Window`), and the first loss is an
alarm at once. A drift is a monotone trend (Kendall's test) of at least some size over the whole time (Theil-Sen), so
that neither single trials nor trends too small to matter count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from pydantic import Field

from testbed.campaign import grade
from testbed.campaign.measurements.result import Account, Measured, Settings, check_rate, continuous
from testbed.campaign.traffic_generator import Capabilities
from testbed.campaign.trial import Record, Stream, TrialResult
from testbed.campaign.validity import Trials

# Fewer trials than this have no trend.
_LEAST_TRIALS = 6
_MOST_P = 0.01


class SoakSettings(Settings):
    """How long and how hard."""

    hours: float = Field(4.0, gt=0)
    trial_s: float = Field(300.0, gt=0)
    share: float = Field(0.9, gt=0, le=1)
    # A change over the whole time that matters, relative to the first figures.
    relevant_change: float = Field(0.01, gt=0)
    latency: bool = True


class Slice(Record):
    """A trial of the soak."""

    # Seconds of traffic before it.
    begin_s: float
    sent: int
    lost: int
    forwarded_fps: float
    latency_avg_ns: float | None
    latency_p99_9_ns: float | None
    windows: int = Field(0, description="seconds of which the generator said what came back")
    lossy_windows: int = Field(0, description="of these, those in which frames were lost")
    least_fps: float | None = Field(None, description="what came back in the slowest of these seconds")


class Trend(Record):
    """How a figure went."""

    figure: str
    # Of the line through the trials, from the first to the last.
    first: float
    last: float
    # (last - first) / first; None if the first figure is zero.
    change: float | None
    p: float
    drifts: bool


class Soak(Measured):
    """A soak with one kind of frames."""

    load_fps: float
    seconds: float
    planned_s: float | None = Field(None, description="how long it was to be")
    cut_off: str | None = Field(None, description="why it was shorter")
    first_loss_s: float | None = Field(
        None, description="seconds of traffic until the first loss was known: to one, or else to a trial"
    )
    slices: list[Slice]
    lost: int
    # The longest time without loss, in whole trials.
    lossless_s: float
    # None if there are too few trials.
    trends: list[Trend] | None

    @property
    def drifts(self) -> bool:
        """Whether any figure does."""
        return any(trend.drifts for trend in self.trends or [])

    @property
    def headline(self) -> str:
        """Loss and drift."""
        sent = sum(part.sent for part in self.slices)
        lossy, windows = sum(part.lossy_windows for part in self.slices), sum(part.windows for part in self.slices)
        where = f", in {lossy:,} of {windows:,} seconds" if lossy else ""
        first = "" if self.first_loss_s is None else f", the first within {in_words(self.first_loss_s)}"
        drift = "too short for a trend" if self.trends is None else "drifts" if self.drifts else "no drift"
        cut_off = (
            f"; cut off before {in_words(self.planned_s)}: {self.cut_off}" if self.planned_s and self.cut_off else ""
        )
        return f"{self.lost:,} of {sent:,} frames lost in {in_words(self.seconds)}{where}{first}, {drift}{cut_off}"


def in_words(seconds: float) -> str:
    """'4 h', or '5 min' of less than two hours, or '7 s' of less than two minutes."""
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 3600:.4g} h" if seconds >= 7200 else f"{seconds / 60:.3g} min"


def measure_soak(
    trials: Trials,
    stream: Stream,
    throughput_fps: float,
    settings: SoakSettings | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> Soak:
    """Runs trials for hours.

    Raises `NotMeasured`.
    """
    settings = settings or SoakSettings()
    account, capabilities = Account(trials), trials.capabilities()
    check_rate(throughput_fps, "a share of which the soak needs")
    load = settings.share * throughput_fps
    latency = settings.latency and capabilities.latency
    plan = continuous(stream, load, settings.trial_s, latency=latency, windows=True)
    count = trial_count(settings)
    results = []
    for number in range(count):
        on_step(f"trial {number + 1} of {count}")
        results.append(trials.run(plan))
    return soak_of(results, settings, capabilities, account.counts())


def soak_of(
    results: Sequence[TrialResult],
    settings: SoakSettings,
    capabilities: Capabilities,
    counts: Mapping[str, int],
    cut_off: str | None = None,
) -> Soak:
    """What valid trials of a soak amount to: all of them, or those until it was cut off."""
    plan = results[0].plan
    stream = Stream(**plan.frames)
    slices = [_slice(result, number * settings.trial_s) for number, result in enumerate(results)]
    return Soak(
        stream=stream,
        **counts,
        graded=grade.grade(grade.of_every_result(capabilities, settings.survey, stream.size)),
        load_fps=plan.load_fps,
        seconds=len(slices) * settings.trial_s,
        planned_s=trial_count(settings) * settings.trial_s,
        cut_off=cut_off,
        first_loss_s=next(
            (part.begin_s + _loss_s(result) for part, result in zip(slices, results, strict=True) if result.lost), None
        ),
        slices=slices,
        lost=sum(part.lost for part in slices),
        lossless_s=_longest_run([part.lost == 0 for part in slices]) * settings.trial_s,
        trends=_trends(slices, settings.relevant_change) if len(slices) >= _LEAST_TRIALS else None,
    )


def _slice(result: TrialResult, begin_s: float) -> Slice:
    return Slice(
        begin_s=begin_s,
        sent=result.sent,
        lost=result.lost,
        forwarded_fps=result.forwarded_fps,
        latency_avg_ns=result.latency.avg if result.latency else None,
        latency_p99_9_ns=result.latency.p99_9 if result.latency else None,
        windows=len(result.windows),
        lossy_windows=sum(window.lost > 0 for window in result.windows),
        least_fps=min((window.received_fps for window in result.windows), default=None),
    )


def _loss_s(result: TrialResult) -> float:
    """When a trial with loss first lost frames, as far as that is known; at its end at the latest."""
    return next((window.end_s for window in result.windows if window.lost), result.plan.duration_s)


def trial_count(settings: SoakSettings) -> int:
    """How many trials fill the time."""
    return max(1, math.ceil(settings.hours * 3600 / settings.trial_s))


def _longest_run(flags: Sequence[bool]) -> int:
    longest = current = 0
    for flag in flags:
        current = current + 1 if flag else 0
        longest = max(longest, current)
    return longest


def _trends(slices: Sequence[Slice], relevant: float) -> list[Trend]:
    figures = {
        "forwarded_fps": [part.forwarded_fps for part in slices],
        "latency_avg_ns": [part.latency_avg_ns for part in slices],
        "latency_p99_9_ns": [part.latency_p99_9_ns for part in slices],
    }
    times = [part.begin_s for part in slices]
    found = []
    for figure, values in figures.items():
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            found.append(_trend(figure, times, known, relevant))
    return found


def _trend(figure: str, times: Sequence[float], values: Sequence[float], relevant: float) -> Trend:
    # Imported here: it takes a second, which the command line's own errors need not.
    from scipy import stats

    line = stats.theilslopes(values, times)
    first, last = (float(line.intercept + line.slope * time) for time in (times[0], times[-1]))
    # Of figures that are all the same there is no order.
    p = 1.0 if len(set(values)) == 1 else float(stats.kendalltau(times, values).pvalue)
    change = (last - first) / first if first else None
    drifts = p < _MOST_P and change is not None and abs(change) >= relevant
    return Trend(figure=figure, first=first, last=last, change=change, p=p, drifts=drifts)
