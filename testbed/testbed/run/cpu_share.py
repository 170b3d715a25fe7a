# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What share of a CPU a process got, and how long it was kept waiting for one."""

from __future__ import annotations

import os
import time

from testbed.run.environment import taken_seconds
from testbed.run.process import Process

# With less than this share of its CPU, a program that never sleeps was held up by others.
OWN_CPU_SHARE = 0.9


class CpuUsage:
    """How much CPU time busy processes get from now on."""

    def __init__(self, **processes: Process) -> None:
        self._processes = processes
        self._before = {name: process.cpu_seconds() for name, process in processes.items()}
        self._begin = time.monotonic()

    def shares(self) -> dict[str, float]:
        """CPU time / time since the beginning; those that have ended meanwhile are absent."""
        elapsed = time.monotonic() - self._begin
        after = {name: process.cpu_seconds() for name, process in self._processes.items()}
        return {
            name: (used - self._before[name]) / elapsed
            for name, used in after.items()
            if used is not None and self._before[name] is not None and elapsed > 0
        }


class Waiting:
    """How long a process is kept from a CPU from now on, whether or not it always wants one."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._before = process.waited_seconds()
        self._taken = taken_seconds()
        self._begin = time.monotonic()

    def share(self) -> float | None:
        """Time that it waited / time since the beginning; None if it has ended or the kernel does not count."""
        elapsed = time.monotonic() - self._begin
        after = self._process.waited_seconds()
        return None if self._before is None or after is None or elapsed <= 0 else (after - self._before) / elapsed

    def taken_s(self) -> float | None:
        """For how long others had its CPUs at most: programs, interrupts and the hypervisor; None if it is not known.

        The kernel counts programs in nanoseconds and the rest in ticks.
        """
        waited, taken = self._process.waited_seconds(), taken_seconds()
        if self._before is None or waited is None or self._taken is None or taken is None:
            return None
        return waited - self._before + taken - self._taken + 1 / os.sysconf("SC_CLK_TCK")
