# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The seconds of a trial, made of the lines that the generator prints."""

from __future__ import annotations

from collections.abc import Callable

from testbed.campaign.trial import TrialPlan, Window
from testbed.wire.generator import Second

# Its lines have tenths of a second.
_ROUNDED_S = 0.051


class Windows:
    """Collects the seconds of a trial's load, and hands on each as it comes."""

    def __init__(self, plan: TrialPlan, told: Callable[[Window], None]) -> None:
        self.found: list[Window] = []
        self._plan = plan
        self._told = told
        self._lost = 0

    def take(self, second: Second) -> None:
        """A second is over. Those of the wait for the last frames are no seconds of load."""
        if second.end_s > self._plan.duration_s + _ROUNDED_S:
            return
        # Frames that others have overtaken count as lost until they come.
        lost = max(0, second.lost - self._lost)
        self._lost += lost
        each = self._plan.ways
        window = Window(
            end_s=second.end_s, sent_fps=second.sent_pps / each, received_fps=second.received_pps / each, lost=lost
        )
        self.found.append(window)
        self._told(window)
