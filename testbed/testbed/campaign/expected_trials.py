# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""How many trials a campaign will take, and how long, before it starts.

Each measurement is rehearsed on the simulated device. One that takes the same trials whatever the device does is known
exactly. For a search, devices of many throughputs and buffers are rehearsed: the least, the middle, and as a bound half
as much again as the longest. A device whose results change from trial to trial may exceed even that, and invalid
trials come on top of it. Once the throughput is known, what needs it is rehearsed with that one alone.

Where pauses of the machine bound the throughput, a search has many invalid trials, and then looks for the rates with
some loss. That is rehearsed with devices that pause, and told apart: whether the machine pauses so is not known
beforehand.
"""

from __future__ import annotations

import contextlib
import itertools
import statistics
from collections.abc import Callable, Sequence
from functools import lru_cache

from testbed.campaign.grade import TRIAL_S
from testbed.campaign.measurements.back_to_back import BackToBack, measure_back_to_back
from testbed.campaign.measurements.forwarding_rate import measure_forwarding_rate
from testbed.campaign.measurements.frame_loss import FrameLoss, measure_frame_loss
from testbed.campaign.measurements.latency import LatencyFound, measure_latency
from testbed.campaign.measurements.recovery import Recovery, measure_recovery
from testbed.campaign.measurements.reset import measure_reset
from testbed.campaign.measurements.result import Measured
from testbed.campaign.measurements.soak import measure_soak
from testbed.campaign.measurements.throughput import Throughput, measure_throughput
from testbed.campaign.presets import MeasurementSettings
from testbed.campaign.scenario import Measurement
from testbed.campaign.simulated import DeviceModel, SimulatedGenerator
from testbed.campaign.sizes import WIRE_OVERHEAD_BYTES, mean_bytes
from testbed.campaign.traffic_generator import Capabilities, NotCapable, Pauses
from testbed.campaign.trial import (
    AnyPlan,
    Record,
    ResetKind,
    ResetPlan,
    ResetResult,
    StepPlan,
    StepResult,
    Stream,
    TrialPlan,
    TrialResult,
)
from testbed.campaign.validity import NothingToMeasure, NotMeasured, Trials

# Of the highest rate: the throughputs of the devices that searches are rehearsed with.
_SHARES = (1.0, 0.997, 0.99, 0.95, 0.9, 0.8, 0.71, 0.6, 0.5, 0.41, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)
# Their buffers, and how much of its throughput a device loses under overload.
_DEVICES = ((32, 0.0), (512, 0.3), (8192, 0.0))
# How much longer than its longest rehearsal a search may take.
_SEARCH_MARGIN = 1.5
# For what a search takes where pauses bound it: how often a second the rehearsed devices pause, and how many queues'
# worth of frames is due in a pause at the highest rate.
_PAUSES_PER_S = (1.0, 2.5, 8.0, 20.0)
_PAUSE_QUEUES = 50
_PAUSE_SHARES = (0.9, 0.5, 0.3)
_PAUSE_SEEDS = 2
_PAUSE_BUFFER = 1024
# A model lists a size, even if what counts is its figure for a mixture.
_LEAST_BYTES = 64
# What a reset leaves, if nothing is known.
_RESET_GAP_S = 2.0
# What RFC 2544 asks for (sections 23 and 26).
_RFC_PAUSES_S = Pauses().total_s
_RFC_STREAM_S = 120.0
_RFC_BURST_TRIAL_S = 2.0


class Range(Record):
    """What is known beforehand of a figure."""

    least: float
    expected: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float], margin: float) -> Range:
        """Over the rehearsals, with a margin at the top."""
        return cls(least=min(values), expected=statistics.median(values), most=margin * max(values))

    def __add__(self, other: Range) -> Range:
        return Range(
            least=self.least + other.least, expected=self.expected + other.expected, most=self.most + other.most
        )

    def with_other(self, part: Range, other: Range) -> Range:
        """The sum with another summand in place of one."""
        return Range(
            least=self.least - part.least + other.least,
            expected=self.expected - part.expected + other.expected,
            most=self.most - part.most + other.most,
        )

    @property
    def exact(self) -> bool:
        """Whether there is nothing to guess."""
        return self.least == self.most


class Estimate(Record):
    """What one measurement, or several together, will take."""

    trials: Range
    # With pauses, and with what the generator needs to start and end a trial.
    seconds: Range
    # Of these, the trials that the RFCs themselves ask for, with the RFC's pauses.
    rfc_s: float
    # Why it will take nothing: what the generator cannot do; of several together, each once.
    why_not: tuple[str, ...] = ()

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(
            trials=self.trials + other.trials,
            seconds=self.seconds + other.seconds,
            rfc_s=self.rfc_s + other.rfc_s,
            why_not=tuple(dict.fromkeys((*self.why_not, *other.why_not))),
        )

    def with_other(self, part: Estimate, other: Estimate) -> Estimate:
        """The same with another estimate in place of that of a part."""
        return Estimate(
            trials=self.trials.with_other(part.trials, other.trials),
            seconds=self.seconds.with_other(part.seconds, other.seconds),
            rfc_s=self.rfc_s,
            why_not=self.why_not,
        )

    @property
    def beyond_rfc(self) -> float:
        """The share by which it takes longer than the RFCs' own trials."""
        return self.seconds.expected / self.rfc_s - 1 if self.rfc_s else 0.0


NOTHING = Estimate(trials=Range(least=0, expected=0, most=0), seconds=Range(least=0, expected=0, most=0), rfc_s=0.0)


class _Rehearsal:
    """A simulated device with the limits of the real generator."""

    def __init__(
        self, capabilities: Capabilities, stream: Stream, share: float, buffer: int, collapse: float, **more: float
    ) -> None:
        highest = capabilities.max_fps(stream.size)
        self._capabilities = capabilities
        self._simulated = SimulatedGenerator(
            DeviceModel(
                # A hair less than the line rate, which it must not exceed by rounding.
                throughput_fps=dict.fromkeys((_LEAST_BYTES, stream.size), highest * min(share, 1 - 1e-12)),
                line_rate_bps=highest * 8 * (mean_bytes(stream.size) + WIRE_OVERHEAD_BYTES),
                buffer_frames=buffer,
                collapse=collapse,
                reset_gap_s=dict.fromkeys(ResetKind, _RESET_GAP_S),
                **more,
            ),
            capabilities.pauses,
        )
        self.trials = 0

    @property
    def seconds(self) -> float:
        """What all that would have taken."""
        return self._simulated.clock_s + self.trials * self._capabilities.overhead_s

    def capabilities(self) -> Capabilities:
        return self._capabilities

    def run(self, plan: TrialPlan) -> TrialResult:
        self._capabilities.check(plan)
        self.trials += 1
        return self._simulated.run(plan)

    def step(self, plan: StepPlan) -> StepResult:
        self._capabilities.check(plan)
        self.trials += 1
        return self._simulated.step(plan)

    def reset(self, plan: ResetPlan) -> ResetResult:
        self._capabilities.check(plan)
        self.trials += 1
        return self._simulated.reset(plan)

    def replayed(self, plan: AnyPlan) -> None:
        """Nothing is."""

    def close(self) -> None:
        """Nothing runs."""


def estimate(
    measurement: Measurement,
    stream: Stream,
    settings: MeasurementSettings,
    capabilities: Capabilities,
    throughput_fps: float | None = None,
) -> Estimate:
    """What a measurement will take; nothing if the generator cannot do it.

    Raises `GeneratorError` if the generator's highest rate is not known.
    """
    return _estimate(measurement, stream, settings.model_dump_json(), capabilities.model_dump_json(), throughput_fps)


# Two devices with the same frames have the same estimate.
@lru_cache(maxsize=1024)
def _estimate(
    measurement: Measurement, stream: Stream, settings_json: str, capabilities_json: str, throughput_fps: float | None
) -> Estimate:
    settings = MeasurementSettings.model_validate_json(settings_json)
    capabilities = Capabilities.model_validate_json(capabilities_json)
    shares: Sequence[float] = _SHARES
    if throughput_fps is not None:
        shares = (min(1.0, throughput_fps / capabilities.max_fps(stream.size)),)
    trials, seconds, rfc = [], [], []
    for share in shares:
        for buffer, collapse in _DEVICES:
            rehearsal = _Rehearsal(capabilities, stream, share, buffer, collapse)
            try:
                result = _MEASURES[measurement](Trials(rehearsal), stream, share, settings)
            except NotCapable as error:
                return NOTHING.model_copy(update={"why_not": (str(error),)})
            except NothingToMeasure:
                result = None
            except NotMeasured:
                return NOTHING
            trials.append(rehearsal.trials)
            seconds.append(rehearsal.seconds)
            rfc.append(_rfc_s(result, rehearsal))
        if trials and measurement in _ALWAYS_THE_SAME:
            break
    margin = _SEARCH_MARGIN if measurement in _SEARCHES else 1.0
    return Estimate(trials=Range.of(trials, margin), seconds=Range.of(seconds, margin), rfc_s=statistics.median(rfc))


def estimate_between_pauses(stream: Stream, settings: MeasurementSettings, capabilities: Capabilities) -> Estimate:
    """What a search for the throughput will take, all of it, if pauses of the machine bound it.

    Raises `GeneratorError` if the generator's highest rate is not known.
    """
    return _between_pauses(stream, settings.model_dump_json(), capabilities.model_dump_json())


@lru_cache(maxsize=1024)
def _between_pauses(stream: Stream, settings_json: str, capabilities_json: str) -> Estimate:
    settings = MeasurementSettings.model_validate_json(settings_json)
    capabilities = Capabilities.model_validate_json(capabilities_json)
    pause_s = _PAUSE_QUEUES * _PAUSE_BUFFER / capabilities.max_fps(stream.size)
    trials, seconds = [], []
    for share, per_s, seed in itertools.product(_PAUSE_SHARES, _PAUSES_PER_S, range(_PAUSE_SEEDS)):
        pauses = {"pauses_per_s": per_s, "pause_s": pause_s, "seed": seed}
        rehearsal = _Rehearsal(capabilities, stream, share, _PAUSE_BUFFER, 0.0, **pauses)
        with contextlib.suppress(NotMeasured):
            if measure_throughput(Trials(rehearsal), stream, settings.throughput).throughput_fps is None:
                trials.append(rehearsal.trials)
                seconds.append(rehearsal.seconds)
    if not trials:
        return NOTHING
    return Estimate(trials=Range.of(trials, _SEARCH_MARGIN), seconds=Range.of(seconds, _SEARCH_MARGIN), rfc_s=0.0)


_Measure = Callable[[Trials, Stream, float, MeasurementSettings], Measured]


def _rate(trials: Trials, stream: Stream, share: float) -> float:
    return share * trials.capabilities().max_fps(stream.size)


_MEASURES: dict[Measurement, _Measure] = {
    Measurement.THROUGHPUT: lambda trials, stream, share, s: measure_throughput(trials, stream, s.throughput),
    Measurement.LATENCY: lambda trials, stream, share, s: measure_latency(
        trials, stream, _rate(trials, stream, share), s.latency
    ),
    Measurement.FRAME_LOSS: lambda trials, stream, share, s: measure_frame_loss(trials, stream, s.frame_loss),
    Measurement.BACK_TO_BACK: lambda trials, stream, share, s: measure_back_to_back(
        trials, stream, _rate(trials, stream, share), s.back_to_back
    ),
    Measurement.RECOVERY: lambda trials, stream, share, s: measure_recovery(
        trials, stream, _rate(trials, stream, share), s.recovery
    ),
    Measurement.RESET: lambda trials, stream, share, s: measure_reset(
        trials, stream, _rate(trials, stream, share), s.reset
    ),
    Measurement.FORWARDING_RATE: lambda trials, stream, share, s: measure_forwarding_rate(
        trials, stream, s.forwarding_rate
    ),
    Measurement.SOAK: lambda trials, stream, share, s: measure_soak(
        trials, stream, _rate(trials, stream, share), s.soak
    ),
}
_SEARCHES = frozenset({Measurement.THROUGHPUT, Measurement.BACK_TO_BACK})
# The number and length of whose trials no device changes (a reset's gap aside).
_ALWAYS_THE_SAME = frozenset(
    {
        Measurement.LATENCY,
        Measurement.RECOVERY,
        Measurement.RESET,
        Measurement.FORWARDING_RATE,
        Measurement.SOAK,
    }
)


def _rfc_s(result: Measured | None, rehearsal: _Rehearsal) -> float:
    """What the RFC's own trials take, without any that a search or this tool adds."""
    if isinstance(result, Throughput):
        # One full trial without loss, and one above it with loss.
        return (1 if result.goals[0].upper is None else 2) * (TRIAL_S + _RFC_PAUSES_S)
    if isinstance(result, LatencyFound):
        return len(result.repetitions) * (_RFC_STREAM_S + _RFC_PAUSES_S)
    if isinstance(result, FrameLoss):
        return len(result.points) * (TRIAL_S + _RFC_PAUSES_S)
    if isinstance(result, BackToBack):
        # Each repetition finds a burst that passes and one that does not. The wait for residual frames is part of it.
        trial_s = max(_RFC_BURST_TRIAL_S, result.frames.mean / result.rate_fps + Pauses().residual_s)
        return 2 * len(result.frames.values) * (trial_s + Pauses().before_s + Pauses().settle_s)
    if isinstance(result, Recovery):
        # How long after the overload is looked for losses is left to the tester, and not counted.
        return len(result.recovery_s.values) * (TRIAL_S + _RFC_PAUSES_S)
    # No document prescribes a length for the others.
    return rehearsal.seconds
