# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What all instances of a comparison share: CPUs, memory, folders, the generator and the plug-in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from testbed.run.lcores import LcorePlan
from testbed.run.programs import Program


@dataclass(frozen=True)
class Platform:
    """The machine as a comparison uses it."""

    lcores: LcorePlan
    hugepages: bool
    # Where DPDK makes its run-time folders: short, and gone afterwards.
    runtime: Path
    raw: Path
    generator: Program | None
    plugin: Path | None = None
