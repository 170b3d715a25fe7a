# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The charts of the comparison: the article's Figures 7 to 13, and further charts."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.ticker
from matplotlib.axes import Axes

from testbed.page.charts import COLOURS, MUTED, SERIES, TEXT, draw, label_logarithm
from testbed.parsing.comparison import (
    C_KERNELS,
    INSTRUCTIONS,
    LIMIT,
    RESIDENCIES,
    Place,
    Quantity,
    in_place,
    is_crate,
    ranking,
    time_in,
)
from testbed.parsing.record import (
    LTO_FAT,
    LTO_OFF,
    Build,
    Library,
    ParsingRecord,
    Residency,
    Variant,
    Workload,
)

# The article has a figure of each of these libraries without and with LTO, and two of all of them.
ARTICLE_FIGURES = {
    "etherparse-builder": 7,
    "etherparse-cursor": 8,
    "etherparse-slices": 9,
    "pnet": 10,
    "smoltcp": 11,
}
ARTICLE_OF_ALL = {LTO_FAT: 12, LTO_OFF: 13}
_LTO_COLOURS = {LTO_OFF: SERIES[1], LTO_FAT: SERIES[0]}
_LTO_WORDS = {LTO_OFF: "no LTO", LTO_FAT: "fat LTO"}
_SMALL = 9.5

# The kinds of libraries, each with a colour and a mark, so that colour is not the only distinction.
_KINDS: list[tuple[str, Callable[[Library], bool], str, str]] = [
    ("the limit", lambda library: library.name == LIMIT, TEXT, "|"),
    ("C", lambda library: library.name in C_KERNELS, COLOURS["C"], "o"),
    ("by hand, safe", lambda library: not is_crate(library), SERIES[2], "s"),
    ("crate, writes in place", in_place, COLOURS["Rust"], "D"),
    ("crate, copies or builds", lambda library: library.way is not None, SERIES[3], "^"),
    ("crate", lambda library: True, COLOURS["Rust"], "D"),
]


def lto_chart(record: ParsingRecord, library: Library, quantity: Quantity) -> tuple[str, str] | None:
    """(caption, chart) of one library without and with LTO, workload by workload; the article's Figures 7 to 11."""
    builds = [(variant, build) for variant in (LTO_OFF, LTO_FAT) if (build := record.build(variant))]
    workloads = [
        workload
        for workload in record.workloads
        if any(_place(build, library, workload, quantity) for _, build in builds)
    ]
    if not workloads:
        return None

    def paint(axes: Axes) -> None:
        places = {workload: len(workloads) - number for number, workload in enumerate(workloads)}
        most = 0.0
        for (variant, build), offset in zip(builds, (0.19, -0.19), strict=False):
            found = [(workload, _place(build, library, workload, quantity)) for workload in workloads]
            known = [(places[workload] + offset, place) for workload, place in found if place]
            values = [place.value for _, place in known]
            heights = [height for height, _ in known]
            axes.barh(heights, values, height=0.36, color=_LTO_COLOURS[variant], label=_LTO_WORDS[variant])
            for height, place in known:
                end = _interval(axes, place, quantity, height)
                axes.annotate(
                    f"{place.value:,.1f}", (end, height), (4, 0), textcoords="offset points", va="center", size=_SMALL
                )
            most = max([most, *values, *(_ends(place, quantity)[1] for _, place in known)])
        axes.set_yticks(list(places.values()), list(places))
        axes.set_xlim(0, 1.18 * most)
        axes.xaxis.set_major_locator(matplotlib.ticker.MaxNLocator(5))
        axes.set_xlabel(quantity.unit)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")
        axes.legend(frameon=False, fontsize=_SMALL, ncols=2, loc="lower left", bbox_to_anchor=(0, 1.0))

    number = ARTICLE_FIGURES.get(library.name)
    caption = library.name + (f" (Figure {number})" if number else "")
    label = f"{library.name}: {quantity.title}, without and with LTO"
    return caption, draw(f"lto-{library.name}", 1.15 + 0.5 * len(workloads), paint, label)


def all_chart(
    record: ParsingRecord, variant: Variant, workload: Workload, quantity: Quantity
) -> tuple[str, str] | None:
    """(caption, chart) of all libraries in one variant; of W1 the article's Figures 12 and 13."""
    places = ranking(record, record.build(variant), workload, quantity)
    if not places:
        return None

    def paint(axes: Axes) -> None:
        rows = range(len(places), 0, -1)
        if any(place.library.name == LIMIT for place in places):
            limit = next(place.value for place in places if place.library.name == LIMIT)
            axes.axvline(limit, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
        kinds: dict[str, None] = {}
        for row, place in zip(rows, places, strict=True):
            kind, _, colour, marker = next(entry for entry in _KINDS if entry[1](place.library))
            label = None if kind in kinds else kind
            kinds[kind] = None
            end = _interval(axes, place, quantity, row, colour)
            axes.plot(
                [place.value], [row], linestyle="none", marker=marker, markersize=8 if marker == "|" else 6,
                markeredgewidth=2.5 if marker == "|" else 1, color=colour, label=label,
            )  # fmt: skip
            text = f"{place.value:,.1f}"
            axes.annotate(text, (end, row), (7, 0), textcoords="offset points", va="center", size=_SMALL)
        axes.set_yticks(list(rows), [place.library.name for place in places])
        axes.tick_params(axis="y", labelsize=_SMALL, length=0)
        _logarithmic(axes, [end for place in places for end in _ends(place, quantity)])
        axes.set_xlabel(f"{quantity.unit}, logarithmic")
        axes.grid(axis="x")
        axes.figure.legend(
            frameon=False, fontsize=_SMALL, ncols=2, loc="outside lower center", handletextpad=0.3, columnspacing=1.2
        )

    words = _LTO_WORDS.get(variant, variant.describe())
    caption = f"{workload}, {words}: {quantity.title}"
    number = ARTICLE_OF_ALL.get(variant)
    if number and workload is Workload.W1 and quantity.residency:
        caption += f" (Figure {number})"
    name = f"all-{variant.name}-{workload}-{quantity.residency or 'instructions'}"
    return caption, draw(name, 1.5 + 0.235 * len(places), paint, caption)


_MARKS = {Residency.HOT: "o", Residency.L2: "s", Residency.COLD: "D", Residency.COLD_PREFETCH: "^"}


def residency_chart(record: ParsingRecord, workload: Workload) -> tuple[str, str] | None:
    """(caption, chart) of all libraries with fat LTO wherever the frames were; None if they were in one place only."""
    fat = record.build(LTO_FAT)
    times = {one: {p.library.name: p for p in ranking(record, fat, workload, time_in(one))} for one in Residency}
    times = {one: places for one, places in times.items() if places}
    if len(times) < 2:
        return None
    first = next(iter(times.values()))

    def paint(axes: Axes) -> None:
        rows = {name: len(first) - number for number, name in enumerate(first)}
        for name, row in rows.items():
            values = [places[name].value for places in times.values() if name in places]
            axes.plot([min(values), max(values)], [row, row], color=MUTED, linewidth=0.8, zorder=1)
        for (residency, places), colour in zip(times.items(), SERIES, strict=False):
            known = [(place.value, rows[name]) for name, place in places.items() if name in rows]
            values, heights = [value for value, _ in known], [height for _, height in known]
            axes.plot(
                values, heights, linestyle="none", marker=_MARKS[residency], markersize=6, color=colour,
                label=RESIDENCIES[residency],
            )  # fmt: skip
        axes.set_yticks(list(rows.values()), list(rows))
        axes.tick_params(axis="y", labelsize=_SMALL, length=0)
        _logarithmic(axes, [place.value for places in times.values() for place in places.values()])
        axes.set_xlabel("ns per frame, logarithmic")
        axes.grid(axis="x")
        axes.figure.legend(
            frameon=False, fontsize=_SMALL, ncols=2, loc="outside lower center", handletextpad=0.3, columnspacing=1.2
        )

    caption = f"{workload}, fat LTO: time by where the frames are"
    return caption, draw(f"residency-{workload}", 1.5 + 0.235 * len(first), paint, caption)


def workload_charts(record: ParsingRecord, workload: Workload) -> list[tuple[str, str]]:
    """(caption, chart) of one workload: instructions with LTO, and times by residency."""
    found = [all_chart(record, LTO_FAT, workload, INSTRUCTIONS), residency_chart(record, workload)]
    return [chart for chart in found if chart]


def _place(build: Build, library: Library, workload: Workload, quantity: Quantity) -> Place | None:
    kernel = build.kernel(library.name, workload) if library.measurable(workload) else None
    value = quantity.of(kernel) if kernel else None
    return Place(library, kernel, value) if kernel is not None and value is not None else None


def _interval(axes: Axes, place: Place, quantity: Quantity, row: float, colour: str = TEXT) -> float:
    """Draws the interval of a time; where it ends, for text that follows it."""
    low, high = _ends(place, quantity)
    if low < high:
        axes.plot([low, high], [row, row], color=colour, linewidth=2, solid_capstyle="butt")
    return high


def _ends(place: Place, quantity: Quantity) -> tuple[float, float]:
    """Of the interval; what is exact has none."""
    timing = quantity.timing(place.kernel)
    return (min(timing.low, place.value), max(timing.high, place.value)) if timing else (place.value, place.value)


def _logarithmic(axes: Axes, values: list[float]) -> None:
    axes.set_xscale("log")
    # Room on the right for the figure after the largest value.
    span = max(values) / min(values)
    axes.set_xlim(min(values) / 1.25, max(values) * span**0.16 * 1.25)
    label_logarithm(axes.xaxis, values)
