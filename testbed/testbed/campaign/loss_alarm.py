# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The alarm of a soak: its first loss is reported at once, and not when hours are over."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from testbed.campaign.trial import AnyResult, TrialResult, Window


class LossAlarm:
    """Watches a trial of a soak, second by second where the generator reports each, and raises the alarm once.

    A loss of a trial that turns out invalid is not the device's: that is reported too, and a later loss is the first
    again.
    """

    def __init__(self, raise_it: Callable[[str], None], earlier: Sequence[AnyResult]) -> None:
        self._raise = raise_it
        # What the trials before it have reported is no news, nor is it after a resumption.
        self._known = any(isinstance(one, TrialResult) and one.valid and one.lost for one in earlier)
        self._raised = False

    def second(self, window: Window) -> None:
        """A second is over."""
        if window.lost and not self._known and not self._raised:
            self._raised = True
            self._raise(f"{window.lost:,} frames lost by second {window.end_s:.0f} of the trial that runs")

    def ended(self, result: TrialResult) -> None:
        """The trial has ended, and its account is judged."""
        if self._known:
            return
        if not self._raised and result.valid and result.lost:
            self._raise(f"{result.lost:,} of {result.sent:,} frames lost in a trial of {result.plan.duration_s:g} s")
        if self._raised and not result.valid:
            self._raise(f"taken back, for the trial does not count: {result.reasons[0]}")
        if self._raised and result.valid and not result.lost:
            self._raise("taken back: all frames came back later")
