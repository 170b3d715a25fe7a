# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Act a: the twins and DPDK's testpmd under overload, compared as `./x bench overload` does.

Their device hands out frames at no cost and takes all that is sent, so each forwards as much as it can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from testbed.comparison.blocks import Protocol
from testbed.comparison.condition import NET_NULL, Condition
from testbed.comparison.contestants import ContestantError, find_contestant
from testbed.comparison.measurement import Comparison, off_the_forwarders_cpu
from testbed.comparison.platform import Platform
from testbed.comparison.plugin import PluginError, build_plugin
from testbed.comparison.record import Block
from testbed.demo.summary import OverloadAct
from testbed.run.lcores import LcorePlan
from testbed.run.results_folder import Status
from testbed.run.scratch import scratch_folder

# The pair that the demo is about, and what stands beside it in the table.
TWINS = ("l2fwd-rs", "l2fwd-c")
_BESIDE = ("testpmd-mac",)

# A verdict takes six blocks. More of them make the interval narrower, longer ones do not.
BLOCKS = 7
QUICK_BLOCKS = 2
_PROTOCOL = Protocol(rounds=1, slice_s=0.1)


@dataclass(frozen=True)
class OverloadPlan:
    """What act a is to do."""

    size: int
    blocks: int
    seed: int
    hugepages: bool
    lcores: LcorePlan
    bin_dirs: list[Path] = field(default_factory=list)


def new_act(plan: OverloadPlan) -> OverloadAct:
    """The act before its first block."""
    return OverloadAct(
        status=Status.INTERRUPTED,
        blocks=plan.blocks,
        rounds=_PROTOCOL.rounds,
        slice_ms=1000 * _PROTOCOL.slice_s,
        seed=plan.seed,
        lcores={"generator": plan.lcores.generator, "forwarder": plan.lcores.forwarder},
    )


def run(plan: OverloadPlan, act: OverloadAct, raw: Path, on_step: Callable[[str], None]) -> Iterator[Block]:
    """Yields each block when the act has it and what follows from it.

    Raises `ContestantError` if one of the twins is not there.
    """
    contestants = [find_contestant(name, plan.bin_dirs) for name in TWINS]
    missing = {}
    for name in _BESIDE:
        try:
            contestants.append(find_contestant(name, plan.bin_dirs))
        except ContestantError as error:
            missing[name] = str(error)
    with scratch_folder() as runtime, off_the_forwarders_cpu(plan.lcores):
        platform = Platform(plan.lcores, plan.hugepages, runtime, raw, generator=None, plugin=_plugin(act))
        condition = Condition(wire=NET_NULL, size=plan.size)
        comparison = Comparison(contestants, condition, platform, _PROTOCOL, str(plan.seed), prefix="a-")
        act.measurement = comparison.measurement
        act.measurement.skipped |= missing
        for block in comparison.blocks(plan.blocks, on_step):
            act.pairs, act.noise_floor = comparison.conclude()
            _conclude(act, comparison.is_hopeless)
            yield block


def _plugin(act: OverloadAct) -> Path | None:
    try:
        return build_plugin()
    except PluginError as error:
        act.notes.append(f"no average bursts and no empty polls: {error}")
        return None


def _conclude(act: OverloadAct, is_hopeless: bool) -> None:
    blocks = act.measurement.blocks if act.measurement else []
    lost = [block for block in blocks if block.reasons]
    if len(blocks) < act.blocks and not is_hopeless:
        act.status, act.reason = Status.INTERRUPTED, f"{len(blocks)} of {act.blocks} blocks done"
    elif lost:
        act.status = Status.FAILED
        act.reason = f"{len(lost)} of {len(blocks)} blocks are invalid: {lost[0].reasons[0]}"
    else:
        act.status, act.reason = Status.PASSED, None
