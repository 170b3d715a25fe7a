# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a block starts, stops and reads: a forwarder with its generator, or a server with its client."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from testbed.comparison.condition import Condition
from testbed.comparison.record import Run
from testbed.comparison.telemetry import Reading

# After a program resumes, caches are cold and, on the wire, queues empty: wait this long before reading counters.
SETTLE_S = 0.003


@dataclass(frozen=True)
class Memory:
    """Of the measured process, in kB."""

    rss_kb: int
    hugepages_kb: int
    virtual_kb: int
    # Resident, of files and shared memory.
    shared_kb: int


def memory_of(pid: int) -> Memory:
    """What a process holds."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())

    def kb(name: str) -> int:
        return int(fields.get(name, "0 kB").split()[0])

    return Memory(kb("VmRSS"), kb("HugetlbPages"), kb("VmSize"), kb("RssFile") + kb("RssShmem"))


@dataclass(frozen=True)
class Account:
    """All frames of a run on the virtual wire, probes included."""

    sent: int
    forwarder_received: int
    forwarder_sent: int
    received: int


class Runner(Protocol):
    """One run of a contestant. Use it in a `with`, which ends it in any case."""

    label: str
    condition: Condition
    start_s: float

    def start(self) -> None:
        """Starts it and returns when it works."""

    def pause(self) -> None:
        """Stops it where it is."""

    def resume(self) -> None:
        """Resumes it."""

    def read(self) -> Reading:
        """The counters now; it must be running."""
        ...

    def cpu_ns(self) -> int:
        """CPU time of what is measured."""
        ...

    def generator_cpu_ns(self) -> int | None:
        """CPU time of what gives it work; None without one."""

    def count_polls(self, run: Run, seconds: float) -> None:
        """Fills in average burst and empty polls, from a slice of their own: counting them costs time."""

    def memory(self) -> Memory:
        """What its process holds."""
        ...

    def tsc_hz(self) -> int | None:
        """The TSC's frequency, if it is known."""

    def end(self) -> Account | None:
        """Ends it in order and returns what became of the frames, on the virtual wire."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
