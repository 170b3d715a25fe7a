# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Figures as CSV, for spreadsheets and data frames: each with its unit, and no words in a column of numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from testbed.campaign.compare.schedule import Figure
from testbed.campaign.compare.size_verdict import Comparison
from testbed.campaign.sizes import Size, is_mixture, mean_bytes
from testbed.campaign.summary import CampaignSummary

# Fields of a result that each row has anyway.
_IN_THE_HEAD = ("stream", "graded")
# How the name of a field says what it is counted in; the longer ones first.
_SUFFIXES = {"_percent": "%", "_frames": "frames", "_fps": "frames/s", "_ns": "ns", "_s": "s"}
_NAMES = {
    "fps": "frames/s",
    "frames": "frames",
    "lost": "frames",
    "lost_at": "frames",
    "percent": "%",
    "received": "frames",
    "seconds": "s",
    "sent": "frames",
}
# Of the streams of a latency and of its baseline: all but this one are nanoseconds.
_STREAMS, _COUNT = ("repetitions", "baseline"), "count"
# Each load of which has them too.
_LADDER = "ladder"

_CAMPAIGN_COLUMNS = ("device", "size_bytes", "mixture", "directions", "flows", "measurement", "status", "grade")
_COMPARISON_COLUMNS = (
    *("figure", "size_bytes", "mixture", "testbed", "device_a", "device_b", "a", "b", "unit"),
    *("ratio", "ratio_low", "ratio_high", "p_corrected", "noise_percent", "blocks", "verdict"),
)


def campaign_csv(summary: CampaignSummary) -> str:
    """Each figure of each finding in a row of its own."""
    rows: list[Sequence[object]] = []
    for finding in summary.findings:
        head = [finding.device, *frame_cells(finding.size), finding.directions, finding.flows]
        head += [finding.measurement, finding.status, finding.grade]
        figures = {name: value for name, value in (finding.result or {}).items() if name not in _IN_THE_HEAD}
        leaves = _leaves(figures) if finding.result else [("reason", finding.reason)]
        rows += [[*head, field, *_cells(field, value), finding.testbed] for field, value in leaves]
    return csv_text((*_CAMPAIGN_COLUMNS, "field", "value", "unit", "text", "testbed"), rows)


def comparison_csv(comparison: Comparison | None, testbeds: Mapping[Size, str]) -> str:
    """A figure at a size in each row; no row without a verdict."""
    rows: list[Sequence[object]] = []
    for found in comparison.verdicts if comparison is not None else []:
        told, ratio = comparison.settings, found.ratio
        edges = ratio.ci95 if ratio is not None and ratio.ci95 is not None else (None, None)
        rows.append(
            [
                *(found.figure, *frame_cells(found.size), testbeds.get(found.size), told.a, told.b, found.a, found.b),
                "ns" if found.figure is Figure.LATENCY else "frames/s",
                *(ratio.median if ratio is not None else None, *edges, found.corrected_p),
                100 * found.noise if found.noise is not None else None,
                *(len(ratio.samples) if ratio is not None else 0, found.verdict),
            ]
        )
    return csv_text(_COMPARISON_COLUMNS, rows)


def unit_of(field: str) -> str:
    """'ns' of 'average_ns.values.0': the last part of the name that says it counts."""
    parts = [part for part in field.split(".") if not part.isdigit()]
    if parts[0] in _STREAMS or (parts[0] == _LADDER and parts[1] in _STREAMS):
        return "" if parts[-1] == _COUNT else "ns"
    for part in reversed(parts):
        by_suffix = next((unit for suffix, unit in _SUFFIXES.items() if part.endswith(suffix)), None)
        if unit := _NAMES.get(part, by_suffix):
            return unit
    return ""


def frame_cells(size: Size) -> tuple[float, object]:
    """Bytes, and the name of a mixture, whose bytes are those of its average frame."""
    return mean_bytes(size), size if is_mixture(size) else ""


def _cells(field: str, value: object) -> tuple[object, str, object]:
    """Value, unit and text: a truth is 1 or 0, and words are text."""
    if isinstance(value, bool | int | float):
        return (int(value) if isinstance(value, bool) else value), "" if isinstance(value, bool) else unit_of(field), ""
    return "", "", value


def _leaves(value: Any, name: str = "") -> list[tuple[str, Any]]:
    """('a.b.0', 7) for each figure in a nested result; what is absent stays out."""
    if isinstance(value, dict):
        pairs = [(str(key), inner) for key, inner in value.items()]
    elif isinstance(value, list):
        pairs = [(str(number), inner) for number, inner in enumerate(value)]
    else:
        return [] if value is None else [(name, value)]
    return [leaf for key, inner in pairs for leaf in _leaves(inner, f"{name}.{key}" if name else key)]


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A file of these rows; what is None is an empty cell."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()
