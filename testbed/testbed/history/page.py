# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The curves of a store, as one page that needs nothing else."""

from __future__ import annotations

from html import escape
from pathlib import Path

from matplotlib.axes import Axes

from testbed import __version__
from testbed.history.trend import Key, Series, chance_in_words, commit_in_words, shown
from testbed.page.charts import SERIES, TEXT, draw
from testbed.page.skeleton import page_templates
from testbed.page.tables import Row, Table
from testbed.run.results_folder import ResultsError, write_atomically

_HEIGHT = 3.4
# Of the runs along the axis at most so many are named.
_LABELS = 8
_MARKERS = ("o", "s", "^", "D", "v", "P")


def write_page(path: Path, series: list[Series]) -> None:
    """Writes the page.

    Raises `ResultsError`.
    """
    if not series:
        raise ResultsError("no figure in the store is of what was asked for: ask for less, or add folders")
    write_atomically(path, render(series))


def render(series: list[Series]) -> str:
    """The page."""
    started = sorted({point.run.started for one in series for point in one.points})
    found = sum(len(one.changes) for one in series)
    curves: dict[str, list[tuple[str, str]]] = {}
    for number, mine in enumerate(_together(series)):
        key = mine[0].key
        label = f"{key.title}: {key.of_what()}"
        curves.setdefault(key.title, []).append((key.of_what(), _chart(number, label, mine)))
    return (
        page_templates()
        .get_template("history.html")
        .render(
            version=__version__,
            verdict=f"{found or 'No'} change{'' if found == 1 else 's'} of level in {len(series)} series.",
            chance=chance_in_words(series),
            runs=len({point.run.campaign for one in series for point in one.points}),
            first=started[0],
            last=started[-1],
            changes=changes_table(series),
            curves=curves.items(),
        )
    )


def changes_table(series: list[Series]) -> Table:
    """Every change, the surest first."""
    table = Table(
        "Changes",
        ["Device", "Figure", "Level", "Change", "Confidence", "Since, and what differs from the run before"],
        text_columns=2,
        ends_in_text=True,
    )
    found = [(change, one) for one in series for change in one.changes]
    for change, one in sorted(found, key=lambda pair: -pair[0].confidence):
        words = one.words_of(change)
        cells = [words.levels, words.ratio, words.confidence, f"{words.since}: {words.changed_with}"]
        table.rows.append(Row([one.key.device, f"{one.key.title}: {one.key.of_what()}", *cells]))
    return table


def _together(series: list[Series]) -> list[list[Series]]:
    """The devices of each chart."""
    found: dict[Key, list[Series]] = {}
    for one in series:
        found.setdefault(one.key._replace(device=""), []).append(one)
    return list(found.values())


def _chart(number: int, label: str, series: list[Series]) -> str:
    points = {point.run.campaign: point for one in series for point in one.points}
    ordered = sorted(points.values(), key=lambda point: (point.run.started, point.run.campaign))
    places = {point.run.campaign: place for place, point in enumerate(ordered)}
    scale, unit, _ = shown(series[0].unit)

    def paint(axes: Axes) -> None:
        for index, one in enumerate(series):
            colour, at = SERIES[index % len(SERIES)], [places[point.run.campaign] for point in one.points]
            figures = [point.figure for point in one.points]
            values = [figure.value / scale for figure in figures]
            below = [
                max(0.0, v - (f.value if f.low is None else f.low) / scale)
                for v, f in zip(values, figures, strict=True)
            ]
            above = [
                max(0.0, (f.value if f.high is None else f.high) / scale - v)
                for v, f in zip(values, figures, strict=True)
            ]
            axes.errorbar(
                at,
                values,
                yerr=[below, above],
                marker=_MARKERS[index % len(_MARKERS)],
                color=colour,
                linewidth=1,
                elinewidth=0.7,
                label=one.key.device,
            )
            ends = [0, *(change.at for change in one.changes), len(at)]
            levels = [*(change.before for change in one.changes), *(change.after for change in one.changes[-1:])]
            for begin, end, level in zip(ends, ends[1:], levels, strict=False):
                axes.hlines(level / scale, at[begin], at[end - 1], color=TEXT, linestyle="--", linewidth=1.2, zorder=3)
        step = -(-len(ordered) // _LABELS)
        named = ordered[::step]
        axes.set_xticks(
            range(0, len(ordered), step), [commit_in_words(point) for point in named], rotation=30, ha="right"
        )
        axes.set_ylabel(unit or "ratio")
        axes.grid(axis="y")
        axes.legend(frameon=False, fontsize=9.5, loc="lower left", bbox_to_anchor=(0, 1), ncols=2)

    return draw(f"history-{number}", _HEIGHT, paint, escape(label))
