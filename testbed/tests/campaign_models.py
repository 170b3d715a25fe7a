# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Simulated devices at random, and a generator that remembers, replays and spoils results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from testbed.campaign.simulated import DeviceModel, SimulatedGenerator
from testbed.campaign.sizes import RFC_SIZES
from testbed.campaign.traffic_generator import Capabilities, Pauses
from testbed.campaign.trial import (
    AnyPlan,
    AnyResult,
    ResetKind,
    ResetPlan,
    ResetResult,
    StepPlan,
    StepResult,
    TrialPlan,
    TrialResult,
    line_rate_fps,
)


def any_model(number: int, noise: float = 0.0) -> DeviceModel:
    """The device of this number: any throughput from 1 % of the line rate, any buffer."""
    chance = Random(number)
    line_bps = chance.choice([1e9, 10e9, 25e9, 100e9])
    able = {}
    for size in RFC_SIZES:
        share = 10 ** chance.uniform(-2, 0)
        able[size] = share * line_rate_fps(size, line_bps)
    return DeviceModel(
        throughput_fps=able,
        line_rate_bps=line_bps,
        bidirectional_share=chance.uniform(0.5, 1),
        buffer_frames=round(10 ** chance.uniform(0, 4)),
        collapse=chance.choice([0.0, 0.0, chance.uniform(0, 0.5)]),
        latency_base_ns=10 ** chance.uniform(2, 6),
        latency_rest_ns=10 ** chance.uniform(1, 6),
        recovery_s=chance.choice([0.0, chance.uniform(0, 20)]),
        reset_gap_s={ResetKind.PROCESS: chance.uniform(0.1, 50), ResetKind.PORT: chance.uniform(0.01, 2)},
        noise=noise,
        seed=number,
    )


class Tape:
    """A generator in front of another: hands out what was recorded, then runs and records."""

    def __init__(
        self,
        generator: SimulatedGenerator,
        recorded: Sequence[AnyResult] = (),
        change: Callable[[AnyResult], AnyResult] = lambda result: result,
        **capabilities: object,
    ) -> None:
        self.results: list[AnyResult] = []
        self.run_for_real = 0
        self._generator = generator
        self._recorded = list(recorded)
        self._change = change
        self._capabilities = capabilities

    def capabilities(self) -> Capabilities:
        return self._generator.capabilities().model_copy(update=self._capabilities)

    def run(self, plan: TrialPlan) -> TrialResult:
        return self._next(plan, self._generator.run)

    def step(self, plan: StepPlan) -> StepResult:
        return self._next(plan, self._generator.step)

    def reset(self, plan: ResetPlan) -> ResetResult:
        return self._next(plan, self._generator.reset)

    def replayed(self, plan: AnyPlan) -> None:
        self._generator.replayed(plan)

    def close(self) -> None:
        self._generator.close()

    def _next(self, plan, run):
        if len(self.results) < len(self._recorded):
            result = self._recorded[len(self.results)]
            assert result.plan == plan, "the replay asks for something else"
            self._generator.replayed(plan)
        else:
            self.run_for_real += 1
            result = self._change(run(plan))
        self.results.append(result)
        return result


def simulated(model: DeviceModel, pauses: Pauses | None = None) -> SimulatedGenerator:
    """The generator of a model."""
    return SimulatedGenerator(model, pauses)
