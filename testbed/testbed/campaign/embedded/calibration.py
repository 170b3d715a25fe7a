# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The highest rate that the embedded generator keeps, tried before the first trial."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Protocol

from testbed.campaign.embedded.account import burst_seconds
from testbed.campaign.embedded.disturbance import disturbance
from testbed.campaign.embedded.setup import EmbeddedSetup
from testbed.campaign.sizes import Size, size_in_words
from testbed.campaign.traffic_generator import CalibrationTry, GeneratorError
from testbed.campaign.trial import Stream
from testbed.wire.generator import Result

# More than any loop can send: the generator falls behind, and sends as much as it can.
_BEYOND_FPS = 1e9
_CALIBRATION_S = 0.5
_CALIBRATIONS = 6
# Tries in which other programs had the generator's CPU say nothing of the rate; so many are repeated.
_DISTURBED = 20
# The rate that it can keep is lower than the rate at which it sends when it is always late.
_SUSTAINED = 0.95
# A rate counts as kept if it is off by no more than this share; so much of it is asked for, so that there is something
# left to make up for pauses with.
_KEPT = 0.003
_ASKED = 0.8
# Bursts must keep it too, though their first frames meet memory that no cache has yet.
_BURSTS = (300, 1000, 3000)
_BURST_CALIBRATIONS = 12
_BURST_STEP = 0.9
# A pause of the machine spoils a burst, and not the next.
_BURST_TRIES = 2


class Generate(Protocol):
    """Runs the generator once. Raises `GeneratorError`."""

    def __call__(self, stream: Stream, rate_fps: float, seconds: float, frames: int | None) -> Result:
        """At this rate for so long, or for so many frames."""
        ...


class Calibration:
    """Tries how fast the generator can send with this device."""

    def __init__(self, setup: EmbeddedSetup, generate: Generate) -> None:
        self._setup = setup
        self._generate = generate
        # Why there are no bursts of a size.
        self.no_bursts: dict[Size, str] = {}
        # All that were made so far.
        self.tries: list[CalibrationTry] = []
        self._ring_frames: int | None = None

    def run(
        self, ring_frames: int | None, before: Mapping[Size, float] | None = None
    ) -> tuple[dict[Size, float], float]:
        """The highest rate at each size, and what a trial takes beside its load and its pauses.

        `before` has the rates with shorter queues, which are no lower.
        """
        self._ring_frames = ring_frames
        overheads: list[float] = []
        rates = {size: self._highest_rate(size, overheads, before and before[size]) for size in self._setup.sizes}
        return rates, max(0.0, sum(overheads) / len(overheads))

    def _highest_rate(self, size: Size, overheads: list[float], most_fps: float | None) -> float:
        """A little less than a rate that it was seen to keep, found from above.

        What it offers while it runs behind is no such rate: a frame that finds the queue full costs it much less than
        one that is taken.
        """
        stream = self._setup.stream(size)
        most_fps, pauses = most_fps or self._setup.most_fps, self._setup.pauses
        rate_fps, result = _BEYOND_FPS if most_fps is None else most_fps / _ASKED, None
        tries = disturbed = 0
        while tries < _CALIBRATIONS:
            begin = time.monotonic()
            result = self._generate(stream, rate_fps, _CALIBRATION_S, None)
            overheads.append(time.monotonic() - begin - result.duration_s - pauses.before_s - pauses.residual_s)
            offered_fps = (result.total.sent + result.total.tx_failed) / result.duration_s / stream.ways
            if self._tried(size, None, rate_fps, offered_fps, kept=offered_fps >= (1 - _KEPT) * rate_fps):
                return self._kept_by_bursts(stream, _ASKED * rate_fps)
            if disturbance(result, None) and disturbed < _DISTURBED:
                disturbed += 1
                continue
            tries += 1
            rate_fps = _SUSTAINED * offered_fps
        raise self._keeps_none(size, _CALIBRATIONS, result)

    def _kept_by_bursts(self, stream: Stream, rate_fps: float) -> float:
        """The highest rate up to this one that bursts keep, if there are any to come and they keep one at all."""
        kept_fps = rate_fps
        for frames in _BURSTS if self._setup.bursts else ():
            found = self._kept_by_burst(stream, kept_fps, frames)
            if found is None:
                # Its memory is made as it is touched, which takes longer than a burst.
                remedy = "see what else the machine does" if self._setup.hugepages else "with hugepages it may keep one"
                self.no_bursts[stream.size] = (
                    f"bursts of {frames} frames of {size_in_words(stream.size)} kept none of {_BURST_CALIBRATIONS} "
                    f"rates: {remedy}"
                )
                return rate_fps
            kept_fps = found
        return kept_fps

    def _kept_by_burst(self, stream: Stream, rate_fps: float, frames: int) -> float | None:
        for _ in range(_BURST_CALIBRATIONS):
            seconds = frames / rate_fps
            for _ in range(_BURST_TRIES):
                took_s = burst_seconds(self._generate(stream, rate_fps, seconds, frames).duration_s, seconds)
                kept = took_s <= seconds * (1 + _KEPT)
                if self._tried(stream.size, frames, rate_fps, frames / took_s, kept=kept):
                    return rate_fps
            rate_fps *= _BURST_STEP
        return None

    def _tried(self, size: Size, frames: int | None, asked_fps: float, offered_fps: float, *, kept: bool) -> bool:
        """Takes note of a try; returns whether it kept the rate."""
        self.tries.append(
            CalibrationTry(
                size=size,
                burst_frames=frames,
                ring_frames=self._ring_frames,
                asked_fps=asked_fps,
                offered_fps=offered_fps,
                kept=kept,
            )
        )
        return kept

    @staticmethod
    def _keeps_none(size: Size, tries: int, last: Result | None) -> GeneratorError:
        assert last is not None, "there was a try"
        why = disturbance(last, None) or "see what else the machine does"
        return GeneratorError(f"the generator kept no rate in {tries} tries with {size_in_words(size)}: {why}")
