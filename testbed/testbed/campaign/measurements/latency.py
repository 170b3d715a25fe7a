# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Latency at the throughput rate (RFC 2544, section 26.2), with the percentiles and the delay variation of RFC 8219.

All come from the same streams of 120 s. RFC 2544 averages one tagged frame of each. RFC 8219, section 7.2, takes the
median (typical latency) and the 99.9th percentile (worst-case latency) of at least 500 tagged frames of each, and of
these the medians over the repetitions; its packet delay variation, section 7.3.1, is the 99.9th percentile less the
minimum, of all frames. Generators of this project stamp frames all along the stream, so a repetition's figure for RFC
2544 is the mean of all its frames, and the grade says so. RFC 8219 is about IPv6 transition; its figures suit any
device.

Both mean RFC 1242's latency, between bits on the wire at the device. A generator in software measures something else:
from before its call to send to after its call to receive, its own loop and both drivers included. So the clause is not
met, and the same latency of the generator connected to itself stands beside the figures, as what is not the device's.

A ladder of lower loads, with fewer and shorter streams, shows how latency grows with the load, as FD.io's CSIT does at
10, 50 and 90 % of what it found. Only the streams at the throughput's rate are RFC 2544's, and graded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from testbed.campaign import grade
from testbed.campaign.grade import Clause, Finding, Level, at_least
from testbed.campaign.measurements.result import Account, Measured, Sample, Settings, check_rate, continuous
from testbed.campaign.traffic_generator import NotCapable
from testbed.campaign.trial import Latency, Record, Stream, TrialResult
from testbed.campaign.validity import NotMeasured, Trials

AT_THROUGHPUT = Clause(
    document="RFC 2544", section="26.2", level=Level.MUST, text="the stream has the rate of the throughput"
)
STREAM_LENGTH = Clause(document="RFC 2544", section="26.2", level=Level.SHOULD, text="the stream lasts at least 120 s")
ONE_TAG = Clause(document="RFC 2544", section="26.2", level=Level.SHOULD, text="one frame is tagged, after 60 s")
REPEATED = Clause(
    document="RFC 2544", section="26.2", level=Level.MUST, text="at least 20 repetitions, of which the average counts"
)
DEFINITION = Clause(
    document="RFC 2544",
    section="26.2",
    level=Level.MUST,
    text="the latency is that of one of RFC 1242's definitions, and the result says which",
)
CLAUSES = (AT_THROUGHPUT, STREAM_LENGTH, ONE_TAG, REPEATED, DEFINITION)

LONG_STREAM = Clause(
    document="RFC 8219",
    section="7.2",
    level=Level.SHOULD,
    text="the stream has the rate of the throughput and lasts at least 120 s",
)
TAGGED = Clause(
    document="RFC 8219", section="7.2", level=Level.SHOULD, text="at least 500 frames are tagged after 60 s"
)
PERCENTILES = Clause(
    document="RFC 8219",
    section="7.2",
    level=Level.SHOULD,
    text="typical latency is a stream's median, worst-case latency its 99.9th percentile",
)
MEDIANS = Clause(
    document="RFC 8219", section="7.2", level=Level.MUST, text="at least 20 repetitions, of which the medians count"
)
SAYS_WHICH = Clause(
    document="RFC 8219",
    section="7.2",
    level=Level.MUST,
    text="the latency is that of one of RFC 1242's definitions, and the result says which",
)
DELAY_VARIATION = Clause(
    document="RFC 8219",
    section="7.3.1",
    level=Level.SHOULD,
    text="the packet delay variation is that of all frames of a stream",
)
PERCENTILE_CLAUSES = (LONG_STREAM, TAGGED, PERCENTILES, MEDIANS, SAYS_WHICH, DELAY_VARIATION)

_STREAM_S = 120.0
_TAGGED_AFTER_S = 60.0
_REPEATS = 20
_TAGGED = 500


class LatencySettings(Settings):
    """How latency is measured."""

    stream_s: float = Field(_STREAM_S, gt=0)
    repeats: int = Field(_REPEATS, ge=1)
    # Of the throughput; RFC 2544 knows only 1.
    share: float = Field(1.0, gt=0, le=1)
    # Whether devices that take turns have one load, which is compared: that of the lowest throughput among them.
    same_load: bool = False
    # Further loads, of the throughput too.
    ladder: tuple[Annotated[float, Field(gt=0, le=1)], ...] = (0.1, 0.5, 0.9)
    ladder_stream_s: float = Field(10.0, gt=0)
    ladder_repeats: int = Field(3, ge=1)

    @property
    def shares(self) -> tuple[float, ...]:
        """All loads, each once, in ascending order."""
        return tuple(sorted({self.share, *self.ladder}))


class AtLoad(Record):
    """The latency at one load, in nanoseconds."""

    load_fps: float
    share: float | None = Field(None, description="the load, as a share of the throughput, own or lowest")
    # Of the generator connected to itself at the same load: what of the figures is not the device's.
    baseline: Latency | None = None
    repetitions: list[Latency]
    # Streams in which frames were lost: their latency is that of a full buffer.
    lossy: int
    # Of the frames: those that the generator sent late, to make up for a pause. None if it does not say.
    late_percent: float | None = None
    # RFC 2544: of the means of the repetitions.
    average_ns: Sample
    # The mean difference between frames that came one after the other.
    ipdv_ns: Sample | None = None
    # What TRex reports in its place: RFC 3550's running estimate.
    jitter_ns: Sample | None = None
    # RFC 8219: typical and worst-case latency and packet delay variation, of which the medians count.
    typical_ns: Sample | None
    worst_ns: Sample | None
    pdv_ns: Sample | None = None


class LatencyFound(AtLoad, Measured):
    """The latency of one kind of frames: at the throughput's rate, and over a ladder of loads."""

    # From where to where it was measured: none of the generators sees the bits of RFC 1242, section 3.8.
    definition: str
    percentiles: grade.Graded
    load_is: str = Field("", description="how the load was chosen")
    ladder: list[AtLoad] = Field(default_factory=list, description="at the other loads")
    left_out: list[str] = Field(default_factory=list, description="loads without a figure, each with the reason")

    @property
    def loads(self) -> list[AtLoad]:
        """All loads in ascending order, this one among them."""
        return sorted([*self.ladder, self], key=lambda one: one.load_fps)

    def at(self, share: float | None) -> AtLoad | None:
        """The latency at this share of the throughput; at the own load without one; None if it has no figure."""
        if share is None:
            return self
        return next((one for one in self.loads if one.share is not None and math.isclose(one.share, share)), None)

    @property
    def headline(self) -> str:
        """The average with its range and the baseline, and what most frames stay below."""
        average, alone = self.average_ns, self.baseline.avg if self.baseline else None
        several = len(average.values) > 1
        notes = [f"{average.least / 1000:.2f} to {average.most / 1000:.2f}"] if several else []
        notes += [f"generator alone: {alone / 1000:.2f} µs"] if alone is not None else []
        tail = f"; 99.9 %: {self.worst_ns.median / 1000:.2f} µs" if self.worst_ns else ""
        beside = f" ({'; '.join(notes)})" if notes else ""
        return f"average {average.mean / 1000:.2f} µs{beside}{tail}"


def measure_latency(
    trials: Trials,
    stream: Stream,
    throughput_fps: float,
    settings: LatencySettings | None = None,
    lowest_fps: float | None = None,
) -> LatencyFound:
    """Repeats a stream at the throughput's rate, then at the loads of the ladder.

    With `same_load` they are shares of the lowest throughput of the devices, `lowest_fps`.

    Raises `NotMeasured`, `NotCapable`.
    """
    settings = settings or LatencySettings()
    account, capabilities = Account(trials), trials.capabilities()
    if not capabilities.latency:
        raise NotCapable(capabilities.why_not("latency", "does not measure latency"))
    check_rate(throughput_fps, "at which latency is measured")
    base_fps, load_is = throughput_fps, "the device's own throughput"
    if settings.same_load and lowest_fps is not None:
        base_fps, load_is = lowest_fps, "the lowest throughput of the devices"

    def streams(share: float, stream_s: float, repeats: int) -> list[TrialResult]:
        plan = continuous(stream, base_fps * share, stream_s, latency=True)
        return [trials.run(plan) for _ in range(repeats)]

    results = streams(settings.share, settings.stream_s, settings.repeats)
    found = _at_load(settings.share, results)
    ladder, left_out = [], []
    for share in settings.shares:
        if share != settings.share:
            try:
                ladder.append(_at_load(share, streams(share, settings.ladder_stream_s, settings.ladder_repeats)))
            except NotMeasured as error:
                # What RFC 2544 asks for has been measured, and stays.
                left_out.append(f"{100 * share:g} % of the throughput: {error}")
    common = grade.of_every_result(capabilities, settings.survey, stream.size)
    measured, typical, worst, variation = found.repetitions, found.typical_ns, found.worst_ns, found.pdv_ns
    tagged = min(latency.count for latency in measured)
    every_frame = all(latency.count >= result.received for latency, result in zip(measured, results, strict=True))
    whose = "all frames" if every_frame else "the stamped frames"
    seen = f"{capabilities.latency_definition}: not from bit to bit"
    of_throughput = found.load_fps / throughput_fps
    percentile_findings = [
        *common,
        *_percentile_findings(settings, of_throughput, tagged),
        SAYS_WHICH.found(False, seen),
        PERCENTILES.found(typical is not None and worst is not None, "known" if typical and worst else "not known"),
        DELAY_VARIATION.found(every_frame and variation is not None, f"of {whose}" if variation else "not known"),
    ]
    return LatencyFound(
        stream=stream,
        **account.counts(),
        graded=grade.grade([*common, *_stream_findings(settings, of_throughput), DEFINITION.found(False, seen)]),
        **{name: getattr(found, name) for name in AtLoad.model_fields},
        load_is=load_is if settings.share == 1 else f"{100 * settings.share:g} % of {load_is}",
        definition=capabilities.latency_definition,
        percentiles=grade.grade(percentile_findings),
        ladder=ladder,
        left_out=left_out,
    )


def _at_load(share: float, results: Sequence[TrialResult]) -> AtLoad:
    """What streams at one load amount to.

    Raises `NotMeasured` if one has no latency.
    """
    measured = [one.latency for one in results if one.latency is not None and one.latency.avg is not None]
    if len(measured) < len(results):
        raise NotMeasured(f"no latency came with {len(results) - len(measured)} of {len(results)} streams")
    typical, worst = (_sample([getattr(latency, name) for latency in measured]) for name in ("p50", "p99_9"))
    return AtLoad(
        load_fps=results[0].plan.load_fps,
        share=share,
        baseline=next((result.baseline for result in results if result.baseline is not None), None),
        repetitions=measured,
        lossy=sum(result.lost > 0 for result in results),
        late_percent=_late_percent(results),
        average_ns=Sample.of([latency.avg for latency in measured if latency.avg is not None]),
        ipdv_ns=_sample([latency.ipdv for latency in measured]),
        jitter_ns=_sample([latency.jitter for latency in measured]),
        typical_ns=typical,
        worst_ns=worst,
        pdv_ns=_sample([_delay_variation(latency) for latency in measured]),
    )


def _late_percent(results: Sequence[TrialResult]) -> float | None:
    late, sent = [result.pacing.caught_up for result in results], sum(result.sent for result in results)
    return 100 * sum(count or 0 for count in late) / sent if sent and None not in late else None


def _sample(values: list[float | None]) -> Sample | None:
    """None if a repetition lacks the figure."""
    known = [value for value in values if value is not None]
    return Sample.of(known) if known and len(known) == len(values) else None


def _delay_variation(latency: Latency) -> float | None:
    """RFC 8219, section 7.3.1."""
    return None if latency.p99_9 is None or latency.min is None else latency.p99_9 - latency.min


def _stream_findings(settings: LatencySettings, of_throughput: float) -> list[Finding]:
    return [
        AT_THROUGHPUT.found(of_throughput == 1, _of_throughput(of_throughput)),
        at_least(STREAM_LENGTH, settings.stream_s, _STREAM_S, "s"),
        ONE_TAG.found(False, "frames are stamped from the beginning on, and their mean counts"),
        at_least(REPEATED, settings.repeats, _REPEATS, "repetitions"),
    ]


def _of_throughput(share: float) -> str:
    return f"{100 * share:.4g} % of the throughput"


def _percentile_findings(settings: LatencySettings, of_throughput: float, tagged: int) -> list[Finding]:
    late = int(tagged * max(0.0, 1 - _TAGGED_AFTER_S / settings.stream_s))
    return [
        LONG_STREAM.found(
            of_throughput == 1 and settings.stream_s >= _STREAM_S,
            f"{settings.stream_s:g} s at {_of_throughput(of_throughput)}",
        ),
        TAGGED.found(late >= _TAGGED, f"at least {tagged} all along the stream, about {late} of them after 60 s"),
        at_least(MEDIANS, settings.repeats, _REPEATS, "repetitions"),
    ]
