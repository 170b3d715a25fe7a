# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The first table of a report: throughput, latency and loss of each device by frame size, with their intervals.

The page and Markdown show it as it reads; `overview.csv` has the same figures as numbers.
"""

from __future__ import annotations

from testbed.campaign.csv_files import csv_text, frame_cells
from testbed.campaign.folder import CampaignFolder
from testbed.campaign.measurements.frame_loss import FrameLoss
from testbed.campaign.measurements.latency import LatencyFound
from testbed.campaign.measurements.result import Measured
from testbed.campaign.measurements.throughput import Throughput
from testbed.campaign.report.campaign_verdict import overall_grade
from testbed.campaign.summary import frames_in_words
from testbed.page.tables import ABSENT, Row, Table, without_empty_columns

_BOUNDS, _STREAMS, _ALL_LOSSES = "Its bounds [Mpps]", "Streams", "Loss in all trials there"
_COLUMNS = (
    "Throughput [Mpps]",
    _BOUNDS,
    "Average latency [µs]",
    "Its range [µs]",
    _STREAMS,
    "Loss [%]",
    _ALL_LOSSES,
)
# Of `overview.csv`: no column of numbers has words.
_CSV_COLUMNS = (
    *("campaign", "started", "campaign_grade", "device", "size_bytes", "mixture", "directions", "flows"),
    *("throughput_mpps", "throughput_is", "upper_bound_mpps"),
    *("latency_us", "latency_least_us", "latency_most_us", "latency_streams"),
    *("loss_percent", "loss_load_mpps", "loss_least_percent", "loss_most_percent"),
)
# The columns before the figures.
_CSV_HEAD = _CSV_COLUMNS.index("throughput_mpps")
_LOWER_BOUND, _LINE_RATE, _FOUND = "lower bound: the highest rate offered", "rate of the line", "found"


def overview_table(record: CampaignFolder) -> Table:
    """A row for each kind of frames and device; empty without a throughput, a latency and a loss."""
    rows: dict[tuple[str, str], list[str]] = {}
    for finding, result in record.found(Measured):
        cells = rows.setdefault((frames_in_words(finding), finding.device), [ABSENT] * len(_COLUMNS))
        if isinstance(result, Throughput):
            cells[0:2] = _throughput(result)
        elif isinstance(result, LatencyFound):
            sample = result.average_ns
            several = len(sample.values) > 1
            span = f"{sample.least / 1e3:,.2f} to {sample.most / 1e3:,.2f}" if several else ABSENT
            cells[2:5] = [f"{sample.mean / 1e3:,.2f}", span, str(len(sample.values))]
        elif isinstance(result, FrameLoss):
            top = result.points[0]
            others = top.of_all.in_words if top.of_all else ""
            cells[5:7] = [f"{top.loss_percent:.4g} at {top.load_fps / 1e6:.4f} Mpps", others or ABSENT]
    known = [Row([*head, *cells]) for head, cells in rows.items() if set(cells) != {ABSENT}]
    return without_empty_columns(Table("Overview", ["Frames", "Device", *_COLUMNS], known, text_columns=2))


def overview_note(table: Table) -> str:
    """What the columns are that the table has."""
    sentences = {
        _BOUNDS: "Throughput: the highest rate without loss, and the bounds between which the search ended.",
        _STREAMS: "Latency: the mean over the streams, at the load of the table Latency, the range of the streams' "
        "means, and how many streams there were.",
        "Loss [%]": "Loss: at the highest load.",
        _ALL_LOSSES: "Loss in all trials there: the range over all trials at that load.",
    }
    found = [words for name, words in sentences.items() if name in table.columns]
    if any(cell.startswith("≥") for row in table.rows for cell in row.cells):
        found.append("≥: a lower bound, since no higher rate was offered.")
    return " ".join(["Rates are per direction.", *found])


def _bounds(result: Throughput) -> tuple[str, float | None]:
    """What a throughput is, and the lowest rate that loses frames, in frames/s, where it was found."""
    if result.generator_was_limit:
        return _LOWER_BOUND, None
    return (_LINE_RATE, None) if result.above_fps is None else (_FOUND, result.above_fps)


def _throughput(result: Throughput) -> list[str]:
    """The rate and its bounds, or what stands in its place."""
    if result.throughput_fps is None:
        return ["unknown", result.partial_drop or "pauses of the machine"]
    low, (kind, high_fps) = f"{result.throughput_fps / 1e6:.4f}", _bounds(result)
    if high_fps is not None:
        return [low, f"{low} to {high_fps / 1e6:.4f}"]
    return [f"≥ {low}", "none: highest rate offered"] if kind == _LOWER_BOUND else [low, f"{low}, the line's rate"]


def overview_csv(record: CampaignFolder) -> str:
    """The same for spreadsheets, with what identifies the campaign in each row."""
    summary = record.summary
    rows: dict[tuple[str, str], dict[str, object]] = {}
    for finding, result in record.found(Measured):
        size_bytes, mixture = frame_cells(finding.size)
        row = rows.setdefault(
            (frames_in_words(finding), finding.device),
            {
                "campaign": summary.campaign,
                "started": summary.started.isoformat(),
                "campaign_grade": overall_grade(summary),
                "device": finding.device,
                "size_bytes": size_bytes,
                "mixture": mixture,
                "directions": finding.directions,
                "flows": finding.flows,
            },
        )
        row |= _csv_figures(result)
    lines = [[row.get(name) for name in _CSV_COLUMNS] for row in rows.values() if len(row) > _CSV_HEAD]
    return csv_text(_CSV_COLUMNS, lines)


def _csv_figures(result: Measured) -> dict[str, object]:
    if isinstance(result, Throughput):
        fps, (kind, high_fps) = result.throughput_fps, _bounds(result)
        if fps is None:
            return {"throughput_is": f"unknown: {result.partial_drop or 'pauses of the machine'}"}
        high = None if high_fps is None else high_fps / 1e6
        return {"throughput_mpps": fps / 1e6, "throughput_is": kind, "upper_bound_mpps": high}
    if isinstance(result, LatencyFound):
        sample = result.average_ns
        return {
            "latency_us": sample.mean / 1e3,
            "latency_least_us": sample.least / 1e3,
            "latency_most_us": sample.most / 1e3,
            "latency_streams": len(sample.values),
        }
    if isinstance(result, FrameLoss):
        top = result.points[0]
        return {
            "loss_percent": top.loss_percent,
            "loss_load_mpps": top.load_fps / 1e6,
            "loss_least_percent": top.of_all.least_percent if top.of_all else None,
            "loss_most_percent": top.of_all.most_percent if top.of_all else None,
        }
    return {}
