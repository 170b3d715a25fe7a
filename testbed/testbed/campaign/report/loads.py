# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""At which loads the latencies of several devices were measured: only those at the same load are compared."""

from __future__ import annotations

from testbed.campaign.folder import CampaignFolder
from testbed.campaign.measurements.latency import LatencyFound
from testbed.campaign.sizes import Size, size_in_words, size_order, sizes_in_words

# (directions, flows)
Kind = tuple[int, int]


def _loads(record: CampaignFolder, kind: Kind) -> dict[Size, dict[str, LatencyFound]]:
    """By size and device."""
    found: dict[Size, dict[str, LatencyFound]] = {}
    for finding, result in record.found(LatencyFound):
        if (finding.directions, finding.flows) == kind:
            found.setdefault(finding.size, {})[finding.device] = result
    return found


def with_other_loads(record: CampaignFolder, kind: Kind) -> set[Size]:
    """The sizes at which the devices had different loads."""
    return {
        size for size, devices in _loads(record, kind).items() if len({one.load_fps for one in devices.values()}) > 1
    }


def loads_in_words(record: CampaignFolder, kind: Kind) -> list[str]:
    """At which loads latency and jitter are compared, and where they are not; nothing of a single device."""
    found = {size: devices for size, devices in _loads(record, kind).items() if len(devices) > 1}
    apart = sorted(with_other_loads(record, kind), key=size_order)
    same: dict[str, list[str]] = {}
    for size, devices in sorted(found.items(), key=lambda one: size_order(one[0])):
        if size not in apart:
            first = next(iter(devices.values()))
            same.setdefault(first.load_is, []).append(f"{first.load_fps / 1e6:.4f} Mpps at {size_in_words(size)}")
    lines = [
        f"Latency and jitter are those of all devices at the same load: {', '.join(loads)}{f', {why}' if why else ''}."
        for why, loads in same.items()
    ]
    if apart:
        lines.append(
            f"Latency and jitter at {sizes_in_words(apart)} are not drawn: each device had a load of its own, and they "
            "are not compared. The table Latency has them."
        )
    return lines
