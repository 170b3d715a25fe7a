# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Of a campaign over several testbeds: which of them measured what, and how far each changed meanwhile."""

from __future__ import annotations

from testbed.campaign.folder import CampaignFolder
from testbed.campaign.summary import frames_in_words
from testbed.page.tables import ABSENT, Row, Table, figure


def testbeds_table(record: CampaignFolder) -> Table:
    """A row for each testbed; empty for a campaign without several."""
    columns = ["Testbed", "Measured", "Trial for drift", "First rate [Mpps]", "At the end [Mpps]", "Drift [%]"]
    table = Table("Testbeds", columns, text_columns=3)
    drifts = {drift.testbed: drift for drift in record.summary.drifts}
    findings = [one for one in record.summary.findings if one.testbed is not None]
    for testbed in dict.fromkeys(one.testbed for one in findings):
        measured = dict.fromkeys(frames_in_words(one) for one in findings if one.testbed == testbed)
        cells = ["not measured", ABSENT, ABSENT, ABSENT]
        if drift := drifts.get(testbed):
            change = figure(None if drift.change is None else 100 * drift.change, "+.2f")
            cells = [drift.place, f"{drift.first_fps / 1e6:.4f}", f"{drift.again_fps / 1e6:.4f}", change]
        table.rows.append(Row([str(testbed), "; ".join(measured), *cells]))
    return table


def absent_testbeds(record: CampaignFolder) -> list[str]:
    """The testbeds that were named and did not come."""
    names = record.settings.absent_testbeds
    return [f"Did not come: {', '.join(names)}."] if names else []
