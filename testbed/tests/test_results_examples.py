# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The kept results of earlier campaigns: this version still reads them and makes their reports."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from testbed.campaign.report.document import write_report

ARCHIVE = Path(__file__).parents[1] / "results-examples" / "trex-memif.tar.xz"


@pytest.mark.parametrize("campaign", ["overload", "rfc2544"])
def test_the_report_of_a_kept_campaign(campaign: str, tmp_path: Path) -> None:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path)
    page = write_report(tmp_path / "trex-memif" / campaign).read_text()
    for device in ("l2fwd-rs", "l2fwd-c"):
        assert device in page
    assert "TRex" in page
