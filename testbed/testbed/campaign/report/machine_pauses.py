# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""How long the machine kept generator and devices from their queues, and what the queues between them hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

from testbed.campaign.folder import CampaignFolder, Evidence
from testbed.campaign.measurements.latency import LatencyFound
from testbed.campaign.summary import frames_in_words
from testbed.campaign.trial import GAP_LIMITS_S, Gaps, TrialResult
from testbed.campaign.validity import own_stall
from testbed.page.tables import Row, Table


def pauses_table(evidence: Evidence, devices: Sequence[str]) -> Table:
    """A row for the generator and one for each device; over all trials, the invalid ones too."""
    columns = ["Program", "Trials", *(f"Gaps above {1000 * limit_s:g} ms" for limit_s in GAP_LIMITS_S.values())]
    columns += ["Longest, median [ms]", "Longest, 99 % [ms]", "Longest of all [ms]"]
    table = Table("Pauses of the machine", columns)
    for program in ("generator", *devices):
        gaps = list(_gaps(evidence, None if program == "generator" else program))
        if gaps:
            longest = sorted(1000 * one.longest_s for one in gaps)
            counts = [f"{sum(getattr(one, name) for one in gaps):,}" for name in GAP_LIMITS_S]
            # Of a hundred trials or fewer, the longest of all.
            late = longest[min(len(longest) - 1, len(longest) * 99 // 100)]
            figures = [f"{milliseconds:.3f}" for milliseconds in (median(longest), late, longest[-1])]
            table.rows.append(Row([program, f"{len(gaps):,}", *counts, *figures]))
    return table


def _gaps(evidence: Evidence, device: str | None) -> Iterator[Gaps]:
    """In each trial, of a device, or of the generator."""
    for place, result in evidence.trials:
        gaps = result.generator_gaps if device is None else result.device_gaps
        if gaps is not None and device in (None, place.partition("/")[0]):
            yield gaps


def causes_in_words(evidence: Evidence, devices: Sequence[str]) -> list[str]:
    """How long the gaps of each program took, and for how long others had its CPU; which trials a device stalled in."""
    lines = []
    for program in ("generator", *devices):
        told = list(_taken(evidence, None if program == "generator" else program))
        known = [(gaps, taken_s) for gaps, taken_s in told if gaps is not None and taken_s is not None]
        if known:
            least_s, taken_s = sum(_least_s(gaps) for gaps, _ in known), sum(taken for _, taken in known)
            own_s = f": {least_s - taken_s:.2g} s or more were its own" if least_s > taken_s else ""
            who = "the generator" if program == "generator" else program
            lines.append(
                f"The gaps of {who} took at least {least_s:.2g} s in {len(known):,} trials; others (programs, "
                f"interrupts, the hypervisor) had its CPU in these trials for at most {taken_s:.2g} s{own_s}."
            )
        mine = [result for place, result in evidence.trials if place.partition("/")[0] == program]
        if stalled := sum(own_stall(one, one.ring_frames) for one in mine):
            lines.append(
                f"In {stalled:,} trials {program} stalled by itself for longer than a queue holds frames. That makes "
                "no trial invalid: what was lost is its loss."
            )
    return lines


def _taken(evidence: Evidence, device: str | None) -> Iterator[tuple[Gaps | None, float | None]]:
    """The gaps of each trial and for how long others had the CPU, of a device, or of the generator."""
    for place, result in evidence.trials:
        if device is None:
            told = result.raw.get("generator", {})
            known = "cpu_share" in told and "duration_s" in told
            yield result.generator_gaps, (1 - told["cpu_share"]) * told["duration_s"] if known else None
        elif place.partition("/")[0] == device:
            yield result.device_gaps, result.device_taken_s


def slowest_frames_words(record: CampaignFolder) -> list[str]:
    """Of each measurement of latency, which pauses of its stream were as long as the slowest frame took."""
    words: dict[str, list[str]] = {}
    for finding, _ in record.found(LatencyFound):
        # Its latency, and the longest pauses of generator and device in its stream.
        slowest: tuple[float, float, float] | None = None
        for place, result in record.evidence.trials:
            if place == finding.place and isinstance(result, TrialResult) and result.valid and result.latency:
                ours, theirs = result.generator_gaps, result.device_gaps
                if (ours or theirs) and result.latency.max is not None:
                    pauses_s = (ours.longest_s if ours else 0.0, theirs.longest_s if theirs else 0.0)
                    slowest = max(slowest or (0.0, 0.0, 0.0), (result.latency.max / 1e9, *pauses_s))
        if slowest is not None:
            most_s, generator_s, device_s = slowest
            words.setdefault(_as_long_as(most_s, generator_s, device_s), []).append(
                f"{finding.device}, {frames_in_words(finding)}: {1000 * most_s:.3g} ms, {1000 * generator_s:.3g} ms "
                f"and {1000 * device_s:.3g} ms"
            )
    return [
        f"{begin} (the slowest frame, then the longest pauses of generator and device in its stream): "
        f"{'; '.join(found)}."
        for begin, found in words.items()
    ]


def _as_long_as(most_s: float, generator_s: float, device_s: float) -> str:
    """Which pauses are as long as a frame took. A gap of the device is given up to 0.1 ms too short."""
    slack_s = GAP_LIMITS_S["above_100us"]
    for who, paused_s in (("of the generator", generator_s), ("of the device", device_s)):
        if most_s <= paused_s + slack_s:
            return f"A pause {who} was as long as the slowest frame took"
    if most_s <= generator_s + device_s + slack_s:
        return "Only a pause of the generator and one of the device together were as long as the slowest frame took"
    return "No recorded pause was as long as the slowest frame took"


def _least_s(gaps: Gaps) -> float:
    """How long all gaps took at least: each the limit that it exceeded, but the longest itself."""
    limits = list(zip(GAP_LIMITS_S, GAP_LIMITS_S.values(), strict=True))
    reached = sum(
        (limit_s - below_s) * getattr(gaps, name)
        for (name, limit_s), below_s in zip(limits, [0.0, *GAP_LIMITS_S.values()], strict=False)
    )
    longest_limit_s = max((limit_s for _, limit_s in limits if limit_s < gaps.longest_s), default=0.0)
    return reached + gaps.longest_s - longest_limit_s


def rings_words(evidence: Evidence) -> list[str]:
    """What the queues between generator and devices hold, and why."""
    depths = sorted({result.ring_frames for _, result in evidence.trials if result.ring_frames is not None})
    if not depths:
        return []
    lines = [f"The queue to a device holds {' or '.join(f'{depth:,}' for depth in depths)} frames."]
    pauses_s = [one.pause_s for one in evidence.joined.values() if one.pause_s is not None]
    told = [gaps for _, one in evidence.trials for gaps in (one.generator_gaps, one.device_gaps)]
    pauses_s += [gaps.longest_s for gaps in told if gaps is not None]
    loads = [one.plan.load_fps for _, one in evidence.trials if isinstance(one, TrialResult)]
    if pauses_s and loads:
        longest_s, load = max(pauses_s), max(loads)
        due = round(longest_s * load)
        enough = (
            "the queues hold them"
            if due <= depths[0]
            else f"more than the queues hold: above {depths[0] / longest_s / 1e6:.3g} Mpps a trial with such a pause "
            "is disturbed, and repeated"
        )
        lines.append(
            f"The longest pause, at calibration or in a trial, took {1000 * longest_s:.3g} ms. At the highest load of "
            f"a trial, {load / 1e6:.3g} Mpps, {due:,} frames are due in it: {enough}."
        )
    return [*lines, *_longest_in_words(evidence), *_without_words(evidence)]


def _longest_in_words(evidence: Evidence) -> list[str]:
    """The pause of a valid trial in which most of what its queue holds was due."""
    most, words = 0.0, []
    for _, result in evidence.trials:
        if isinstance(result, TrialResult) and result.valid and result.ring_frames is not None:
            gaps = [one.longest_s for one in (result.generator_gaps, result.device_gaps) if one is not None]
            gaps += [result.pacing.worst_lag_s or 0.0]
            longest_s, load_fps = max(gaps, default=0.0), result.plan.load_fps
            share = longest_s * load_fps / result.ring_frames
            if share > most:
                most = share
                words = [
                    f"The valid trial that came closest to a full queue had a load of {load_fps / 1e6:.3g} Mpps, and a "
                    f"pause, or a generator late by several, of {1000 * longest_s:.3g} ms, in which "
                    f"{round(longest_s * load_fps):,} frames were due."
                ]
    return words


def _without_words(evidence: Evidence) -> list[str]:
    """The trials whose pauses are not known."""
    unknown = Counter(place.rpartition("/")[2] for place, one in evidence.trials if one.generator_gaps is None)
    if not unknown:
        return []
    total = len(evidence.trials)
    tests = ", ".join(f"{count:,} of {test.replace('_', ' ')}" for test, count in unknown.items())
    return [f"The pauses of {total - sum(unknown.values()):,} of {total:,} trials are recorded. Without them: {tests}."]
