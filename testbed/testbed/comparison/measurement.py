# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""One comparison of forwarders under one condition, from the first block to the verdicts."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Callable, Iterator, Sequence

from testbed.comparison import pairs
from testbed.comparison.blocks import Protocol, run_block
from testbed.comparison.condition import Condition
from testbed.comparison.contestants import Contestant, Setup
from testbed.comparison.figures import figures
from testbed.comparison.noise_floor import again
from testbed.comparison.platform import Platform
from testbed.comparison.record import Block, Measurement, Pair
from testbed.comparison.slices import is_disturbed
from testbed.run.eal import EalOptions
from testbed.run.lcores import LcorePlan

# After so many blocks that all went wrong the rest would too.
_HOPELESS_BLOCKS = 2


class Comparison:
    """Block after block, in the order that a seed fixes."""

    def __init__(
        self,
        contestants: Sequence[Contestant],
        condition: Condition,
        platform: Platform,
        protocol: Protocol,
        seed: str,
        sweep: str | None = None,
        prefix: str = "",
    ) -> None:
        self._able, skipped = able_contestants(contestants, condition, platform)
        labels = [*(contestant.name for contestant in self._able), *(again(one.name) for one in self._able[:1])]
        self.measurement = Measurement(condition=condition, sweep=sweep, labels=labels, skipped=skipped)
        # The TSC's frequency, once a program has reported it.
        self.tsc_hz: int | None = None
        self._platform = platform
        self._protocol = protocol
        self._chance = random.Random(seed)
        self._prefix = prefix

    def blocks(self, count: int, on_step: Callable[[str], None]) -> Iterator[Block]:
        """Measures so many blocks, fewer if it is hopeless; each is in the measurement when it is yielded."""
        for number in range(1, count + 1 if self._able else 1):
            block, tsc_hz = run_block(
                number,
                self._able,
                self.measurement.condition,
                self._platform,
                self._protocol,
                self._chance,
                lambda step, number=number: on_step(f"block {number} of {count}: {step}"),
                self._prefix,
            )
            self.tsc_hz = self.tsc_hz or tsc_hz
            if not block.reasons and is_disturbed(block):
                block.notes.append("disturbed: other programs had more than a tenth of the CPUs in most slices")
            self.measurement.blocks.append(block)
            yield block
            if self.is_hopeless:
                return

    @property
    def is_hopeless(self) -> bool:
        """Whether no block has had a result, and enough have been tried."""
        blocks = self.measurement.blocks
        return len(blocks) >= _HOPELESS_BLOCKS and all(block.reasons for block in blocks)

    def conclude(self, per_cpu_second: bool = False) -> tuple[list[Pair], list[Pair]]:
        """Fills in the figures of the blocks so far; returns the pairs and the noise floor, if there is one."""
        self.measurement.figures = figures(self.measurement, self.tsc_hz)
        return pairs.pairs(self.measurement, per_cpu_second)


def able_contestants(
    contestants: Sequence[Contestant], condition: Condition, platform: Platform
) -> tuple[list[Contestant], dict[str, str]]:
    """Those that can do what is asked, and why the others cannot."""
    eal = EalOptions(platform.lcores.forwarder, "probe", (), platform.hugepages)
    setup = Setup.of(condition, eal, platform.lcores)
    able, skipped = [], {}
    for contestant in contestants:
        reason = contestant.refuses(setup)
        if reason is None and condition.drops and not contestant.is_shared:
            reason = "frames are refused by a plug-in, which only a program with DPDK's shared libraries can load"
        if reason is None and condition.drops and platform.plugin is None:
            reason = "the plug-in that refuses frames could not be built"
        if reason is None:
            able.append(contestant)
        else:
            skipped[contestant.name] = reason
    return able, skipped


@contextlib.contextmanager
def off_the_forwarders_cpu(lcores: LcorePlan) -> Iterator[None]:
    """Keeps this program, and what it starts, off the CPU of the forwarder; DPDK puts its lcores where they belong."""
    before = os.sched_getaffinity(0)
    others = before - {lcores.forwarder}
    if others:
        os.sched_setaffinity(0, others)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
