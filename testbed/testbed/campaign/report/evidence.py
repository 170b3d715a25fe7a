# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The report's evidence: valid and invalid trials, places of loss, and the time spent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import median

from testbed.campaign.folder import Evidence
from testbed.campaign.trial import AnyResult, Place, ResetResult, StepPlan, TrialPlan, TrialResult
from testbed.campaign.validity import FOREIGN, Rules, checked
from testbed.page.tables import ABSENT, Row, Table, without_empty_columns

_AGAIN = "again"
_ORDER = tuple(Place)


@dataclass
class _Sum:
    """A sum over the trials of one test."""

    trials: int = 0
    invalid: int = 0
    seconds: float = 0.0


def validity_lines(evidence: Evidence) -> list[str]:
    """The number of valid trials, and how trials are proven."""
    total = len(evidence.trials)
    invalid = sum(not result.valid for _, result in evidence.trials)
    lines = [f"{total:,} trials: {total - invalid:,} valid, {invalid:,} invalid."]
    if invalid:
        lines.append(
            "An invalid trial is repeated. Its frames never count, not even as loss. It may have several reasons."
            + _lost_in_invalid(evidence)
        )
    if foreign := sum(checked(result, FOREIGN) for _, result in evidence.trials if result.valid):
        lines.append(f"{foreign:,} frames that were not sent came back in valid trials; they are not counted.")
    lines += [line for line in (_pacing_words(evidence), _uncertainty_words(evidence)) if line]
    lines.append(f"A valid trial offered its load within {100 * Rules().rate_tolerance:g} % of what was asked for.")
    for words in dict.fromkeys(_generator_words(evidence, setup) for setup in sorted(evidence.joined)):
        lines.append(words)
    return lines


def _lost_in_invalid(evidence: Evidence) -> str:
    """What would have counted as loss, so that nobody has to wonder."""
    invalid = [result for _, result in evidence.trials if isinstance(result, TrialResult) and not result.valid]
    lossy = [result for result in invalid if result.lost > 0]
    if not lossy:
        return ""
    lost, sent = sum(result.lost for result in lossy), sum(result.sent for result in lossy)
    return f" {len(lossy):,} of them, resets apart, lost frames: {lost:,} of {sent:,}."


def _pacing_words(evidence: Evidence) -> str | None:
    """How late the generator was in valid trials; None if it does not say."""
    told = [one for _, one in evidence.trials if one.valid and one.pacing.worst_lag_s is not None]
    if not told:
        return None
    caught_up, sent = sum(one.pacing.caught_up or 0 for one in told), sum(map(_left, told))
    words = []
    for is_reset, where in ((False, ""), (True, " in resets, whose gaps are between stamps")):
        lags_s = [one.pacing.worst_lag_s or 0.0 for one in told if isinstance(one, ResetResult) is is_reset]
        words += [f"{1000 * max(lags_s):.3g} ms{where}"] if lags_s else []
    return (
        f"In valid trials the generator was late by at most {', and by '.join(words)}. {sent:,} frames left it, and "
        f"{caught_up:,} were offered faster than asked for, to catch up."
    )


def _left(result: AnyResult) -> int:
    """The frames that left the generator: trials count those that its queue did not take as sent, and as lost."""
    offered = result.sent if isinstance(result.sent, int) else sum(result.sent)
    total = result.raw.get("generator", {}).get("total", {})
    return offered - total.get("tx_failed", 0)


def _uncertainty_words(evidence: Evidence) -> str | None:
    """How far the load of valid trials may have been lower; None where the generator reports times."""
    shares = [result.pacing.load_uncertainty for _, result in evidence.trials if result.valid]
    worst = max((share for share in shares if share is not None), default=None)
    if worst is None:
        return None
    return (
        "The generator reports no times: by its client's clock, the load of a valid trial was lower than given by "
        f"{100 * worst:.2g} % at most."
    )


def waiting_caution(evidence: Evidence) -> str | None:
    """A caution if the machine, not the device, caused the losses; None if most losses have another reason.

    The kernel counts how long the device's threads were ready to run and had no CPU. A trial that lost no more frames
    than were offered in that time would have lost none, had the device had its core for itself.
    """
    lossy = explained = 0
    shares = []
    for _, result in evidence.trials:
        share = result.raw.get("device_waited_share")
        if isinstance(result, TrialResult) and result.valid and result.lost > 0 and share is not None:
            lossy += 1
            shares.append(share)
            explained += result.lost <= share * result.offered_fps * result.plan.ways * result.duration_s
    if 2 * explained <= lossy:
        return None
    return (
        f"In {explained:,} of {lossy:,} trials with loss, no more frames were lost than offered while other programs "
        f"had the device's CPU ({100 * median(shares):.2g} % of the time or more in half of these trials): "
        "on a core of its own, the device forwards more without loss."
    )


def _generator_words(evidence: Evidence, setup: str) -> str:
    able = evidence.joined[setup]
    proof = (
        "checks sequence, length, addresses and payload of each frame" if able.proves_frames else "only counts frames"
    )
    pauses = able.pauses
    who = f"{able.generator} {able.version}".rstrip()
    line = f"a line of {able.line_rate_bps / 1e9:g} Gbit/s" if able.line_rate_bps else "the line rate is unknown"
    return (
        f"The generator ({who}) {proof}; {line}; pauses of {pauses.before_s:g} s before a trial, "
        f"{pauses.residual_s:g} s for residual frames and {pauses.settle_s:g} s to settle."
    )


def reasons_table(reasons: dict[str, int]) -> Table:
    """Why trials were invalid, the most frequent first."""
    rows = [Row([f"{count:,}", reason]) for reason, count in sorted(reasons.items(), key=lambda one: -one[1])]
    return Table("Invalid trials", ["Trials", "Reason (… stands for figures)"], rows, ends_in_text=True)


def loss_places_table(evidence: Evidence, devices: Sequence[str]) -> Table:
    """Frames lost in all valid trials, including overload and search, by device and place."""
    lost: dict[str, Counter[Place]] = {device: Counter() for device in devices}
    sent: Counter[str] = Counter()
    for place, result in evidence.trials:
        device = place.partition("/")[0]
        if isinstance(result, TrialResult) and result.valid and device in lost:
            sent[device] += result.sent
            lost[device].update(result.lost_at)
    places = [place for place in _ORDER if any(counts[place] for counts in lost.values())]
    table = Table("Where frames were lost", ["Device", "Offered [M]", *(f"{place} [M]" for place in places)])
    for device in devices:
        if sent[device]:
            cells = [f"{lost[device][place] / 1e6:,.3f}" for place in places]
            table.rows.append(Row([device, f"{sent[device] / 1e6:,.3f}", *cells]))
    return table if places else Table(table.title, table.columns)


def time_table(evidence: Evidence) -> Table:
    """The trials of each test, and their seconds of traffic."""
    sums: dict[str, _Sum] = {}
    for place, result in evidence.trials:
        test = place.rpartition("/")[2]
        mine = sums.setdefault("drift, measured again" if test == _AGAIN else test.replace("_", " "), _Sum())
        mine.trials += 1
        mine.invalid += not result.valid
        mine.seconds += traffic_s(result)
    whole = sum(one.seconds for one in sums.values())
    table = Table("Time", ["Test", "Trials", "of these invalid", "Traffic", "Share of it [%]", "Mean trial [s]"])
    for test, one in sums.items():
        share = f"{100 * one.seconds / whole:.1f}" if whole else ABSENT
        cells = [f"{one.trials:,}", f"{one.invalid:,}", in_words(one.seconds), share, f"{one.seconds / one.trials:.2f}"]
        table.rows.append(Row([test, *cells]))
    if len(sums) > 1:
        trials, invalid = (sum(getattr(one, name) for one in sums.values()) for name in ("trials", "invalid"))
        cells = [f"{trials:,}", f"{invalid:,}", in_words(whole), "100.0", f"{whole / trials:.2f}"]
        table.rows.append(Row(["all", *cells], kind="median"))
    return without_empty_columns(table)


def traffic_s(result: AnyResult) -> float:
    """How long the generator sent in a trial: the planned time, or frames sent divided by the rate."""
    plan = result.plan
    if isinstance(plan, TrialPlan):
        return plan.duration_s
    if isinstance(plan, StepPlan):
        return sum(plan.durations_s)
    return float(result.sent) / plan.ways / plan.load_fps if isinstance(result.sent, int) else 0.0


def in_words(seconds: float) -> str:
    """'0:01:30', or '12.3 s' of less than a minute."""
    return f"{seconds:.1f} s" if seconds < 60 else str(timedelta(seconds=round(seconds)))
