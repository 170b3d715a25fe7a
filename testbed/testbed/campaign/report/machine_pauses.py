# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""How long the machine kept generator and devices from their queues, and what the queues between them hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

from testbed.campaign.folder import Evidence
from testbed.campaign.trial import GAP_LIMITS_S, Gaps, TrialResult
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


def rings_words(evidence: Evidence) -> list[str]:
    """What the queues between generator and devices hold, and why."""
    depths = sorted({result.ring_frames for _, result in evidence.trials if result.ring_frames is not None})
    if not depths:
        return []
    lines = [f"A queue between generator and device holds {' or '.join(f'{depth:,}' for depth in depths)} frames."]
    seen = [one for one in evidence.joined.values() if one.pause_s is not None]
    loads = [one.plan.load_fps for _, one in evidence.trials if isinstance(one, TrialResult)]
    if seen and loads:
        longest_s = max(one.pause_s or 0.0 for one in seen)
        load = max(loads)
        due = round(longest_s * load)
        enough = (
            "the queues hold them"
            if due <= depths[0]
            else f"more than the queues hold: above {depths[0] / longest_s / 1e6:.3g} Mpps a trial with such a pause "
            "is disturbed, and repeated"
        )
        lines.append(
            f"The longest pause at calibration took {1000 * longest_s:.3g} ms. At the highest load of a trial, "
            f"{load / 1e6:.3g} Mpps, {due:,} frames are due in it: {enough}."
        )
    return [*lines, *_longest_in_words(evidence), *_without_words(evidence)]


def _longest_in_words(evidence: Evidence) -> list[str]:
    """The pause of a valid trial in which most of what its queue holds was due."""
    most, words = 0.0, []
    for _, result in evidence.trials:
        if isinstance(result, TrialResult) and result.valid and result.ring_frames is not None:
            gaps = [one.longest_s for one in (result.generator_gaps, result.device_gaps) if one is not None]
            longest_s, load_fps = max(gaps, default=0.0), result.plan.load_fps
            share = longest_s * load_fps / result.ring_frames
            if share > most:
                most = share
                words = [
                    f"The valid trial that came closest to a full queue had a load of {load_fps / 1e6:.3g} Mpps and a "
                    f"pause of {1000 * longest_s:.3g} ms, in which {round(longest_s * load_fps):,} frames were due."
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
