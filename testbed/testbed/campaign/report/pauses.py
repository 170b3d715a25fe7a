# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Where pauses of the machine allow no throughput, in sentences."""

from __future__ import annotations

from testbed.campaign.folder import CampaignFolder
from testbed.campaign.measurements.pause_bound import PauseBound
from testbed.campaign.measurements.throughput import Throughput
from testbed.campaign.sizes import Size, size_in_words


def pauses_in_words(record: CampaignFolder, kind: tuple[int, int]) -> list[str]:
    """A sentence for each size without a throughput: its lowest limit."""
    bounds: dict[Size, list[PauseBound]] = {}
    for finding, result in record.found(Throughput):
        if (finding.directions, finding.flows) == kind and result.pauses is not None:
            bounds.setdefault(finding.size, []).append(result.pauses)
    return [
        f"At {size_in_words(size)} no throughput is drawn: {min(mine, key=lambda one: one.limit_fps)}."
        for size, mine in bounds.items()
    ]
