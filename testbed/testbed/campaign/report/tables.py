# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The tables of a campaign's report, for the page and for Markdown. A table without measurements is empty."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import TypeVar

from testbed.campaign.folder import CampaignFolder
from testbed.campaign.measurements.back_to_back import BackToBack
from testbed.campaign.measurements.forwarding_rate import ForwardingRate
from testbed.campaign.measurements.frame_loss import FrameLoss
from testbed.campaign.measurements.latency import AtLoad, LatencyFound
from testbed.campaign.measurements.recovery import Recovery
from testbed.campaign.measurements.reset import Reset
from testbed.campaign.measurements.result import Measured
from testbed.campaign.measurements.soak import Soak
from testbed.campaign.measurements.throughput import GoalFound, Throughput
from testbed.campaign.summary import Finding, frames_in_words
from testbed.campaign.trial import Latency, Place, TrialResult
from testbed.page.tables import ABSENT, Row, Table, figure, without_empty_columns

M = TypeVar("M", bound=Measured)
_HEAD = ["Frames", "Device"]
ON_THE_WIRE = "On the wire [Gbit/s]"


def throughput_table(record: CampaignFolder) -> Table:
    """RFC 2544, section 26.1, with the final bounds of the search."""
    columns = [*_HEAD, "Loss of at most", "Throughput [Mpps]", "Frames [Gbit/s]", ON_THE_WIRE]
    columns += ["Of the theoretical [%]", "Upper bound [Mpps]", "Trials there", "Longest without loss [s]"]
    table = Table("Throughput", columns, text_columns=2)
    for finding, result in record.found(Throughput):
        for number, goal in enumerate(result.goals):
            cells = _throughput_cells(result, goal, first=number == 0)
            table.rows.append(Row([frames_in_words(finding), finding.device, *cells]))
    return without_empty_columns(table)


def _throughput_cells(result: Throughput, goal: GoalFound, first: bool) -> list[str]:
    lower, line = goal.lower, result.line_rate_fps
    load = lower.load_fps if lower else None
    none = "0 (the lowest rate loses frames)" if goal.pauses is None else f"unknown: {goal.pauses.pauses_in_words}"
    at_least = "≥ " if result.only_offered(goal) else ""
    return [
        goal.loss,
        (at_least + _mega(load)) if load else none,
        figure(result.bps(load) / 1e9 if load else None, ".3f"),
        figure(result.wire_bps(load) / 1e9 if load and line else None, ".3f"),
        figure(100 * load / line if load and line else None, ".2f"),
        _upper_in_words(goal),
        _trials_there(result, goal, first=first),
        f"{lower.lossless_s:g}" if lower else ABSENT,
    ]


def _trials_there(result: Throughput, goal: GoalFound, first: bool) -> str:
    """At the throughput also those of other measurements."""
    if first and result.at_rate is not None:
        return str(result.at_rate.trials)
    return str(goal.lower.trials) if goal.lower else ABSENT


def _upper_in_words(goal: GoalFound) -> str:
    if goal.pauses is not None:
        return ABSENT
    if goal.not_offered_fps is not None:
        return f"none: the generator did not keep {_mega(goal.not_offered_fps)}"
    return _mega(goal.upper.load_fps) if goal.upper else "none: highest rate offered"


def losses_verified(record: CampaignFolder, kind: type[Throughput] | type[BackToBack]) -> list[str]:
    """What loss verification came to, of each search that had it."""
    return [
        f"{finding.device}, {frames_in_words(finding)}: {result.loss_verification}."
        for finding, result in record.found(kind)
        if result.loss_verification is not None
    ]


def latency_table(record: CampaignFolder) -> Table:
    """RFC 2544, section 26.2: a row for each load."""
    columns = [*_HEAD, "Load [Mpps]", "Load [%]", "Least [µs]", "Average [µs]", "Most [µs]"]
    columns += ["Mean |IPDV| [µs]", "Jitter of RFC 3550 [µs]", "PDV [µs]", "Streams with loss"]
    columns.append("Left late [%]")
    # The generator connected to itself.
    columns += ["Baseline: average [µs]", "Baseline: |IPDV| [µs]"]
    table = Table("Latency", columns, text_columns=2)
    at_loads = [(finding, at) for finding, found in record.found(LatencyFound) for at in found.loads]
    bounds = {finding.place.rpartition("/")[0] for finding, found in record.found(Throughput) if found.only_lower_bound}
    for finding, result in at_loads:
        each = result.repetitions
        most = "≤ " if finding.place.rpartition("/")[0] in bounds else ""
        cells = [_mega(result.load_fps), ABSENT if result.share is None else f"{most}{100 * result.share:g}"]
        cells += [_micro(_over(each, lambda one: one.min, min)), _micro(result.average_ns.mean)]
        cells.append(_micro(_over(each, lambda one: one.max, max)))
        cells += [_micro(sample.mean if sample else None) for sample in (result.ipdv_ns, result.jitter_ns)]
        cells.append(_micro(result.pdv_ns.median if result.pdv_ns else None))
        cells += [f"{result.lossy} of {len(each)}", figure(result.late_percent, ".2f")]
        alone = result.baseline
        cells += [_micro(getattr(alone, name) if alone else None) for name in ("avg", "ipdv")]
        table.rows.append(Row([frames_in_words(finding), finding.device, *cells]))
    return without_empty_columns(table)


def percentile_table(record: CampaignFolder) -> Table:
    """The percentiles of RFC 8219: medians over the repetitions, of the high ones with their range. A row for each
    load."""
    columns = [*_HEAD, "Load [Mpps]", *(f"{share:g}th percentile [µs]" for share in PERCENTILES.values())]
    columns += [f"{PERCENTILES[name]:g}th percentile: range [µs]" for name in _HIGH]
    table = Table("Latency percentiles", [*columns, "Baseline: 99.9th percentile [µs]"], text_columns=2)
    for finding, result in ((finding, at) for finding, found in record.found(LatencyFound) for at in found.loads):
        each = result.repetitions
        cells = [_micro(median_of(each, name)) for name in PERCENTILES]
        cells += [_range(each, name) for name in _HIGH]
        if any(cell != ABSENT for cell in cells):
            head = [frames_in_words(finding), finding.device, _mega(result.load_fps)]
            table.rows.append(Row([*head, *cells, _micro(result.baseline.p99_9 if result.baseline else None)]))
    return without_empty_columns(table)


# The fields of `Latency`, and the share of frames below them.
PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "p99_9": 99.9, "p99_99": 99.99}
# Those that few frames decide.
_HIGH = ("p99_9", "p99_99")
# So many frames of each stream must be above a percentile.
_LEAST_ABOVE = 10


def median_of(repetitions: list[Latency], name: str) -> float | None:
    """Over the repetitions that have the figure; in nanoseconds. None if too few frames are above it."""
    found = _known(repetitions, name)
    return median(found) if found else None


def range_of(repetitions: list[Latency], name: str) -> tuple[float, float] | None:
    """From the least to the most of them; None where `median_of` is."""
    found = _known(repetitions, name)
    return (min(found), max(found)) if found else None


def _range(repetitions: list[Latency], name: str) -> str:
    found = range_of(repetitions, name)
    return " to ".join(_micro(end) for end in found) if found else ABSENT


def _known(repetitions: list[Latency], name: str) -> list[float]:
    # An average has all frames.
    above = 1 - PERCENTILES.get(name, 0.0) / 100
    if any(round(above * one.count) < _LEAST_ABOVE for one in repetitions):
        return []
    return [value for one in repetitions if (value := getattr(one, name)) is not None]


def _over(
    repetitions: list[Latency], value: Callable[[Latency], float | None], choose: Callable[[list[float]], float]
) -> float | None:
    known = [found for one in repetitions if (found := value(one)) is not None]
    return choose(known) if known else None


def _averages_of_invalid(record: CampaignFolder, finding: Finding, at: AtLoad) -> list[float]:
    """Of the streams at this load that do not count, as far as they have one."""
    return [
        result.latency.avg
        for place, result in record.evidence.trials
        if place == finding.place
        and isinstance(result, TrialResult)
        and not result.valid
        and result.plan.load_fps == at.load_fps
        and result.latency is not None
        and result.latency.avg is not None
    ]


# A mean of streams that is so many times their median is that of a few of them.
_DECIDED = 1.5


def latency_remarks(record: CampaignFolder) -> list[str]:
    """The streams whose latency is that of a full buffer, the loads without a figure, and the averages that one stream
    decides."""
    lines = []
    for finding, result in record.found(LatencyFound):
        whose = f"{finding.device}, {frames_in_words(finding)}"
        lines += [
            f"{whose}: frames were lost in {at.lossy} of {len(at.repetitions)} streams at {_mega(at.load_fps)} Mpps, "
            "whose latency is that of a full buffer."
            for at in result.loads
            if at.lossy
        ]
        lines += [f"{whose}: no latency at {reason}" for reason in result.left_out]
        lines += [
            f"{whose}: one of {len(at.average_ns.values)} streams at {_mega(at.load_fps)} Mpps decides the average; "
            f"those of the streams are {', '.join(_micro(one) for one in sorted(at.average_ns.values))} µs."
            for at in result.loads
            if at.average_ns.mean > _DECIDED * at.average_ns.median
        ]
        lines += [
            f"{whose}: invalid streams at {_mega(at.load_fps)} Mpps, which do not count, had averages of "
            f"{', '.join(_micro(one) for one in averages)} µs."
            for at in result.loads
            if (averages := _averages_of_invalid(record, finding, at))
        ]
    return lines


def lossless_curves(record: CampaignFolder) -> list[str]:
    """The measurements without a loss curve, since no load lost a frame."""
    lossy = {frames_in_words(one) for one, result in record.found(FrameLoss) if any(p.lost for p in result.points)}
    frames = dict.fromkeys(frames_in_words(one) for one, _ in record.found(FrameLoss))
    whole = [words for words in frames if words not in lossy]
    return [f"No curve is drawn where no load lost a frame: {'; '.join(whole)}."] if whole else []


def loss_table(record: CampaignFolder) -> Table:
    """RFC 2544, section 26.3: the ends of each curve; the curve itself is a chart."""
    columns = [
        *_HEAD,
        "Highest load [Mpps]",
        "Of the theoretical [%]",
        "Loss there [%]",
        "Loss in all trials there",
        "Lost at",
    ]
    columns += ["Highest load without loss [Mpps]", "Trials"]
    table = Table("Frame loss rate", columns, text_columns=2)
    for finding, result in record.found(FrameLoss):
        top, line = result.points[0], result.line_rate_fps
        lossless = [point.load_fps for point in result.points if point.lost == 0]
        cells = [
            _mega(top.load_fps),
            figure(100 * top.load_fps / line if line else None, ".1f"),
            f"{top.loss_percent:.4g}",
            (top.of_all.in_words if top.of_all else "") or ABSENT,
            places_in_words(top.lost_at) or ABSENT,
            _mega(max(lossless)) if lossless else "none",
            str(len(result.points)),
        ]
        table.rows.append(Row([frames_in_words(finding), finding.device, *cells]))
    return without_empty_columns(table)


def back_to_back_table(record: CampaignFolder) -> Table:
    """RFC 2544, section 26.4, with the figures that RFC 9004 requires."""
    columns = [*_HEAD, "Average [frames]", "Least [frames]", "Most [frames]", "Deviation [frames]"]
    columns += ["Repetitions", "Step [frames]", "Limit [frames]"]
    columns += ["Implied buffer [µs]", "Corrected buffer [µs]", "Its bounds [µs]"]
    table = Table("Back-to-back frames", columns, text_columns=2)
    for finding, result in record.found(BackToBack):
        head = [frames_in_words(finding), finding.device]
        sample = result.frames
        if sample is None:
            continue
        least = "≥ " if result.at_limit else ""
        cells = [f"{least}{sample.mean:,.0f}", f"{sample.least:,.0f}", f"{sample.most:,.0f}"]
        cells += [figure(sample.deviation, ",.1f"), str(len(sample.values))]
        cells += [f"{result.step_frames:,}", f"{result.limit_frames:,}"]
        for seconds in (result.implied_buffer_s, result.corrected_buffer_s):
            cells.append(ABSENT if seconds is None else f"{least}{1e6 * seconds:,.1f}")
        bounds = result.corrected_buffer_bounds_s
        cells.append(ABSENT if bounds is None else " to ".join(f"{1e6 * bound:,.1f}" for bound in bounds))
        table.rows.append(Row([*head, *cells]))
    return table


def recovery_table(record: CampaignFolder) -> Table:
    """RFC 2544, section 26.5."""
    columns = [*_HEAD, "Overload [Mpps]", "Of the throughput [%]", "Then [Mpps]", "Recovery [s]"]
    table = Table(
        "System recovery",
        [*columns, "Least [s]", "Most [s]", "Repetitions", "Frames lost under overload"],
        text_columns=2,
    )
    for finding, result in record.found(Recovery):
        sample = result.recovery_s
        cells = [_mega(result.overload_fps), f"{100 * result.overload_share:.1f}", _mega(result.relief_fps)]
        cells += [f"{sample.mean:.4g}", f"{sample.least:.4g}", f"{sample.most:.4g}", str(len(sample.values))]
        cells.append("yes" if result.overloaded else "no: no overload")
        table.rows.append(Row([frames_in_words(finding), finding.device, *cells]))
    return table


def reset_table(record: CampaignFolder) -> Table:
    """RFC 2544, section 26.6, and RFC 6201: the time by both methods."""
    columns = ["Frames", "Device", "Reset of the", "Load [Mpps]", "Gap [ms]", "Least [ms]", "Most [ms]"]
    table = Table("Reset", [*columns, "By lost frames [ms]", "Repetitions"], text_columns=3)
    for finding, result in record.found(Reset):
        head = [frames_in_words(finding), finding.device]
        for time in result.times:
            gap = time.gap_s
            seconds = (gap.mean, gap.least, gap.most, time.by_loss_s.mean)
            cells = [str(time.kind), _mega(result.load_fps), *(f"{1e3 * one:,.3f}" for one in seconds)]
            table.rows.append(Row([*head, *cells, str(len(gap.values))]))
    return table


def resets_left_out(record: CampaignFolder) -> list[str]:
    """The resets without a figure, with the reasons."""
    return [
        f"{finding.device}, {frames_in_words(finding)}: no reset of the {kind}: "
        + result.why_left_out.get(kind, "the generator does not support it")
        for finding, result in record.found(Reset)
        for kind in result.left_out
    ]


def forwarding_table(record: CampaignFolder) -> Table:
    """RFC 2889, section 5.3, and where frames were lost."""
    columns = [*_HEAD, "Offered [Mpps]", "Forwarded [Mpps]", "Least [Mpps]", "Most [Mpps]"]
    columns += ["Sent [M]", "Received [M]", "Lost [%]"]
    table = Table("Forwarding rate", [*columns, "Lost at", "Repetitions"], text_columns=2)
    for finding, result in record.found(ForwardingRate):
        rate = result.forwarded_fps
        lost = result.sent - result.received
        cells = [_mega(result.offered_fps.median), _mega(rate.median), _mega(rate.least), _mega(rate.most)]
        cells += [f"{result.sent / 1e6:,.3f}", f"{result.received / 1e6:,.3f}"]
        cells.append(f"{100 * lost / result.sent:.3f}" if result.sent else ABSENT)
        cells += [places_in_words(result.lost_at) or "none: not overloaded", str(len(rate.values))]
        table.rows.append(Row([frames_in_words(finding), finding.device, *cells]))
    return table


_TRENDS = {
    "forwarded_fps": ("forwarded [Mpps]", 1e6),
    "latency_avg_ns": ("average latency [µs]", 1e3),
    "latency_p99_9_ns": ("99.9th percentile of latency [µs]", 1e3),
}


def soak_table(record: CampaignFolder) -> Table:
    """The trend of each figure over the soak."""
    columns = ["Frames", "Device", "Figure", "At first", "At last", "Change [%]", "p", "Drifts"]
    table = Table("Soak", columns, text_columns=3)
    for finding, result in record.found(Soak):
        head = [frames_in_words(finding), finding.device]
        if result.trends is None:
            table.rows.append(_spanning(", ".join(head), "too few trials for a trend", len(columns)))
        for trend in result.trends or []:
            words, unit = _TRENDS.get(trend.figure, (trend.figure, 1.0))
            cells = [words, f"{trend.first / unit:.4f}", f"{trend.last / unit:.4f}"]
            cells += [figure(None if trend.change is None else 100 * trend.change, "+.2f"), f"{trend.p:.3g}"]
            table.rows.append(Row([*head, *cells, "yes" if trend.drifts else "no"]))
    return table


def soak_losses(record: CampaignFolder) -> list[str]:
    """Sentences for each soak."""
    lines = []
    for one, result in record.found(Soak):
        windows = sum(part.windows for part in result.slices)
        rates = [part.least_fps for part in result.slices if part.least_fps is not None]
        slowest = f" In the slowest of {windows:,} seconds {_mega(min(rates))} Mpps came back." if rates else ""
        lines.append(f"{one.device}, {frames_in_words(one)}: {result.headline}.{slowest}")
    return lines


def places_in_words(lost_at: dict[Place, int]) -> str:
    """'imissed 12, tx_queue 3': the places of loss, the largest first."""
    known = sorted(((count, place) for place, count in lost_at.items() if count), reverse=True)
    return ", ".join(f"{place} {count:,}" for count, place in known)


def _mega(fps: float) -> str:
    return f"{fps / 1e6:.4f}"


def _micro(nanoseconds: float | None) -> str:
    return figure(None if nanoseconds is None else nanoseconds / 1e3, ",.2f")


def _spanning(head: str, reason: str, columns: int) -> Row:
    return Row([head, *[ABSENT] * (columns - 1)], kind="without", reason=reason)
