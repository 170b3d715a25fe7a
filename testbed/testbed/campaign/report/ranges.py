# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Whether the repetitions of two devices differ: the ranges of their latencies and of their reset times, in sentences.

Ranges that overlap show no difference. Ranges that do not are no proof of one: that takes the blocks of `compare`.
"""

from __future__ import annotations

from math import comb

from testbed.campaign.folder import CampaignFolder
from testbed.campaign.measurements.latency import LatencyFound
from testbed.campaign.measurements.reset import Reset
from testbed.campaign.measurements.result import Sample
from testbed.campaign.report.campaign_verdict import why_not_compared
from testbed.campaign.report.loads import with_other_loads
from testbed.campaign.report.tables import median_of
from testbed.campaign.summary import Finding, frames_in_words
from testbed.campaign.trial import TrialPlan

# By what is measured and on which frames, then by device.
_Samples = dict[str, dict[str, Sample]]
# An average that is so many times the median needs an explanation.
_FAR = 2.0


def latencies_compared(record: CampaignFolder) -> list[str]:
    """Of the average latencies, at the sizes at which the devices had the same load."""
    samples: _Samples = {}
    seconds: set[float] = set()
    for finding, result in record.found(LatencyFound):
        if finding.size not in with_other_loads(record, (finding.directions, finding.flows)):
            samples.setdefault(frames_in_words(finding), {})[finding.device] = result.average_ns
            seconds |= _stream_seconds(record, finding, result)
    how_long = f" of {seconds.pop():g} s" if len(seconds) == 1 else ""
    lines = _compared(record, "Average latency", samples, f"streams{how_long}")
    fewest = min((len(one.values) for devices in samples.values() for one in devices.values()), default=0)
    if lines and fewest > 1:
        # Of equal devices: all of one are below all of the other, or above.
        apart = comb(2 * fewest, fewest) / 2
        lines.append(
            f"Percentiles and jitter are not compared: of {fewest} streams each, the ranges of equal devices lie apart "
            f"by chance in 1 of {apart:,.0f} figures."
        )
    return lines


def _stream_seconds(record: CampaignFolder, finding: Finding, result: LatencyFound) -> set[float]:
    return {
        one.plan.duration_s
        for place, one in record.evidence.trials
        if place == finding.place and isinstance(one.plan, TrialPlan) and one.plan.load_fps == result.load_fps
    }


def resets_compared(record: CampaignFolder) -> list[str]:
    """Of the gaps that each kind of reset leaves."""
    kinds: dict[str, _Samples] = {}
    for finding, result in record.found(Reset):
        for time in result.times:
            samples = kinds.setdefault(time.kind, {})
            samples.setdefault(frames_in_words(finding), {})[finding.device] = time.gap_s
    return [
        line
        for kind, samples in kinds.items()
        for line in _compared(record, f"Gap after a reset of the {kind}", samples, "resets")
    ]


def _compared(record: CampaignFolder, what: str, samples: _Samples, repetitions: str) -> list[str]:
    """A sentence for each device beside the reference and each outcome."""
    reference = record.reference
    lines = []
    for other in (name for name in record.summary.devices if name != reference):
        both = {
            frames: (mine[other], mine[reference])
            for frames, mine in samples.items()
            if other in mine and reference in mine
        }
        if not both:
            continue
        if why := why_not_compared(record):
            lines.append(f"{what}: {other} and {reference} are not compared: {why}.")
            continue
        count = min(len(one.values) for pair in both.values() for one in pair)
        each = f"{count} {repetitions} with each device"
        if count < 2:
            lines.append(f"{what}: {other} and {reference} are not compared: one repetition has no range.")
            continue
        # By the device whose range is the lower one; None where they overlap.
        groups: dict[str | None, list[str]] = {}
        for frames, (ours, theirs) in both.items():
            lower = other if ours.most < theirs.least else reference if theirs.most < ours.least else None
            groups.setdefault(lower, []).append(frames)
        for lower, frames_of_group in groups.items():
            ranges = f"{what} at {'; '.join(frames_of_group)}: the ranges of {other} and {reference}"
            lines.append(
                f"{ranges} overlap in {each}, so no difference is shown."
                if lower is None
                else f"{ranges} do not overlap in {each}; that of {lower} is lower. So few repetitions are no proof: "
                "'./x testbed compare' tests it."
            )
    return lines


def averages_explained(record: CampaignFolder) -> list[str]:
    """Why an average is far above the median, where it is farthest."""
    far = [
        (stream.avg / stream.p50, finding, stream)
        for finding, result in record.found(LatencyFound)
        for stream in result.repetitions
        if stream.avg and stream.p50
    ]
    times, finding, stream = max(far, key=lambda one: one[0], default=(0.0, None, None))
    if finding is None or stream is None or times < _FAR:
        return []
    late_ns = median_of([stream], "p99")
    slow = f": 1 in 100 took {late_ns / 1e3:,.2f} µs or longer there" if late_ns is not None else ""
    gaps = any(one.generator_gaps is not None for _, one in record.evidence.trials)
    where = " The section Pauses of the machine has how often that was, and for how long." if gaps else ""
    return [
        f"The average of a stream is up to {times:.1f} times its median ({finding.device}, "
        f"{frames_in_words(finding)}), since a few frames take much longer than most{slow}. A frame waits while the "
        f"device or the generator does not look at its queue.{where}"
    ]
