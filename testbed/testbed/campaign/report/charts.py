# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""A report's charts by frame size: rates, latency, jitter and difference, the overload test, a comparison's ratios."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from matplotlib.axes import Axes

from testbed.campaign.compare.schedule import Figure
from testbed.campaign.compare.size_verdict import Comparison
from testbed.campaign.folder import CampaignFolder
from testbed.campaign.measurements.forwarding_rate import ForwardingRate
from testbed.campaign.measurements.latency import LatencyFound
from testbed.campaign.measurements.throughput import Throughput
from testbed.campaign.report.campaign_verdict import why_not_compared
from testbed.campaign.report.loads import Kind, with_other_loads
from testbed.campaign.sizes import WIRE_OVERHEAD_BYTES, Size, is_mixture, mean_bytes, size_order
from testbed.campaign.summary import kind_in_words
from testbed.comparison.pair_verdict import EQUIVALENCE
from testbed.page.charts import CARD, COLOURS, MUTED, SERIES, TEXT, draw

# (caption, drawing)
Chart = tuple[str, str]
_MARKERS = "oDs^vP"
# The colours of the twins, and those of other devices that look the same.
_TWINS = {"l2fwd-c": COLOURS["C"], "l2fwd-rs": COLOURS["Rust"]}
_LIKE_TWINS = {"l2fwd-c": SERIES[1], "l2fwd-rs": SERIES[0]}
SMALL = 9.5
HEIGHT = 3.5
# How many letters a row of the legend holds, and how many a mark takes with the gap around it.
_LEGEND_LETTERS = 60
_LEGEND_MARK = 8
# Between two devices at one size, in powers of two, so that two equal figures are both seen.
_APART = 0.06
# More sizes than this stand too close for that.
_MOST_APART = 12
# How far an axis of sizes goes beyond them, as a factor, and the least share of it between two labels.
_MARGIN = 1.25
_LABELS_APART = 0.08
# Letters of a mixture's name below the axis.
_LONGEST_LABEL = 12
_ARTICLE = "Rust vs C: safety and performance in low-level network programming"
_BITS, _PACKETS, _LATENCY, _JITTER = "Throughput in bit/s", "Throughput in frames/s", "Average latency", "Jitter"
_DIFFERENCE = "Difference of the frames received"
_MEASURED = (_BITS, _PACKETS, _LATENCY, _JITTER)
# What the article shows, by the numbers of its figures.
_FIGURES = {2: _BITS, 3: _PACKETS, 4: _LATENCY, 5: _JITTER, 6: _DIFFERENCE}


@dataclass
class Line:
    """One device's figures by size; the ranges are (low, high)."""

    label: str
    colour: str
    marker: str
    points: dict[Size, float] = field(default_factory=dict)
    ranges: dict[Size, tuple[float, float]] = field(default_factory=dict)
    # Drawn hollow: the device could have done more.
    at_limit: set[Size] = field(default_factory=set)


def size_charts(record: CampaignFolder, kind: Kind) -> list[Chart]:
    """What the article's Figures 2 to 6 show, of one kind of frames, as far as it was measured."""
    found = [_bits_chart, _packets_chart, _latency_chart, _jitter_chart, _difference_chart]
    charts = [chart for draw_one in found if (chart := draw_one(record, kind))]
    return [*_partial_charts(record, kind), *charts]


def legend_in_words(record: CampaignFolder, kind: Kind, charts: Sequence[Chart]) -> str:
    """What the marks of these charts mean, and which figures of the article show the same."""
    drawn = {caption.partition(",")[0] for caption, _ in charts}
    offered = any(result.generator_was_limit for _, _, result in _throughputs(record, kind))
    numbers = [str(number) for number, title in _FIGURES.items() if title in drawn]
    sentences = ["Rates are per direction."]
    sentences += ["A hollow mark is the highest rate offered: the device may be faster."] if offered else []
    sentences += ["Bars span the repetitions."] if drawn & {_LATENCY, _JITTER} else []
    if numbers:
        which = f"Figure {numbers[0]}" if len(numbers) == 1 else f"Figures {', '.join(numbers[:-1])} and {numbers[-1]}"
        sentences.append(f"The article “{_ARTICLE}” has the same of other forwarders in its {which}.")
    return " ".join(sentences)


def missing_charts(record: CampaignFolder, kind: Kind, charts: Sequence[Chart]) -> list[str]:
    """A sentence for those that were not measured, and one that says why there is no difference."""
    drawn = {caption.partition(",")[0] for caption, _ in charts}
    # Those at loads that differ have a sentence of their own.
    measured = _MEASURED[:2] if with_other_loads(record, kind) else _MEASURED
    if any(result.pauses is not None for _, _, result in _throughputs(record, kind)):
        measured = tuple(title for title in measured if title not in (_BITS, _PACKETS))
    absent = [title[0].lower() + title[1:] for title in measured if title not in drawn]
    lines = [f"Not measured: {'; '.join(absent)}."] if absent else []
    if _DIFFERENCE not in drawn:
        lines.append(f"No difference between devices is drawn: {_why_no_difference(record, kind)}.")
    return lines


def _why_no_difference(record: CampaignFolder, kind: Kind) -> str:
    sizes: dict[str, set[Size]] = {}
    for device, size, _ in _throughputs(record, kind):
        sizes.setdefault(device, set()).add(size)
    of_reference = sizes.pop(record.reference, set())
    if not any(of_reference & found for found in sizes.values()):
        return "it needs the throughput of two devices"
    if all(result.pauses is not None for _, _, result in _throughputs(record, kind)):
        return "pauses of the machine allow no throughput"
    return why_not_compared(record) or "at no size do two devices have a limit below the highest rate offered"


def _throughputs(record: CampaignFolder, kind: Kind) -> list[tuple[str, Size, Throughput]]:
    return [
        (finding.device, finding.size, result)
        for finding, result in record.found(Throughput)
        if (finding.directions, finding.flows) == kind
    ]


def _bits_chart(record: CampaignFolder, kind: Kind) -> Chart | None:
    found = _throughputs(record, kind)
    # Where the line's rate is known, what passes over it; else there is no preamble and no gap to count.
    wire = bool(found) and all(result.line_rate_fps for _, _, result in found)
    lines = device_lines(record)
    theory: dict[Size, float] = {}
    for device, size, result in found:
        if result.throughput_fps is None:
            continue
        lines[device].points[size] = (result.wire_bps if wire else result.bps)(result.throughput_fps) / 1e9
        if result.at_max:
            lines[device].at_limit.add(size)
        if result.line_rate_fps:
            theory[size] = result.line_rate_fps * 8 * (mean_bytes(size) + WIRE_OVERHEAD_BYTES) / 1e9
    what = "on the wire, with preamble and gap" if wire else "of frames, with FCS"
    caption = f"{_BITS}, {what}"
    return _by_size("bits", kind, caption, "Gbit/s each way", lines, theory)


def _packets_chart(record: CampaignFolder, kind: Kind) -> Chart | None:
    lines = device_lines(record)
    theory: dict[Size, float] = {}
    for device, size, result in _throughputs(record, kind):
        if result.throughput_fps is None:
            continue
        lines[device].points[size] = result.throughput_fps / 1e6
        if result.at_max:
            lines[device].at_limit.add(size)
        if result.line_rate_fps:
            theory[size] = result.line_rate_fps / 1e6
    return _by_size("packets", kind, _PACKETS, "million frames/s each way", lines, theory)


def _partial_charts(record: CampaignFolder, kind: Kind) -> list[Chart]:
    """The rates with some loss, where pauses of the machine allow no throughput at a size."""
    found = _throughputs(record, kind)
    if all(result.pauses is None for _, _, result in found):
        return []
    charts = []
    for loss in dict.fromkeys(goal.loss for _, _, result in found for goal in result.goals if goal.goal.loss_ratio):
        lines = device_lines(record)
        for device, size, result in found:
            for goal in result.goals:
                if goal.loss == loss and goal.lower is not None:
                    lines[device].points[size] = goal.lower.load_fps / 1e6
        name = f"partial-{loss.split()[0].replace('.', '-')}"
        charts.append(_by_size(name, kind, f"Rate with at most {loss} of loss", "million frames/s each way", lines))
    return [chart for chart in charts if chart is not None]


def _latency_chart(record: CampaignFolder, kind: Kind) -> Chart | None:
    lines = device_lines(record)
    alone = {name: Line(f"generator alone, as for {line.label}", MUTED, line.marker) for name, line in lines.items()}
    apart = with_other_loads(record, kind)
    for finding, result in record.found(LatencyFound):
        if (finding.directions, finding.flows) == kind and finding.size not in apart:
            sample = result.average_ns
            lines[finding.device].points[finding.size] = sample.mean / 1e3
            lines[finding.device].ranges[finding.size] = (sample.least / 1e3, sample.most / 1e3)
            if result.baseline and result.baseline.avg is not None:
                alone[finding.device].points[finding.size] = result.baseline.avg / 1e3
    both = {**lines, **{f"{name} alone": line for name, line in alone.items()}}
    return _by_size("latency", kind, _LATENCY, "µs", both)


def _jitter_chart(record: CampaignFolder, kind: Kind) -> Chart | None:
    lines, whose, apart = device_lines(record), "", with_other_loads(record, kind)
    for finding, result in record.found(LatencyFound):
        sample = result.ipdv_ns or result.jitter_ns
        if (finding.directions, finding.flows) == kind and finding.size not in apart and sample:
            whose = "mean |IPDV|" if result.ipdv_ns else "RFC 3550's running estimate"
            lines[finding.device].points[finding.size] = sample.mean / 1e3
            lines[finding.device].ranges[finding.size] = (sample.least / 1e3, sample.most / 1e3)
    return _by_size("jitter", kind, f"{_JITTER}, {whose}", "µs", lines)


def _difference_chart(record: CampaignFolder, kind: Kind) -> Chart | None:
    """How many more frames came back in a second, each device at its own throughput, than with the reference.

    None if the report does not compare the devices; without the sizes at which the generator was the limit.
    """
    if why_not_compared(record):
        return None
    reference = record.reference
    received = {
        (device, size): (bound.sent - bound.lost) / bound.seconds
        for device, size, result in _throughputs(record, kind)
        if not result.generator_was_limit and (bound := result.goals[0].lower) and bound.seconds
    }
    lines = device_lines(record)
    for (device, size), rate in received.items():
        base = received.get((reference, size))
        if device != reference and base:
            lines[device].points[size] = 100 * (rate / base - 1)
    caption = f"{_DIFFERENCE}, each device at its throughput, to {reference}"
    return _by_size("difference", kind, caption, "%", lines, around_zero=True)


def forwarding_chart(record: CampaignFolder, kind: Kind) -> Chart | None:
    """What comes through under the highest load, with the range of the repetitions."""
    lines = device_lines(record)
    theory: dict[Size, float] = {}
    for finding, result in record.found(ForwardingRate):
        if (finding.directions, finding.flows) != kind:
            continue
        rate = result.forwarded_fps
        lines[finding.device].points[finding.size] = rate.median / 1e6
        lines[finding.device].ranges[finding.size] = (rate.least / 1e6, rate.most / 1e6)
        if not result.overloaded:
            lines[finding.device].at_limit.add(finding.size)
        if result.line_rate_fps:
            theory[finding.size] = result.line_rate_fps / 1e6
    return _by_size("forwarding", kind, "Forwarding rate under overload", "million frames/s each way", lines, theory)


def ratio_chart(found: Comparison, figure: Figure) -> Chart | None:
    """Ratios by size with their intervals, and the noise: how far the first one differs from itself."""
    told = found.settings
    known = sorted(
        (one for one in found.verdicts if one.figure is figure and one.ratio is not None),
        key=lambda one: size_order(one.size),
    )
    if not known:
        return None
    line = Line(plain(f"{told.a} / {told.b}"), SERIES[1], "D")
    for one in known:
        assert one.ratio is not None
        line.points[one.size] = one.ratio.median
        if one.ratio.ci95:
            line.ranges[one.size] = one.ratio.ci95
    noise = {one.size: one.noise for one in known if one.noise is not None}

    def paint(axes: Axes) -> None:
        axes.axhline(1.0, color=TEXT, linewidth=1)
        for edge in (1 - EQUIVALENCE, 1 + EQUIVALENCE):
            axes.axhline(edge, color=MUTED, linewidth=0.8, linestyle=(0, (2, 3)))
        for number, (size, width) in enumerate(noise.items()):
            axes.plot(
                [mean_bytes(size)] * 2, [1 - width, 1 + width], color=MUTED, alpha=0.35, linewidth=11,
                solid_capstyle="butt", label=plain(f"noise: {told.a} against itself") if number == 0 else None,
            )  # fmt: skip
        _paint_line(axes, line, 0.0)
        _size_axis(axes, list(line.points))
        axes.set_ylabel("ratio (above 1: better)")
        axes.grid(axis="y")
        legend(axes)

    caption = f"{figure.replace('_', ' ').capitalize()}: {told.a} to {told.b}"
    return caption, draw(f"ratio-{figure}", HEIGHT, paint, f"ratio of the {figure.replace('_', ' ')} by frame size")


def device_lines(record: CampaignFolder) -> dict[str, Line]:
    """A line for each device, in the colours that the twins have in all reports."""
    program_of = {device.name: device.program or device.name for device in record.settings.scenario.devices}
    programs = [program_of.get(name, name) for name in record.summary.devices]
    # Two devices of one program need two colours.
    twins = {name: colour for name, colour in _TWINS.items() if programs.count(name) == 1}
    taken = {_LIKE_TWINS[name] for name in twins}
    others = [colour for colour in (SERIES[1], SERIES[0], *SERIES[2:]) if colour not in taken]
    lines: dict[str, Line] = {}
    for number, (name, program) in enumerate(zip(record.summary.devices, programs, strict=True)):
        colour = twins.get(program, others[number % len(others)])
        lines[name] = Line(plain(name), colour, _MARKERS[number % len(_MARKERS)])
    return lines


def plain(text: str) -> str:
    """Text that matplotlib does not take for a formula."""
    return text.replace("$", r"\$")


def _by_size(
    name: str,
    kind: Kind,
    caption: str,
    unit: str,
    lines: dict[str, Line],
    theory: dict[Size, float] | None = None,
    around_zero: bool = False,
) -> Chart | None:
    """A line for each device over the frame sizes; None without any figure."""
    drawn = [line for line in lines.values() if line.points]
    if not drawn:
        return None
    sizes = sorted({size for line in drawn for size in line.points}, key=size_order)

    def paint(axes: Axes) -> None:
        if theory:
            places = sorted(theory, key=size_order)
            axes.plot(
                _widened(places), _repeated([theory[size] for size in places]), color=MUTED, linewidth=1.3,
                linestyle=(0, (5, 3)), label="theoretical",
            )  # fmt: skip
        if around_zero:
            axes.axhline(0, color=TEXT, linewidth=1)
        for number, line in enumerate(drawn):
            apart = _APART if len(sizes) <= _MOST_APART else 0.0
            _paint_line(axes, line, apart * (number - (len(drawn) - 1) / 2))
        _size_axis(axes, sizes)
        if around_zero:
            far = 1.2 * max([abs(value) for line in drawn for value in line.points.values()] + [0.1])
            axes.set_ylim(-far, far)
        else:
            axes.set_ylim(0, 1.08 * max(axes.dataLim.y1, 1e-9))
        axes.set_ylabel(unit)
        axes.grid(axis="y")
        legend(axes)

    words = ", ".join([caption, *kind_in_words(*kind)])
    return caption, draw(f"{name}-{kind[0]}-{kind[1]}", HEIGHT, paint, f"{words}, by frame size")


def _widened(sizes: list[Size]) -> list[float]:
    """A single size as a short line."""
    places = [float(mean_bytes(size)) for size in sizes]
    return [places[0] / 1.15, places[0] * 1.15] if len(places) == 1 else places


def _repeated(values: list[float]) -> list[float]:
    return values * 2 if len(values) == 1 else values


def _paint_line(axes: Axes, line: Line, shift: float) -> None:
    sizes = sorted(line.points, key=size_order)
    places = {size: mean_bytes(size) * 2**shift for size in sizes}
    # A mixture is no size between others: it stands at its average frame, and no line leads to it.
    of_one_size = [size for size in sizes if not is_mixture(size)]
    parts = [(of_one_size, "-"), ([size for size in sizes if is_mixture(size)], "none")]
    label: str | None = line.label
    for some, style in parts:
        if some:
            axes.plot(
                [places[size] for size in some], [line.points[size] for size in some], color=line.colour, linewidth=1.4,
                linestyle=style, marker=line.marker, markersize=6, label=label,
            )  # fmt: skip
            label = None
    for size, (low, high) in line.ranges.items():
        axes.plot([places[size]] * 2, [low, high], color=line.colour, linewidth=2.2, solid_capstyle="butt")
    hollow = [size for size in sizes if size in line.at_limit]
    axes.plot(
        [places[size] for size in hollow], [line.points[size] for size in hollow], linestyle="none",
        marker=line.marker, markersize=6, color=line.colour, markerfacecolor=CARD, markeredgewidth=1.6,
    )  # fmt: skip


def _size_axis(axes: Axes, sizes: Sequence[Size]) -> None:
    """Logarithmic, as frame sizes are; only labels that fit."""
    axes.set_xscale("log", base=2)
    places = [mean_bytes(size) for size in sizes]
    axes.set_xlim(min(places) / _MARGIN, max(places) * _MARGIN)
    shown = labelled(sizes)
    axes.set_xticks([mean_bytes(size) for size in shown], [str(size)[:_LONGEST_LABEL] for size in shown])
    axes.set_xticks([mean_bytes(size) for size in sizes if size not in shown], [], minor=True)
    axes.set_xlabel("frame size with FCS, bytes")


def labelled(sizes: Sequence[Size]) -> list[Size]:
    """The sizes whose labels do not overlap: the first, the last, and those between that are far enough apart."""
    ordered = sorted(sizes, key=size_order)
    place = {size: mean_bytes(size) for size in ordered}
    apart = _LABELS_APART * _octaves(place[ordered[0]] / _MARGIN, place[ordered[-1]] * _MARGIN)
    kept = [ordered[0]]
    for size in ordered[1:-1]:
        if min(_octaves(place[kept[-1]], place[size]), _octaves(place[size], place[ordered[-1]])) >= apart:
            kept.append(size)
    return kept if len(ordered) == 1 else [*kept, ordered[-1]]


def _octaves(low: float, high: float) -> float:
    return math.log2(high / low)


def legend(axes: Axes) -> None:
    """Below the chart, where it hides nothing; in as many columns as there is room for."""
    labels = axes.get_legend_handles_labels()[1]
    widest = max(len(label) for label in labels)
    columns = max(1, min(len(labels), _LEGEND_LETTERS // (widest + _LEGEND_MARK)))
    axes.figure.legend(
        frameon=False, fontsize=SMALL, ncols=columns, loc="outside lower center", handletextpad=0.4, columnspacing=1.4
    )
