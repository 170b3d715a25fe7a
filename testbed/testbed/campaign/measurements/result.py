# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the results of all measurements have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy
from pydantic import Field

from testbed.campaign.grade import Graded
from testbed.campaign.trial import Record, Stream, TrialPlan
from testbed.campaign.validity import NotMeasured, Trials


class Settings(Record):
    """What the settings of all measurements have in common."""

    # Only a quick look, whose result is never called RFC 2544.
    survey: bool = False


class Measured(Record):
    """A result."""

    stream: Stream
    # Valid and invalid ones that this result took.
    trials: int
    invalid_trials: int
    graded: Graded

    @property
    def headline(self) -> str:
        """The figure that it is about."""
        raise NotImplementedError


def is_line_rate(fps: float, line_rate_fps: float | None) -> bool:
    """Whether no device could be offered more on this medium."""
    return line_rate_fps is not None and fps >= line_rate_fps


class Account:
    """Which of the trials belong to one measurement."""

    def __init__(self, trials: Trials) -> None:
        self._trials = trials
        self._valid, self._invalid = trials.valid, trials.invalid

    def counts(self) -> dict[str, int]:
        """The fields of `Measured`."""
        valid, invalid = self._trials.valid - self._valid, self._trials.invalid - self._invalid
        return {"trials": valid + invalid, "invalid_trials": invalid}


class Sample(Record):
    """Repeated figures: each of them, and what they amount to."""

    values: list[float] = Field(min_length=1)
    mean: float
    median: float
    least: float
    most: float
    # Standard deviation of the sample; None for a single figure.
    deviation: float | None
    p1: float
    p99: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Sample:
        """Of at least one value."""
        array = numpy.asarray(values, dtype=float)
        p1, p99 = numpy.percentile(array, [1, 99])
        return cls(
            values=[float(value) for value in values],
            mean=float(array.mean()),
            median=float(numpy.median(array)),
            least=float(array.min()),
            most=float(array.max()),
            deviation=float(array.std(ddof=1)) if len(array) > 1 else None,
            p1=float(p1),
            p99=float(p99),
        )


def check_rate(throughput_fps: float, use: str) -> None:
    """For what needs the throughput.

    Raises `NotMeasured` if there is none.
    """
    if throughput_fps <= 0:
        raise NotMeasured(f"no rate was without loss, {use}")


def continuous(
    stream: Stream, load_fps: float, duration_s: float, latency: bool = False, windows: bool = False
) -> TrialPlan:
    """A trial at one rate."""
    return TrialPlan(**stream.frames, load_fps=load_fps, duration_s=duration_s, latency=latency, windows=windows)


def burst(stream: Stream, load_fps: float, count: int) -> TrialPlan:
    """A burst of `count` frames in each direction."""
    return TrialPlan(**stream.frames, load_fps=load_fps, duration_s=count / load_fps, kind="burst", burst_frames=count)
