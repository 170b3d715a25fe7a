# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The figures of a folder that `diff` compares with those of another, with the noise that the folder records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any, NamedTuple

from testbed.campaign.folder import CampaignFolder, ComparisonFolder
from testbed.campaign.measurements.back_to_back import BackToBack
from testbed.campaign.measurements.forwarding_rate import ForwardingRate
from testbed.campaign.measurements.frame_loss import FrameLoss
from testbed.campaign.measurements.latency import LatencyFound
from testbed.campaign.measurements.recovery import Recovery
from testbed.campaign.measurements.reset import Reset
from testbed.campaign.measurements.result import Sample
from testbed.campaign.measurements.soak import Soak
from testbed.campaign.measurements.throughput import Throughput
from testbed.campaign.sizes import size_in_words
from testbed.campaign.summary import frames_in_words
from testbed.campaign.trial import Record


class Unit(StrEnum):
    """What a value counts."""

    FRAMES_PER_SECOND = "frames/s"
    NANOSECONDS = "ns"
    SECONDS = "s"
    FRAMES = "frames"
    PERCENT = "%"
    RATIO = "ratio"


class Key(NamedTuple):
    """What makes two figures the same one."""

    test: str
    figure: str
    frames: str
    device: str


class Value(Record):
    """A figure of one folder."""

    value: float
    unit: Unit
    # Its range, if the folder has one: the bounds of the search, or the range of the repetitions. `high` is
    # None with `low` where only the least is known.
    low: float | None = None
    high: float | None = None
    # By which share of it it may be off beside that: of a rate what the machine drifted, of a comparison's ratio its
    # noise floor; None if the folder has none.
    noise: float | None = None
    # The load of a figure that means little at another one, in frames a second.
    load_fps: float | None = None


def values_of(record: CampaignFolder | ComparisonFolder) -> dict[Key, Value]:
    """All figures that have a value."""
    return dict(_of_comparison(record) if isinstance(record, ComparisonFolder) else _of_campaign(record))


def drift_of(record: CampaignFolder | ComparisonFolder) -> float | None:
    """By how much the first rate differed at the end; None if that was not measured."""
    drift = record.summary.worst_drift if isinstance(record, CampaignFolder) else None
    return None if drift is None or drift.change is None else abs(drift.change)


def _of_comparison(record: ComparisonFolder) -> Iterator[tuple[Key, Value]]:
    """The ratios: interval and noise floor are the comparison's own."""
    told = record.settings.compare
    for one in record.verdict.comparison.verdicts if record.verdict.comparison else []:
        if one.ratio is None:
            continue
        low, high = one.ratio.ci95 or (None, None)
        key = Key("compare", one.figure.replace("_", " "), size_in_words(one.size), f"{told.a} / {told.b}")
        yield key, Value(value=one.ratio.median, unit=Unit.RATIO, low=low, high=high, noise=one.noise)


def _of_campaign(record: CampaignFolder) -> Iterator[tuple[Key, Value]]:
    drift = drift_of(record)
    for kind, values in _VALUES.items():
        for finding, result in record.found(kind):
            for figure, value in values(result, drift):
                test = finding.measurement.replace("_", " ")
                yield Key(test, figure, frames_in_words(finding), finding.device), value


_Named = Iterator[tuple[str, Value]]


def _throughput(result: Throughput, drift: float | None) -> _Named:
    for goal in result.goals:
        if goal.lower is not None:
            upper = goal.upper.load_fps if goal.upper else None
            load = goal.lower.load_fps
            value = Value(value=load, unit=Unit.FRAMES_PER_SECOND, low=load, high=upper, noise=drift)
            yield f"rate, loss of at most {100 * goal.goal.loss_ratio:g} %", value


def _latency(result: LatencyFound, drift: float | None) -> _Named:
    for at in (result, *result.ladder):
        where = "" if at is result or at.share is None else f" at {100 * at.share:g} % of the throughput"
        samples = {
            "average": at.average_ns,
            "99.9 %": at.worst_ns,
            "mean |IPDV|": at.ipdv_ns,
            "jitter of RFC 3550": at.jitter_ns,
            "PDV": at.pdv_ns,
        }
        for name, sample in samples.items():
            if sample is not None:
                yield f"{name}{where}", _of_sample(sample, Unit.NANOSECONDS)


def _frame_loss(result: FrameLoss, drift: float | None) -> _Named:
    top = result.points[0]
    yield "loss at the highest load", Value(value=top.loss_percent, unit=Unit.PERCENT, load_fps=top.load_fps)


def _back_to_back(result: BackToBack, drift: float | None) -> _Named:
    if result.frames is not None:
        found = _of_sample(result.frames, Unit.FRAMES)
        # What the limit cut off can be anything above it.
        yield "longest burst", found.model_copy(update={"high": None}) if result.at_limit else found


def _recovery(result: Recovery, drift: float | None) -> _Named:
    yield "recovery time", _of_sample(result.recovery_s, Unit.SECONDS)


def _reset(result: Reset, drift: float | None) -> _Named:
    for time in result.times:
        yield f"gap, reset of the {time.kind}", _of_sample(time.gap_s, Unit.SECONDS)


def _forwarding_rate(result: ForwardingRate, drift: float | None) -> _Named:
    rate = result.forwarded_fps
    value = _of_sample(rate, Unit.FRAMES_PER_SECOND)
    yield "rate", value.model_copy(update={"value": rate.median, "noise": drift})


def _soak(result: Soak, drift: float | None) -> _Named:
    sent = sum(part.sent for part in result.slices)
    if sent:
        yield "loss", Value(value=100 * result.lost / sent, unit=Unit.PERCENT, load_fps=result.load_fps)


def _of_sample(sample: Sample, unit: Unit) -> Value:
    """Repetitions of one start span a range; one alone has none."""
    several = len(sample.values) > 1
    low, high = (sample.least, sample.most) if several else (None, None)
    return Value(value=sample.mean, unit=unit, low=low, high=high)


_VALUES: dict[type[Any], Callable[[Any, float | None], _Named]] = {
    Throughput: _throughput,
    LatencyFound: _latency,
    FrameLoss: _frame_loss,
    BackToBack: _back_to_back,
    Recovery: _recovery,
    Reset: _reset,
    ForwardingRate: _forwarding_rate,
    Soak: _soak,
}
