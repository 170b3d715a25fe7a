# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The embedded generator before a guest: when nothing can be measured any more, the guest's console may say why."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from testbed.campaign.embedded.generator import EmbeddedGenerator
from testbed.campaign.embedded.setup import EmbeddedSetup
from testbed.campaign.guest.machine import RunningGuest
from testbed.campaign.traffic_generator import Capabilities, GeneratorError, NotCapable
from testbed.campaign.trial import (
    AnyPlan,
    ResetPlan,
    ResetResult,
    StepPlan,
    StepResult,
    TrialPlan,
    TrialResult,
)
from testbed.run.process import ProcessError

T = TypeVar("T")


class GuestGenerator:
    """As `EmbeddedGenerator`; its errors also report the state of the guest."""

    def __init__(self, setup: EmbeddedSetup, guest: RunningGuest) -> None:
        self._guest = guest
        self._inner = self._told(lambda: EmbeddedGenerator(setup))
        self._raw = setup.raw

    def capabilities(self) -> Capabilities:
        """Those of the generator."""
        return self._told(self._inner.capabilities)

    def run(self, plan: TrialPlan) -> TrialResult:
        """One trial."""
        return self._told(lambda: self._inner.run(plan))

    def step(self, plan: StepPlan) -> StepResult:
        """Two loads, back to back."""
        return self._told(lambda: self._inner.step(plan))

    def reset(self, plan: ResetPlan) -> ResetResult:
        """A reset of the device's process, or of its ports."""
        return self._told(lambda: self._inner.reset(plan))

    def replayed(self, plan: AnyPlan) -> None:
        """Nothing depends on it."""
        self._inner.replayed(plan)

    def close(self) -> None:
        """Ends the device; the guest stays for the next one. May be called again."""
        self._guest.keep_console(self._raw)
        self._told(self._inner.close)

    def _told(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except NotCapable:
            raise
        except (GeneratorError, ProcessError) as error:
            raise GeneratorError(self._guest.explained(error)) from error
