# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Time per frame: `parsing-timer` runs criterion over a program's kernels, and what criterion writes is read here."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from testbed.parsing.count import selection
from testbed.parsing.record import Memory, Residency, Timing, Workload
from testbed.run.process import Process, ProcessError

# The empty kernels, which give the time of the loop.
NOTHING = "nothing"
# For one kernel in one residency, beside the time that was asked for: criterion's analysis, and a machine that is busy.
_PATIENCE_S = 120.0


class TimingError(Exception):
    """A kernel could not be timed; the message says why."""


@dataclass(frozen=True)
class Protocol:
    """How long each kernel is timed, and how many resamples its interval is of."""

    samples: int
    seconds: float
    warm_up_s: float
    resamples: int = 10_000

    def expected_s(self) -> float:
        """For one kernel in one residency."""
        return self.seconds + self.warm_up_s


# A check, a look at many variants, and a measurement.
QUICK = Protocol(samples=10, seconds=0.1, warm_up_s=0.05, resamples=1000)
BRIEF = Protocol(samples=10, seconds=0.2, warm_up_s=0.1)
USUAL = Protocol(samples=30, seconds=0.6, warm_up_s=0.2)


@dataclass(frozen=True)
class Timed:
    """One kernel in one residency."""

    library: str
    workload: Workload
    timing: Timing


@dataclass(frozen=True)
class Pool:
    """What one round over the frames of a residency touches."""

    residency: Residency
    touched_bytes: int


def time_kernels(
    timer: Path,
    program: Path,
    workloads: Sequence[Workload],
    libraries: Sequence[str],
    residencies: Sequence[Residency],
    memory: Memory,
    protocol: Protocol,
    folder: Path,
    name: str = "time",
) -> Iterator[Timed | Pool]:
    """Times the kernels, residency by residency, and gives each as soon as it is there.

    Raises `TimingError`.
    """
    home = folder / f"{name}-criterion"
    argv = [str(timer), str(program), *selection(workloads, [NOTHING, *libraries])]
    argv += ["--residencies", ",".join(residencies), "--samples", str(protocol.samples)]
    argv += ["--seconds", f"{protocol.seconds:g}", "--warm-up", f"{protocol.warm_up_s:g}"]
    argv += ["--resamples", str(protocol.resamples)]
    argv += ["--l2-bytes", str(memory.pool_bytes[Residency.L2]), "--memory", str(memory.most_bytes)]
    argv += ["--cold-bytes", str(memory.pool_bytes[Residency.COLD])]
    patience_s = _PATIENCE_S + protocol.expected_s()
    try:
        with Process(name, argv, folder, {"CRITERION_HOME": str(home)}) as process:
            try:
                for event in _events(process, patience_s):
                    if event["type"] == "pool":
                        yield Pool(Residency(event["residency"]), int(event["touched_bytes"]))
                    elif event["type"] == "timed":
                        yield _timed(home, event)
            finally:
                process.kill()
    except ProcessError as error:
        raise TimingError(str(error)) from error


def _events(process: Process, patience_s: float) -> Iterator[dict[str, Any]]:
    """The lines that the program prints, up to its last."""
    for number in itertools.count():
        event = process.wait_until(partial(_numbered, process, number), "its last kernel", patience_s)
        if event["type"] == "end":
            return
        yield event


def _numbered(process: Process, number: int) -> dict[str, Any] | None:
    return process.events[number] if number < len(process.events) else None


def _timed(home: Path, event: dict[str, Any]) -> Timed:
    library, workload, residency = str(event["library"]), Workload(event["workload"]), Residency(event["residency"])
    folder = home / workload / library / residency
    # A copy for a comparison with the next run, of which there is none.
    shutil.rmtree(folder / "base", ignore_errors=True)
    return Timed(library, workload, read_timing(folder / "new", residency, int(event["burst"])))


def read_timing(folder: Path, residency: Residency, burst: int) -> Timing:
    """What criterion has written of one benchmark whose iterations are bursts of so many frames.

    Raises `TimingError`.
    """
    try:
        median = json.loads((folder / "estimates.json").read_text())["median"]
        interval = median["confidence_interval"]
        return Timing(
            residency=residency,
            ns_per_frame=median["point_estimate"] / burst,
            low=interval["lower_bound"] / burst,
            high=interval["upper_bound"] / burst,
            confidence=interval["confidence_level"],
            samples=len(json.loads((folder / "sample.json").read_text())["times"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TimingError(f"'{folder}' is not as criterion writes it: {error}") from error
