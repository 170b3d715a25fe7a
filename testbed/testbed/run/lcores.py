# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Which CPU the generator and which the forwarder gets."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_TOPOLOGY = Path("/sys/devices/system/cpu")


@dataclass(frozen=True)
class LcorePlan:
    """Logical CPUs for the two busy processes."""

    generator: int
    forwarder: int
    warnings: tuple[str, ...] = ()
    # Of the forwarder, if it has more.
    further: tuple[int, ...] = ()

    @property
    def forwarders(self) -> tuple[int, ...]:
        """All of the forwarder's."""
        return self.forwarder, *self.further


def plan_lcores(cpus: list[int] | None = None, siblings: dict[int, frozenset[int]] | None = None) -> LcorePlan:
    """Chooses two CPUs of those this process may use, on different physical cores where there are two.

    The highest ones are taken, since CPU 0 serves most interrupts.
    """
    cpus = sorted(os.sched_getaffinity(0)) if cpus is None else sorted(cpus)
    siblings = {cpu: thread_siblings(cpu) for cpu in cpus} if siblings is None else siblings
    forwarder = cpus[-1]
    others = [cpu for cpu in cpus if cpu != forwarder]
    if not others:
        return LcorePlan(
            forwarder,
            forwarder,
            ("only one CPU: generator and forwarder take turns on it, so rates say little about either",),
        )
    apart = [cpu for cpu in others if cpu not in siblings.get(forwarder, frozenset())]
    if not apart:
        return LcorePlan(
            others[-1], forwarder, ("generator and forwarder share one physical core (SMT siblings): rates are lower",)
        )
    return LcorePlan(apart[-1], forwarder)


def thread_siblings(cpu: int) -> frozenset[int]:
    """The logical CPUs of the same physical core; only this CPU if the kernel does not report them."""
    try:
        text = (_TOPOLOGY / f"cpu{cpu}/topology/thread_siblings_list").read_text()
    except OSError:
        return frozenset({cpu})
    return frozenset(parse_cpu_list(text))


def parse_cpu_list(text: str) -> list[int]:
    """'0-2,8' → [0, 1, 2, 8]."""
    cpus: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        if first:
            cpus += range(int(first), int(last or first) + 1)
    return cpus
