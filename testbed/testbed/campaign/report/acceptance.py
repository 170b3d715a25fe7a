# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The thresholds of a campaign in its report: whether all have passed, and the verdict on each."""

from __future__ import annotations

from testbed.campaign.folder import CampaignFolder
from testbed.campaign.summary import frames_in_words
from testbed.page.tables import ABSENT, Row, Table, without_empty_columns

_KINDS = {"passed": "faster", "failed": "slower"}


def accepted(record: CampaignFolder) -> tuple[bool, str] | None:
    """Whether all thresholds have passed, and how many; None without thresholds."""
    all_of_them, others = record.summary.acceptance, record.summary.not_accepted
    if not all_of_them:
        return None
    count = f"{len(all_of_them) - len(others)} of {len(all_of_them)} thresholds have passed"
    return not others, f"{'Not accepted' if others else 'Accepted'}: {count}."


def acceptance_table(record: CampaignFolder) -> Table:
    """The verdict on each threshold."""
    columns = ["Threshold", "Verdict", "Device", "Frames", "Measured", "Why it is not told"]
    table = Table("Thresholds", columns, text_columns=5, ends_in_text=True)
    for one in record.summary.acceptance:
        cells = [one.threshold, str(one.verdict), one.device, frames_in_words(one), one.measured or ABSENT]
        table.rows.append(Row([*cells, one.reason or ""], kind=_KINDS.get(one.verdict, "inconclusive")))
    return without_empty_columns(table)
