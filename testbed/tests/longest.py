# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""In which order workers get the files of tests: the longest first, so that none has one left when the other ends."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

# Each more than 10 s on an idle machine. One that should be here and is not costs at most its own time.
LONGEST = (
    "test_rehearsal_nics.py",
    "test_rehearsal_failures.py",
    "test_diagnosis_vm.py",
    "test_services.py",
    "test_l2fwd_traffic.py",
    "test_demo.py",
    "test_demo_e2e.py",
    "test_campaign_testbeds.py",
    "test_campaign_scheduler.py",
    "test_campaign_embedded.py",
    "test_rehearsal_campaign.py",
    "test_campaign_cli.py",
    "test_bench_e2e.py",
    "test_bench_services_loss.py",
    "test_handicaps.py",
    "test_l2fwd_captures.py",
    "test_campaign_remote.py",
    "test_l2fwd_rewrite.py",
    "test_count_gate.py",
    "test_rehearsal_service.py",
    "test_campaign_devices.py",
    "test_campaign_report.py",
    "test_campaign_customer.py",
    "test_parsing_report.py",
    "test_l2fwd_idle.py",
)


class OfAFile(Protocol):
    """What is asked of a test."""

    path: Path


def longest_first(items: list[OfAFile]) -> None:
    """Sorts tests by their files; those of a file, and files that are not named, stay in their order."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.name, len(LONGEST)))
