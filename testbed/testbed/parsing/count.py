# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Instructions per frame: every kernel of a program in one run of callgrind.

Callgrind tells for each pair of caller and callee how often one has called the other, and what that has cost with all
that it has called in turn. A kernel is a function that is never inlined, so its cost is exact, and the loop around it
is not part of it. Gungraun was not taken: it needs a runner of its own version installed beside the crate, starts
valgrind anew for each of a variant's seventy kernels, and counts what lies between two marks, the loop included, where
this is the cost of the very function whose machine code is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from testbed.bench.count.callgrind import CallgrindError, Profile, read_profile
from testbed.parsing.record import Workload
from testbed.run.process import ProcessError, completed

# Valgrind makes a program some fifty times slower, and other programs may be running.
_PATIENCE_S = 600.0
# Every frame of a workload so often, so that it meets both rules; once in W4, which has none. Otherwise the figures do
# not depend on it.
PASSES = 2


class CountError(Exception):
    """The kernels could not be counted; the message says why."""


@dataclass(frozen=True)
class KernelCount:
    """What one kernel has executed for a frame, on average over the frames of its workload."""

    library: str
    workload: Workload
    instructions: float
    calls: float


def selection(workloads: Sequence[Workload], libraries: Sequence[str]) -> list[str]:
    """The words that choose kernels of the program `measure`."""
    return ["--workloads", ",".join(workloads), "--libs", ",".join(libraries)]


def count_kernels(
    program: Path, workloads: Sequence[Workload], libraries: Sequence[str], folder: Path, name: str = "count"
) -> list[KernelCount]:
    """Counts the kernels of those libraries.

    Raises `CountError`.
    """
    path = folder / f"{name}.callgrind"
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={path}"]
    own = [str(program), "count", "--passes", str(PASSES), *selection(workloads, libraries)]
    try:
        process = completed(name, [*tool, *own], folder, _PATIENCE_S)
        profile = read_profile(path)
    except (ProcessError, CallgrindError, OSError) as error:
        raise CountError(str(error)) from error
    return [
        kernel_count(profile, str(event["symbol"]), str(event["library"]), Workload(event["workload"]), event["frames"])
        for event in process.events
        if event.get("type") == "counted"
    ]


def kernel_count(profile: Profile, symbol: str, library: str, workload: Workload, frames: int) -> KernelCount:
    """What a profile says of a kernel, with all that it has called.

    Raises `CountError` if the kernel was not called for every frame.
    """
    calls = [call for (_, callee), call in profile.calls.items() if callee.name == symbol]
    times = sum(call.count for call in calls)
    if times != frames:
        raise CountError(f"'{symbol}' was to be called for {frames} frames, and was called {times} times")
    direct = sum(call.count for (caller, _), call in profile.calls.items() if caller.name == symbol)
    return KernelCount(library, workload, sum(call.cost for call in calls) / frames, direct / frames)
