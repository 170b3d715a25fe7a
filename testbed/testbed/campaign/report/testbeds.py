# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Of a campaign over several testbeds: which measured what, how far each changed meanwhile, and how busy it was."""

from __future__ import annotations

from testbed.campaign.folder import CampaignFolder
from testbed.campaign.report.evidence import in_words
from testbed.campaign.summary import frames_in_words
from testbed.campaign.trial import seconds_of
from testbed.page.tables import ABSENT, Row, Table, figure


def testbeds_table(record: CampaignFolder) -> Table:
    """A row for each testbed; empty for a campaign without several."""
    columns = ["Testbed", "Measured", "Trial for drift", "First rate [Mpps]", "At the end [Mpps]", "Drift [%]"]
    columns.append("Useful [%]")
    table = Table("Testbeds", columns, text_columns=3)
    drifts = {drift.testbed: drift for drift in record.summary.drifts}
    findings = [one for one in record.summary.findings if one.testbed is not None]
    useful = useful_s(record) if findings else {}
    for testbed in dict.fromkeys(one.testbed for one in findings):
        measured = dict.fromkeys(frames_in_words(one) for one in findings if one.testbed == testbed)
        cells = ["not measured", ABSENT, ABSENT, ABSENT]
        if drift := drifts.get(testbed):
            change = figure(None if drift.change is None else 100 * drift.change, "+.2f")
            cells = [drift.place, f"{drift.first_fps / 1e6:.4f}", f"{drift.again_fps / 1e6:.4f}", change]
        seconds, wall_s = useful.get(str(testbed)), record.summary.seconds
        share = 100 * seconds / wall_s if seconds and wall_s else None
        table.rows.append(Row([str(testbed), "; ".join(measured), *cells, figure(share, ".1f")]))
    return table


def useful_s(record: CampaignFolder) -> dict[str, float]:
    """The real time of the valid trials of each testbed, with the pauses that the scenario wants around them."""
    scenario = record.settings.scenario
    # Simulated time takes less, or none.
    paces = {one.name: one.model.pace for one in scenario.devices if one.model is not None}
    testbeds = {one.place: one.testbed for one in record.summary.findings}
    testbeds |= {f"{one.place}/again": one.testbed for one in record.summary.drifts}
    found: dict[str, float] = {}
    for place, result in record.evidence.trials:
        testbed = testbeds.get(place)
        if testbed is not None and result.valid:
            seconds = seconds_of(result) + scenario.pauses_around_trials.total_s
            found[testbed] = found.get(testbed, 0.0) + seconds * paces.get(place.partition("/")[0], 1.0)
    return found


def use_of_testbeds(record: CampaignFolder) -> list[str]:
    """How much of the time of the testbeds went into valid trials."""
    useful, there_s = sum(useful_s(record).values()), record.settings.testbed_s
    if not useful or not there_s:
        return []
    return [
        f"Valid trials took {100 * useful / there_s:.1f} % of the time of the testbeds: {in_words(useful)} of "
        f"{in_words(there_s)}."
    ]


def lacking_testbeds(record: CampaignFolder) -> list[str]:
    """The testbeds that were named and did not come, and those that were given nothing more."""
    absent, broken = record.settings.absent_testbeds, record.settings.broken_testbeds
    return [
        *([f"Did not come: {', '.join(absent)}."] if absent else []),
        *(f"Given nothing more: {name}: {why}." for name, why in broken.items()),
    ]
