# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The first table of a report: throughput, latency and loss of each device by frame size, with their intervals."""

from __future__ import annotations

from testbed.campaign.folder import CampaignFolder
from testbed.campaign.measurements.frame_loss import FrameLoss
from testbed.campaign.measurements.latency import LatencyFound
from testbed.campaign.measurements.result import Measured
from testbed.campaign.measurements.throughput import Throughput
from testbed.campaign.summary import frames_in_words
from testbed.page.tables import ABSENT, Row, Table, without_empty_columns

OVERVIEW_NOTE = (
    "Rates are per direction. Throughput: the highest rate without loss, and the bounds between which the search left "
    "it. Latency: the mean over the streams, at the load of the table Latency, and the range of the streams' means. "
    "Loss: at the highest load, and the range of all trials there."
)
_COLUMNS = (
    "Throughput [Mpps]",
    "Its bounds [Mpps]",
    "Average latency [µs]",
    "Its range [µs]",
    "Loss [%]",
    "In all trials there",
)


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
            cells[2:4] = [f"{sample.mean / 1e3:,.2f}", span]
        elif isinstance(result, FrameLoss):
            top = result.points[0]
            others = top.of_all.in_words if top.of_all else ""
            cells[4:6] = [f"{top.loss_percent:.4g} at {top.load_fps / 1e6:.4f} Mpps", others or ABSENT]
    known = [Row([*head, *cells]) for head, cells in rows.items() if set(cells) != {ABSENT}]
    return without_empty_columns(Table("Overview", ["Frames", "Device", *_COLUMNS], known, text_columns=2))


def _throughput(result: Throughput) -> list[str]:
    """The rate and its bounds, or what is told in its place."""
    if result.throughput_fps is None:
        return ["not told", result.partial_drop or "pauses of the machine"]
    low, high = f"{result.throughput_fps / 1e6:.4f}", result.above_fps
    if high is None or result.generator_was_limit:
        if result.generator_was_limit:
            return [f"≥ {low}", "none: highest rate offered"]
        return [low, f"{low}, the line's rate"]
    return [low, f"{low} to {high / 1e6:.4f}"]
