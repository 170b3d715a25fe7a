# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The head of a report: the verdict in one sentence, the grade, and the figures that are missing."""

from __future__ import annotations

from collections.abc import Sequence

from testbed.campaign.diff.outcome import Outcome, outcome
from testbed.campaign.diff.values import Unit, Value, drift_of
from testbed.campaign.folder import CampaignFolder
from testbed.campaign.grade import Grade
from testbed.campaign.measurements.back_to_back import NOTHING_LOST
from testbed.campaign.measurements.forwarding_rate import ForwardingRate
from testbed.campaign.measurements.result import Measured
from testbed.campaign.measurements.throughput import Throughput
from testbed.campaign.scenario import RFC_MEASUREMENTS, Measurement
from testbed.campaign.sizes import Size, size_in_words, size_order, sizes_in_words
from testbed.campaign.summary import CampaignSummary, kind_in_words
from testbed.run.results_folder import Status

# From the best to the worst.
_GRADES = (Grade.UNCONDITIONAL, Grade.CONDITIONAL, Grade.NON_COMPLIANT)
# Figures of one device by (directions, flows, size).
_Key = tuple[int, int, Size]
_Rates = dict[_Key, Value]


def sentence(record: CampaignFolder) -> str:
    """The verdict. If the campaign is not finished, the sentence begins with that."""
    summary = record.summary
    found = _rates_sentence(record) or _headline_sentence(summary)
    if summary.status is Status.PASSED:
        return found
    failed = sum(finding.status == "failed" for finding in summary.findings)
    if failed and len(summary.findings) == summary.planned:
        return f"Failed in {failed} of {summary.planned} measurements: {found}"
    word = {Status.FAILED: "Failed", Status.INTERRUPTED: "Unfinished"}.get(summary.status, summary.status.value)
    return f"{word}, with {len(summary.findings)} of {summary.planned} measurements: {found}"


def _rates_sentence(record: CampaignFolder) -> str | None:
    """The verdict by throughput, or else by forwarding rate."""
    drift = drift_of(record)
    rates: dict[str, _Rates] = {}
    # The highest that was offered: the device may be faster.
    capped: set[tuple[str, _Key]] = set()
    loss = _least_loss(record)
    for finding, result in record.found(Throughput):
        key = (finding.directions, finding.flows, finding.size)
        for goal in result.goals:
            if goal.goal.loss_ratio == loss and goal.pauses is None:
                capped |= {(finding.device, key)} if result.only_offered(goal) else set()
                rates.setdefault(finding.device, {})[key] = Value(
                    value=goal.lower.load_fps if goal.lower else 0.0,
                    unit=Unit.FRAMES_PER_SECOND,
                    low=goal.lower.load_fps if goal.lower else 0.0,
                    high=goal.upper.load_fps if goal.upper else None,
                    noise=drift,
                )
    how, limited = f"with at most {100 * loss:g} % of loss" if loss else "without loss", "the highest rate offered"
    if not rates:
        for finding, rate in record.found(ForwardingRate):
            key = (finding.directions, finding.flows, finding.size)
            capped |= {(finding.device, key)} if rate.generator_was_limit else set()
            sample = rate.forwarded_fps
            rates.setdefault(finding.device, {})[key] = Value(
                value=sample.median, unit=Unit.FRAMES_PER_SECOND, low=sample.least, high=sample.most, noise=drift
            )
        how, limited = "under the highest load", "everything that was offered"
    if not rates:
        return _bound_by_pauses(record).strip() or None
    count = sum(len(one) for one in rates.values())
    doubt = f" ({len(capped)} of {count} figures are {limited}, so the device may be faster)" if capped else ""
    if len(rates) > 1 and (why := why_not_compared(record)):
        # The text below reports this too, but readers stop at a ratio.
        return f"{_listed(rates, how)}{doubt}; {why}, so they are not compared.{_bound_by_pauses(record)}"
    if words := _not_compared(rates, capped, loss):
        return f"{words}{_bound_by_pauses(record)}"
    return f"{_compared(record, rates, how, capped) or _listed(rates, how)}{doubt}.{_bound_by_pauses(record)}"


def _least_loss(record: CampaignFolder) -> float:
    """The first goal of the search; where pauses of the machine allow no such rate anywhere, the next with a rate."""
    goals = [goal for _, result in record.found(Throughput) for goal in result.goals]
    first, known = _first_loss(record), sorted({goal.goal.loss_ratio for goal in goals if goal.pauses is None})
    return first if first in known or not known else known[0]


def _first_loss(record: CampaignFolder) -> float:
    return next((result.goals[0].goal.loss_ratio for _, result in record.found(Throughput)), 0.0)


def _bound_by_pauses(record: CampaignFolder) -> str:
    """A sentence where pauses of the machine allow no rate without loss."""
    bounds = [result.pauses for _, result in record.found(Throughput) if result.pauses is not None]
    if not bounds:
        return ""
    count = len(list(record.found(Throughput)))
    where = "" if len(bounds) == count else f" in {len(bounds)} of {count} searches"
    stands_in = _least_loss(record) != _first_loss(record)
    instead = " This goal of MLRsearch (RFC 9971) stands in place of RFC 2544's throughput." if stands_in else ""
    return f"{instead} No rate without loss is known{where}: {min(bounds, key=lambda one: one.limit_fps)}."


def why_not_compared(record: CampaignFolder) -> str | None:
    """Why the devices are compared nowhere in the report; None if they are."""
    changed = record.summary.worst_drift
    if changed is None or not changed.matters:
        return None
    return f"the machine changed meanwhile ({changed.in_words().partition(':')[0]})"


def _not_compared(rates: dict[str, _Rates], capped: set[tuple[str, _Key]], loss: float) -> str | None:
    """Where no device lost a frame at the highest rate offered, a ratio would be that of the offers."""
    keys = sorted({key for mine in rates.values() for key in mine}, key=_order)
    figures = [(device, key) for device, mine in rates.items() for key in mine]
    if len(rates) < 2 or not capped.issuperset(figures):
        return None
    offered = ", ".join(f"{max(mine[key].value for mine in rates.values() if key in mine) / 1e6:.4f}" for key in keys)
    all_of_them = "both devices" if len(rates) == 2 else f"all {len(rates)} devices"
    passed = f"lost at most {100 * loss:g} % of the frames" if loss else "lost no frame in valid trials"
    return (
        f"Throughput could not be compared: at {_all_words(keys)} {all_of_them} {passed} at the highest rate "
        f"offered ({offered} Mpps). Their limits lie above and were not found."
    )


def _compared(record: CampaignFolder, rates: dict[str, _Rates], how: str, capped: set[tuple[str, _Key]]) -> str | None:
    """The ratio of two devices, if this run can distinguish them; of frames of which one showed its limit."""
    if len(rates) != 2:
        return None
    reference = record.reference
    other = next(name for name in rates if name != reference)
    common = [key for key in sorted(rates[other], key=_order) if key in rates.get(reference, {})]
    common = [key for key in common if rates[reference][key].value and not {(reference, key), (other, key)} <= capped]
    if not common:
        return None
    ratios = [rates[other][key].value / rates[reference][key].value for key in common]
    low, high = (f"{edge:.3f}" for edge in (min(ratios), max(ratios)))
    times = f"{low} times" if low == high else f"{low} to {high} times"
    first = common[0]
    figures = f"{rates[other][first].value / 1e6:.4f} against {rates[reference][first].value / 1e6:.4f} Mpps"
    where = f"at {_words(first)} {figures}" if len(common) > 1 else figures
    kinds = f"at {_all_words(common)}"
    apart = sum(outcome(rates[other][key], rates[reference][key]) is Outcome.APART for key in common)
    if not apart:
        return (
            f"{how.capitalize()}, this run does not distinguish {other} and {reference} {kinds}: {where}, {times} as "
            "many frames"
        )
    same = len(common) - apart
    some = f", {same} of which do not distinguish them" if same else ""
    return (
        f"{how.capitalize()}, {other} forwards {times} as many frames as {reference} in this run {kinds}{some}: {where}"
    )


def _listed(rates: dict[str, _Rates], how: str) -> str:
    parts = []
    for device, mine in rates.items():
        keys = sorted(mine, key=_order)
        ends = keys if len(keys) == 1 else [keys[0], keys[-1]]
        figures = " and ".join(f"{mine[key].value / 1e6:.4f} Mpps at {_words(key)}" for key in ends)
        parts.append(f"{device} forwards {figures}")
    return f"{how.capitalize()}, {'; '.join(parts)}"


def _order(key: _Key) -> tuple[int, int, float, str]:
    directions, flows, size = key
    return directions, flows, *size_order(size)


def _all_words(keys: Sequence[_Key]) -> str:
    """'64, 512, 1518 bytes', or each kind of frames by itself where they differ in more than the size."""
    kinds = {key[:2] for key in keys}
    if len(kinds) > 1:
        return "; ".join(map(_words, keys))
    return ", ".join([sizes_in_words(size for _, _, size in keys), *kind_in_words(*kinds.pop())])


def _words(key: _Key) -> str:
    directions, flows, size = key
    return ", ".join([size_in_words(size), *kind_in_words(directions, flows)])


def _headline_sentence(summary: CampaignSummary) -> str:
    """The verdict of a campaign without a rate."""
    done = next((one for one in summary.findings if one.status == "done" and one.headline), None)
    if done is None:
        return "nothing was measured." if summary.findings else "no measurement was completed."
    return f"{done.device}, {size_in_words(done.size)}, {done.measurement.replace('_', ' ')}: {done.headline}."


def overall_grade(summary: CampaignSummary) -> Grade | None:
    """The worst grade in the campaign; None if there is no grade."""
    grades = [finding.grade for finding in summary.findings if finding.grade is not None]
    if not grades:
        return None
    grades += [summary.frames.grade] if summary.frames else []
    return max(grades, key=_GRADES.index)


def gravest(record: CampaignFolder) -> str | None:
    """The first unmet clause of what has the worst grade."""
    worst = overall_grade(record.summary)
    graded = [result.graded for _, result in record.found(Measured)]
    graded += [record.summary.frames] if record.summary.frames else []
    unmet = [finding for one in graded if one.grade is worst for finding in one.missing]
    if not unmet:
        return None
    first = unmet[0]
    return (
        f"The first clause that is not met is of {first.clause.source}. Required: {first.clause.text}. Done here: "
        f"{first.seen}."
    )


def absent(summary: CampaignSummary, asked: Sequence[Measurement]) -> list[str]:
    """The missing figures with their reasons, each reason once."""
    lines = []
    not_asked = [test for test in RFC_MEASUREMENTS if test not in asked]
    if not_asked:
        lines.append(f"Not among the tests of this campaign: {', '.join(map(_test_words, not_asked))}.")
    reasons: dict[tuple[Measurement, str, str], list[str]] = {}
    for finding in summary.findings:
        # So earlier versions recorded what is skipped now.
        nothing_lost = (finding.result or {}).get("below_line_rate") is False
        if finding.status != "done" or nothing_lost:
            status, reason = ("skipped", NOTHING_LOST) if nothing_lost else (finding.status, finding.reason)
            key = (finding.measurement, status, reason or "reason unknown")
            reasons.setdefault(key, []).append(finding.in_words)
    for (test, status, reason), places in reasons.items():
        where = ", ".join(places[:3]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")
        if len(places) == sum(finding.measurement is test for finding in summary.findings) > 1:
            where = "with all devices and frames"
        lines.append(f"{_test_words(test).capitalize()}, {where}: {status}: {reason}")
    if waiting := summary.planned - len(summary.findings):
        lines.append(f"Not reached: {waiting} of {summary.planned} measurements.")
    return lines


def _test_words(test: Measurement) -> str:
    return test.value.replace("_", " ")
