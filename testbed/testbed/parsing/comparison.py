# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Libraries side by side: what of a record may be compared, and who comes first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from testbed.parsing.record import Build, Kernel, Library, ParsingRecord, Residency, Timing, Way, Workload

# The expected limit of Rust code, and the C kernels that the others are compared with.
LIMIT = "unsafe-rust"
C_KERNELS = ("c-gcc", "c-clang")


@dataclass(frozen=True)
class Quantity:
    """A figure of a kernel for which less is better."""

    title: str
    unit: str
    of: Callable[[Kernel], float | None]
    # None for instructions, which are exact.
    residency: Residency | None = None

    def timing(self, kernel: Kernel) -> Timing | None:
        """With its interval, if it is a time."""
        return kernel.timing(self.residency) if self.residency else None


INSTRUCTIONS = Quantity("instructions", "instructions per frame", lambda kernel: kernel.instructions_per_frame)

RESIDENCIES = {
    Residency.HOT: "one burst of 32 frames, hot",
    Residency.L2: "frames in the L2 cache",
    Residency.COLD: "frames in memory",
    Residency.COLD_PREFETCH: "frames in memory, prefetched",
}


def time_in(residency: Residency) -> Quantity:
    """Nanoseconds where the frames are in that residency."""

    def nanoseconds(kernel: Kernel) -> float | None:
        timing = kernel.timing(residency)
        return timing.ns_per_frame if timing else None

    return Quantity(f"time, {RESIDENCIES[residency]}", "ns per frame", nanoseconds, residency)


HOT = time_in(Residency.HOT)


@dataclass(frozen=True)
class Place:
    """One library in a ranking."""

    library: Library
    kernel: Kernel
    value: float


def value_of(build: Build | None, library: str, workload: Workload, quantity: Quantity) -> float | None:
    """The figure of one kernel, if it was measured."""
    kernel = build.kernel(library, workload) if build else None
    return quantity.of(kernel) if kernel else None


def ranking(record: ParsingRecord, build: Build | None, workload: Workload, quantity: Quantity) -> list[Place]:
    """The libraries whose figure is known and counts, the least first."""
    found = []
    for library in record.libraries:
        kernel = build.kernel(library.name, workload) if build and library.measurable(workload) else None
        value = quantity.of(kernel) if kernel else None
        if kernel is not None and value is not None:
            found.append(Place(library, kernel, value))
    return sorted(found, key=lambda place: place.value)


def is_crate(library: Library) -> bool:
    """Whether it is available from a registry, rather than being written here by hand."""
    return bool(library.package)


def is_safe_rust(library: Library) -> bool:
    """Whether its kernels are safe Rust: all but C, and the limit."""
    return library.name not in (LIMIT, *C_KERNELS)


def builds(library: Library) -> bool:
    """Whether it makes new packets, rather than changing frames where they are."""
    return library.way is Way.BUILDS


def in_place(library: Library) -> bool:
    """Whether frames are written to where they are."""
    return library.way in (Way.SETTERS, Way.OFFSETS)


def fault(library: Library, workload: Workload) -> str | None:
    """Why it has no figures in a workload: it cannot do it, or the gate has found fault with it. None if it has."""
    if workload in library.cannot:
        return f"cannot: {library.cannot[workload]}"
    verdict = library.gate.get(workload)
    if library.measurable(workload) or verdict is None:
        return None
    return f"{verdict.outcome}: {verdict.reason}" if verdict.reason else str(verdict.outcome)
