# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the generator was asked for before the first trial, and what it kept: where its highest rates come from."""

from __future__ import annotations

from testbed.campaign.folder import Evidence
from testbed.campaign.sizes import size_in_words
from testbed.campaign.traffic_generator import CalibrationTry
from testbed.page.tables import ABSENT, Row, Table, figure, without_empty_columns


def calibration_table(evidence: Evidence) -> Table:
    """A row for each set-up, size, depth of the queues and load; empty of a generator that tries nothing."""
    columns = ["Device", "Frames", "Load", "A queue holds [frames]", "Tries", "Lowest not kept [Mpps]"]
    table = Table("Calibration", [*columns, "Kept [Mpps]"], text_columns=3)
    for joined, setup in evidence.joined.items():
        groups: dict[tuple[object, ...], list[CalibrationTry]] = {}
        for one in setup.calibration:
            groups.setdefault((one.size, one.burst_frames, one.ring_frames), []).append(one)
        for tries in groups.values():
            first = tries[0]
            load = "continuous" if first.burst_frames is None else f"burst of {first.burst_frames:,}"
            missed = min((one.asked_fps for one in tries if not one.kept), default=None)
            kept = max((one.asked_fps for one in tries if one.kept), default=None)
            cells = [joined.partition("/")[0], size_in_words(first.size), load]
            cells += [ABSENT if first.ring_frames is None else f"{first.ring_frames:,}", str(len(tries))]
            cells += [figure(None if fps is None else fps / 1e6, ".4f") for fps in (missed, kept)]
            table.rows.append(Row(cells))
    return without_empty_columns(table)
