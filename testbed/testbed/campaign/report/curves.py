# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A report's charts of one frame size each: loss by load, latency by percentile and by load, a soak by time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib.ticker
from matplotlib.axes import Axes

from testbed.campaign.folder import CampaignFolder
from testbed.campaign.measurements.frame_loss import FrameLoss
from testbed.campaign.measurements.latency import AtLoad, LatencyFound
from testbed.campaign.measurements.result import Measured
from testbed.campaign.measurements.soak import Soak
from testbed.campaign.report.charts import HEIGHT, Chart, Line, device_lines, legend
from testbed.campaign.report.loads import with_other_loads
from testbed.campaign.report.tables import PERCENTILES, median_of, range_of
from testbed.campaign.sizes import RFC_SIZES, Size, size_order
from testbed.campaign.summary import Finding, frames_in_words
from testbed.campaign.trial import Latency
from testbed.page.charts import CARD, MUTED, draw, label_logarithm

# At most this many curves are drawn; the tables have every size.
MOST_CURVES = 8
# Between the bars of two devices, as a share of the axis.
_BARS_APART = 0.012
# A loss of less is no more than a line along the axis, in a chart of all loss that there can be.
_SEEN_PERCENT = 15.0

Found = tuple[Finding, Measured]


class Point(NamedTuple):
    """A median over streams with its range, in microseconds, and where it stands."""

    place: float
    median: float
    least: float
    most: float


def loss_curves(record: CampaignFolder) -> list[Chart]:
    """RFC 2544, section 26.3: loss by load, in percent of the line's rate or, without one, of the highest tried.

    Both axes go from 0 to 100 %, as it asks for; what is hardly seen so has a second chart.
    """
    charts = []
    for found in _streams(list(record.found(FrameLoss))):
        charts += [chart for close in (False, True) if (chart := _loss_curve(record, found, close))]
    return charts


def percentile_curves(record: CampaignFolder) -> list[Chart]:
    """The latency that so many frames do not exceed, if the generator reports it."""
    return [chart for found in _streams(list(record.found(LatencyFound))) if (chart := _percentiles(record, found))]


def load_curves(record: CampaignFolder) -> list[Chart]:
    """Percentiles of the latency by load, where it was measured at several loads."""
    charts = []
    for found in _streams(list(record.found(LatencyFound))):
        mine = [(one.device, result.loads) for one, result in found if isinstance(result, LatencyFound)]
        if any(len(loads) > 1 for _, loads in mine):
            drawn = [_by_load(record, found[0][0], mine, name) for name in ("p50", "p99_9")]
            # A generator without a distribution has the average.
            charts += [chart for chart in drawn if chart] or [_by_load(record, found[0][0], mine, "avg")]
    return [chart for chart in charts if chart]


def soak_curves(record: CampaignFolder) -> list[Chart]:
    """Loss and latency over the hours."""
    charts = []
    for found in _streams(list(record.found(Soak))):
        charts += [chart for chart in (_soak_loss(record, found), _soak_latency(record, found)) if chart]
    return charts


def left_out(sizes: Sequence[Size]) -> list[Size]:
    """The sizes that have no curve of their own, since there are too many."""
    shown = shown_sizes(sizes)
    return [size for size in sorted(set(sizes), key=size_order) if size not in shown]


def shown_sizes(sizes: Sequence[Size]) -> list[Size]:
    """Those that have: all, or those of RFC 2544 first."""
    ordered = sorted(set(sizes), key=lambda size: (size not in RFC_SIZES, *size_order(size)))
    return sorted(ordered[:MOST_CURVES], key=size_order)


def _streams(found: Sequence[tuple[Finding, Measured]]) -> list[list[Found]]:
    """The results of one kind of frames together, each device's; of as many sizes as are shown."""
    shown = shown_sizes([finding.size for finding, _ in found])
    streams: dict[str, list[Found]] = {}
    for finding, result in found:
        if finding.size in shown:
            streams.setdefault(frames_in_words(finding), []).append((finding, result))
    return list(streams.values())


def _name(what: str, found: Sequence[Found]) -> str:
    first = found[0][0]
    return f"{what}-{first.size}-{first.directions}-{first.flows}"


def _loss_curve(record: CampaignFolder, found: Sequence[Found], close: bool) -> Chart | None:
    mine = [(finding, result) for finding, result in found if isinstance(result, FrameLoss)]
    most = max((point.loss_percent for _, result in mine for point in result.points), default=0.0)
    if most == 0 or (close and most > _SEEN_PERCENT):
        return None
    of_line = all(result.line_rate_fps for _, result in mine)
    lines = device_lines(record)
    caption = f"Frame loss, {frames_in_words(found[0][0])}{', closer' if close else ''}"
    highest = max(result.max_fps for _, result in mine)

    def paint(axes: Axes) -> None:
        for finding, result in mine:
            unit = (result.line_rate_fps if of_line and result.line_rate_fps else highest) / 100
            points = sorted((point.load_fps / unit, point.loss_percent) for point in result.points)
            _line(axes, lines[finding.device], points)
        axes.set_xlim(0, 100)
        axes.set_ylim(0, 1.08 * most if close else 100)
        axes.set_xlabel(f"offered load, % of the {'theoretical rate' if of_line else 'highest that was tried'}")
        axes.set_ylabel("frames lost, %")
        axes.grid(axis="y")
        legend(axes)

    return caption, draw(
        _name("loss-close" if close else "loss", found), HEIGHT, paint, f"{caption}: loss by offered load"
    )


def _percentiles(record: CampaignFolder, found: Sequence[Found]) -> Chart | None:
    first = found[0][0]
    if first.size in with_other_loads(record, (first.directions, first.flows)):
        return None
    known: dict[str, list[Point]] = {}
    for finding, result in found:
        if isinstance(result, LatencyFound):
            each = [_point(share, result.repetitions, name) for name, share in PERCENTILES.items()]
            points = [one for one in each if one is not None]
            if len(points) > 1:
                known[finding.device] = points
    if not known:
        return None
    lines = device_lines(record)
    shares = {result.share for _, result in found if isinstance(result, LatencyFound) and result.share is not None}
    where = f", at {100 * shares.pop():g} % of the throughput" if shares and shares != {1.0} else ""
    caption = f"Latency percentiles, {frames_in_words(found[0][0])}{where}"

    def paint(axes: Axes) -> None:
        shares = sorted({one.place for points in known.values() for one in points})
        # Each further nine takes as much room: what is rare is what matters.
        places = {share: -math.log10(1 - share / 100) for share in shares}
        placed = {device: [one._replace(place=places[one.place]) for one in known[device]] for device in known}
        _lines_with_ranges(axes, lines, placed)
        axes.set_xticks(list(places.values()), [f"{share:g}" for share in shares])
        axes.set_xlabel("frames that are as fast or faster, %")
        microseconds_axis(axes, [end for points in known.values() for one in points for end in (one.least, one.most)])

    return caption, draw(_name("percentiles", found), HEIGHT, paint, f"{caption}, in microseconds")


def _by_load(
    record: CampaignFolder, finding: Finding, found: Sequence[tuple[str, Sequence[AtLoad]]], name: str
) -> Chart | None:
    """One of the figures of `Latency` over the load: medians over the streams, and the generator's own."""
    known: dict[str, list[Point]] = {}
    alone: dict[float, float] = {}
    lossy: list[tuple[str, Point]] = []
    for device, loads in found:
        for at in loads:
            load = at.load_fps / 1e6
            if (point := _point(load, at.repetitions, name)) is not None:
                known.setdefault(device, []).append(point)
                lossy += [(device, point)] if at.lossy else []
            if at.baseline and (own := getattr(at.baseline, name)) is not None:
                alone[load] = own / 1e3
    if not known:
        return None
    lines = device_lines(record)
    what = {"p50": "Median latency", "p99_9": "99.9th percentile of latency", "avg": "Average latency"}[name]
    caption = f"{what} by load, {frames_in_words(finding)}"

    def paint(axes: Axes) -> None:
        _lines_with_ranges(axes, lines, known)
        for device, one in lossy:
            axes.plot(
                [one.place], [one.median], linestyle="none", marker=lines[device].marker, markersize=5,
                color=lines[device].colour, markerfacecolor=CARD, markeredgewidth=1.4, clip_on=False,
            )  # fmt: skip
        if alone:
            _line(axes, Line("generator alone", MUTED, "."), sorted(alone.items()))
        axes.set_xlim(0, 1.04 * max(one.place for points in known.values() for one in points))
        axes.set_xlabel("offered load, million frames/s each way")
        ends = [end for points in known.values() for one in points for end in (one.least, one.most)]
        microseconds_axis(axes, [*ends, *alone.values()])

    svg = f"{name}-by-load-{finding.size}-{finding.directions}-{finding.flows}"
    return caption, draw(svg, HEIGHT, paint, f"{caption}, in microseconds")


def microseconds_axis(axes: Axes, values: Sequence[float]) -> None:
    """Logarithmic if the values differ by much, else from zero."""
    if max(values) > 20 * min(values) > 0:
        axes.set_yscale("log")
        label_logarithm(axes.yaxis, values)
    else:
        axes.set_ylim(0, 1.08 * max(values))
    axes.set_ylabel("µs" + (", logarithmic" if axes.get_yscale() == "log" else ""))
    axes.grid(axis="y")
    legend(axes)


def _soak_loss(record: CampaignFolder, found: Sequence[Found]) -> Chart | None:
    if not any(isinstance(result, Soak) and result.lost for _, result in found):
        return None
    lines = device_lines(record)
    caption = f"Soak: frames lost in each trial, {frames_in_words(found[0][0])}"
    unit_s, unit = time_unit(_soak_seconds(found))

    def paint(axes: Axes) -> None:
        most = 1
        for finding, result in found:
            if isinstance(result, Soak):
                points = [(part.begin_s / unit_s, float(part.lost)) for part in result.slices]
                most = max([most, *(part.lost for part in result.slices)])
                _line(axes, lines[finding.device], points)
        axes.set_ylim(-0.04 * most, 1.1 * most)
        _time_axis(axes, unit, "frames lost")

    return caption, draw(_name("soak-loss", found), HEIGHT, paint, caption)


def _soak_latency(record: CampaignFolder, found: Sequence[Found]) -> Chart | None:
    unit_s, unit = time_unit(_soak_seconds(found))
    known = {
        finding.device: [
            (part.begin_s / unit_s, part.latency_avg_ns / 1e3)
            for part in result.slices
            if part.latency_avg_ns is not None
        ]
        for finding, result in found
        if isinstance(result, Soak)
    }
    known = {device: points for device, points in known.items() if points}
    if not known:
        return None
    lines = device_lines(record)
    caption = f"Soak: average latency of each trial, {frames_in_words(found[0][0])}"

    def paint(axes: Axes) -> None:
        for device, points in known.items():
            _line(axes, lines[device], points)
        axes.set_ylim(0, 1.1 * max(value for points in known.values() for _, value in points))
        _time_axis(axes, unit, "µs")

    return caption, draw(_name("soak-latency", found), HEIGHT, paint, caption)


def _soak_seconds(found: Sequence[Found]) -> float:
    return max(result.seconds for _, result in found if isinstance(result, Soak))


def time_unit(seconds: float) -> tuple[float, str]:
    """Seconds in a unit of which so long a time has some, and the unit's name."""
    units = ((3600.0, "hours"), (60.0, "minutes"))
    return next(((unit_s, name) for unit_s, name in units if seconds >= 5 * unit_s), (1.0, "seconds"))


def _time_axis(axes: Axes, unit: str, what: str) -> None:
    axes.set_xlabel(f"{unit} of traffic")
    axes.set_ylabel(what)
    axes.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(6))
    axes.grid(axis="y")
    legend(axes)


def _point(place: float, repetitions: list[Latency], name: str) -> Point | None:
    """None if the streams lack the figure."""
    median, ends = median_of(repetitions, name), range_of(repetitions, name)
    return None if median is None or ends is None else Point(place, median / 1e3, ends[0] / 1e3, ends[1] / 1e3)


def _lines_with_ranges(axes: Axes, lines: Mapping[str, Line], known: Mapping[str, Sequence[Point]]) -> None:
    """A line for each device. The ranges are bars, a little aside, so that those of two devices are both seen."""
    apart = _BARS_APART * max(one.place for points in known.values() for one in points)
    for number, (device, points) in enumerate(known.items()):
        _line(axes, lines[device], [(one.place, one.median) for one in points])
        for one in points:
            places = [one.place + number * apart] * 2
            axes.plot(places, [one.least, one.most], color=lines[device].colour, linewidth=1, clip_on=False)


def _line(axes: Axes, line: Line, points: Sequence[tuple[float, float]]) -> None:
    axes.plot(
        [place for place, _ in points], [value for _, value in points], color=line.colour, linewidth=1.4,
        marker=line.marker, markersize=5, label=line.label, clip_on=False,
    )  # fmt: skip
