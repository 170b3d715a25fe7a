# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""At which loads the latencies of several devices were measured: only those at the same load are compared."""

from __future__ import annotations

from testbed.campaign.folder import CampaignFolder
from testbed.campaign.measurements.latency import LatencyFound
from testbed.campaign.measurements.throughput import Throughput
from testbed.campaign.sizes import Size, size_in_words, size_order, sizes_in_words

# (directions, flows)
Kind = tuple[int, int]


def ceilings_in_words(record: CampaignFolder) -> list[str]:
    """What the set-up offers with each device, where one was offered less, so that all have the same."""
    able: dict[int, dict[str, list[str]]] = {}
    sizes: dict[int, dict[Size, None]] = {}
    lowered = set()
    for finding, result in record.found(Throughput):
        setup = record.evidence.joined.get(f"{finding.device}/{finding.directions}way")
        fps = setup.max_fps_by_size.get(finding.size) if setup is not None else None
        if fps is not None and finding.flows == record.frame_kinds[0][1]:
            able.setdefault(finding.directions, {}).setdefault(finding.device, []).append(f"{fps / 1e6:.4f}")
            sizes.setdefault(finding.directions, {})[finding.size] = None
            if result.max_fps < fps:
                lowered.add(finding.directions)
    return [
        f"Ceiling of the set-up at {sizes_in_words(sizes[ways])}: "
        + "; ".join(f"{', '.join(rates)} Mpps with {device}" for device, rates in able[ways].items())
        + ". All devices were tested up to the lowest of each."
        for ways in sorted(lowered)
    ]


def ceiling_in_words(record: CampaignFolder) -> list[str]:
    """How the embedded generator's highest rate is found, where it was the limit."""
    embedded = any(setup.generator == "embedded" for setup in record.evidence.joined.values())
    if not embedded or not any(result.generator_was_limit for _, result in record.found(Throughput)):
        return []
    # The numbers are those of `embedded/calibration.py`.
    return [
        "The highest rate offered was found before the first trial (calibration): at most 80 % of a rate that the "
        "generator kept with the device for 0.5 s, as a reserve to catch up after pauses, and less where bursts of 300 "
        "to 3,000 frames did not keep that. It is a limit of generator, wire and device together: a faster "
        "generator may show more of the device."
    ]


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
