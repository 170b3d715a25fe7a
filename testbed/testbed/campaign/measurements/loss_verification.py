# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Loss verification (RFC 9004, section 6.2, by ETSI GS NFV-TST 009, section 12.3.3): a trial that lost frames is
repeated at the same load before a search takes that load for lossy, so that a loss by chance bounds no device.

TST 009 also has a loss above which nothing is repeated; here, as in RFC 9971, there is none.
"""

from __future__ import annotations

from collections.abc import Callable

from pydantic import Field

from testbed.campaign.trial import Record, TrialPlan, TrialResult

MOST_REPEATS = 20


class LossVerified(Record):
    """What loss verification came to in a search."""

    repeats: int = Field(description="how often a trial with loss was repeated at most (r of TST 009)")
    repeated: int = Field(description="trials with loss that were repeated")
    by_chance: int = Field(description="of these, those without loss when repeated")

    def __str__(self) -> str:
        times = "once" if self.repeats == 1 else f"up to {self.repeats} times"
        return (
            f"loss verification (RFC 9004, section 6.2) repeated {self.repeated} trials with loss {times}: "
            f"{self.by_chance} of them lost no more than allowed when repeated, and count so in the search"
        )


class LossVerification:
    """Trials of a search, repeated if they lose more than is allowed."""

    def __init__(self, run: Callable[[TrialPlan], TrialResult], repeats: int) -> None:
        self._run = run
        self._repeats = repeats
        self._repeated = self._by_chance = 0

    def run(self, plan: TrialPlan, allowed: float = 0.0) -> list[TrialResult]:
        """The trials at this load, until one loses no more than this share: the one that loses least counts.

        Raises what a trial raises.
        """
        tried = [self._run(plan)]
        if not self._repeats or tried[0].loss_ratio <= allowed:
            return tried
        self._repeated += 1
        while len(tried) <= self._repeats and tried[-1].loss_ratio > allowed:
            tried.append(self._run(plan))
        self._by_chance += tried[-1].loss_ratio <= allowed
        return tried

    @property
    def found(self) -> LossVerified | None:
        """What it came to so far; None if nothing is repeated."""
        if not self._repeats:
            return None
        return LossVerified(repeats=self._repeats, repeated=self._repeated, by_chance=self._by_chance)


def least_lossy(tried: list[TrialResult]) -> TrialResult:
    """The trial that counts."""
    return min(tried, key=lambda result: result.loss_ratio)
