# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The files of a campaign's summary: JSON for programs, Markdown for readers, CSV for spreadsheets, JUnit XML."""

from __future__ import annotations

from pathlib import Path

from testbed.campaign.acceptance.junit import JUNIT, as_junit
from testbed.campaign.csv_files import campaign_csv
from testbed.campaign.summary import SUMMARY, CampaignSummary, as_markdown
from testbed.run.results_folder import write_atomically, write_model


def write_campaign_summary(folder: Path, summary: CampaignSummary) -> None:
    """Writes `summary.json`, `.md` and `.csv`, and `junit.xml`; called after each measurement.

    Raises `ResultsError`.
    """
    write_model(folder / SUMMARY, summary)
    write_atomically(folder / "summary.md", as_markdown(summary))
    write_atomically(folder / "summary.csv", campaign_csv(summary))
    write_atomically(folder / JUNIT, as_junit(summary))
