# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""All checks, group by group."""

from __future__ import annotations

from dataclasses import replace

from testbed.doctor import dpdk, iommu, machine_kind, memory, nics, numa, processor, scheduling, trex
from testbed.doctor.check import EXIT_STATUS, Check, Question
from testbed.host.files import Host

_GROUPS = (machine_kind, processor, scheduling, numa, memory, iommu, nics, dpdk, trex)


def examine(host: Host, question: Question) -> list[Check]:
    """What was found."""
    return [replace(check, group=group.GROUP) for group in _GROUPS for check in group.checks(host, question)]


def exit_status(checks: list[Check]) -> int:
    """0 if all is well, 1 if the worst is a warning, 2 if something failed."""
    return max((EXIT_STATUS[check.verdict] for check in checks), default=0)
