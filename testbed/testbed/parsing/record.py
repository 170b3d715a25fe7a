# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What `summary.json` of `bench parsing` holds.

A run builds one program for each `Variant` of the matrix. In it every library has one kernel for each workload that it
can do, and every `Kernel` of the record is what was measured of one of them. What does not depend on the variant
(verdicts of the gate, lines of source, licence, what the library costs to build alone) stands in `Library`.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field

from testbed.run import results_folder
from testbed.run.environment import Environment
from testbed.run.results_folder import Record, Status, write_atomically

SCHEMA_VERSION = 1
KIND: Literal["bench-parsing"] = "bench-parsing"


class Workload(StrEnum):
    """What a kernel does to a frame; the titles are in `WORKLOADS`."""

    W1 = "W1"
    W2 = "W2"
    W3 = "W3"
    W4 = "W4"


WORKLOADS = {
    Workload.W1: "the article's: both MAC addresses and an IPv4 address",
    Workload.W2: "NAT: validated, checksums updated (RFC 1624)",
    Workload.W3: "NAT: validated, checksums recomputed",
    Workload.W4: "reading: the 5-tuple over a mixed trace",
}


class Residency(StrEnum):
    """Where the frames are when they are touched."""

    HOT = "hot"  # one burst of 32 frames, again and again; of the trace two, which have every kind of frame
    L2 = "l2"  # a shuffled pool of half the L2 cache
    COLD = "cold"  # a shuffled pool of at least four times the L3 cache
    COLD_PREFETCH = "cold-prefetch"  # the same, each burst prefetched before it is worked on


class Lto(StrEnum):
    """Link-time optimisation across crates."""

    # Cargo's default, `lto = false`: where a crate has several codegen units, these are still optimised together.
    OFF = "off"
    THIN = "thin"
    FAT = "fat"


class Target(StrEnum):
    """The processor that is compiled for, in Rust and in C."""

    BASE = "x86-64"
    V3 = "x86-64-v3"


class Panic(StrEnum):
    """What a panic does."""

    UNWIND = "unwind"
    ABORT = "abort"


class Variant(Record):
    """A point of the matrix. It has no C compiler: every program contains the code of gcc and of clang."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    lto: Lto = Lto.FAT
    codegen_units: int = 1
    target: Target = Target.BASE
    panic: Panic = Panic.UNWIND
    cross_language: bool = Field(False, description="c-clang is linked as bitcode, so that it may be inlined into Rust")

    @property
    def name(self) -> str:
        """Unique and short, fit for a folder: 'fat-1', 'off-16-v3-abort-cross'."""
        words = [self.lto.value, str(self.codegen_units)]
        words += ["v3"] if self.target is Target.V3 else []
        words += ["abort"] if self.panic is Panic.ABORT else []
        words += ["cross"] if self.cross_language else []
        return "-".join(words)

    def describe(self) -> str:
        """In words: 'fat LTO, 1 codegen unit, x86-64'."""
        lto = "no LTO" if self.lto is Lto.OFF else f"{self.lto} LTO"
        units = "1 codegen unit" if self.codegen_units == 1 else f"{self.codegen_units} codegen units"
        words = [lto, units, self.target.value]
        words += ["panic=abort"] if self.panic is Panic.ABORT else []
        words += ["cross-language LTO"] if self.cross_language else []
        return ", ".join(words)


# Cargo's default release profile, and the profile of this project.
LTO_OFF = Variant(lto=Lto.OFF, codegen_units=16)
LTO_FAT = Variant(lto=Lto.FAT, codegen_units=1)


class Timing(Record):
    """Time per frame in one residency: criterion's median over its samples, each of many bursts of 32 frames."""

    residency: Residency
    ns_per_frame: float
    low: float = Field(description="of the interval")
    high: float
    confidence: float = 0.95
    samples: int = Field(description="criterion's samples, each a mean over many bursts")


class MachineCode(Record):
    """The kernel as compiled. A jump to another function counts as a call; what is unlikely counts like the rest."""

    instructions: int = Field(description="of the function itself; padding is not counted")
    size_bytes: int
    branches: int = Field(description="conditional jumps")
    calls: int = Field(description="all of them, panic paths and memory functions included")
    panic_paths: int = Field(description="of the calls those that end in a panic")
    memory_calls: dict[str, int] = Field(
        default_factory=dict, description="of the calls those to memcpy, memset, malloc and their like, by name"
    )
    callees: list[str] = Field(default_factory=list, description="what else it calls, demangled")
    reachable_instructions: int = Field(
        description="of the function and all of this program that it may call, but for panics and memory functions"
    )
    reachable_panic_paths: int = Field(description="in these")
    reachable_memory_calls: int = Field(0, description="in these; what the C library executes for them is counted too")


class Kernel(Record):
    """One library doing one workload in one variant. What was not measured is None or empty."""

    library: str
    workload: Workload
    instructions_per_frame: float | None = Field(None, description="executed, by callgrind, callees included")
    calls_per_frame: float | None = Field(None, description="calls that the kernel itself has made, by callgrind")
    timings: list[Timing] = Field(default_factory=list)
    code: MachineCode | None = None

    def timing(self, residency: Residency) -> Timing | None:
        """The time in one residency."""
        return next((timing for timing in self.timings if timing.residency is residency), None)


class CrossLanguage(Record):
    """Whether clang's code became part of Rust's functions."""

    inlined: bool
    symbols_left: list[str] = Field(default_factory=list, description="C kernels that are still functions of their own")


class Build(Record):
    """One variant: a program, and its kernels."""

    variant: Variant
    reason: str | None = Field(None, description="why it was not built or not measured to the end; None if all is well")
    seconds: float | None = Field(None, description="of the whole program from nothing; None without --fresh")
    binary_bytes: int | None = Field(None, description="stripped")
    sha256: str | None = None
    cross_language: CrossLanguage | None = Field(None, description="only where the variant asks for it")
    loop_timings: dict[Workload, list[Timing]] = Field(
        default_factory=dict, description="the loop with a kernel that does nothing; part of the kernels' times"
    )
    kernels: list[Kernel] = Field(default_factory=list)

    def kernel(self, library: str, workload: Workload) -> Kernel | None:
        """What was measured of one library in one workload."""
        return next((one for one in self.kernels if (one.library, one.workload) == (library, workload)), None)


class Outcome(StrEnum):
    """What the gate says of a library in a workload."""

    PASSES = "passes"
    PANIC = "panic"
    WROTE = "wrote to a rejected frame"
    DISAGREES = "disagrees"
    CANNOT = "cannot"


class GateVerdict(Record):
    """A library in one workload against the reference. Only one that passes is timed and counted."""

    outcome: Outcome
    reason: str | None = Field(None, description="what went wrong in words, or why it cannot")
    case: str | None = Field(None, description="the first such frame, in hexadecimal")
    frames: int = Field(0, description="that were tried")
    bad_input: dict[str, dict[str, int]] = Field(
        default_factory=dict, description="frames by class of bad input and behaviour: 'error', 'panic', 'wrong'…"
    )


class Alone(Record):
    """A program with this library only, against the same one without any library."""

    build_seconds: float = Field(description="from nothing, dependencies included")
    crates: int = Field(description="that were compiled, this project's own included")
    binary_bytes: int = Field(description="stripped")
    more_bytes: int = Field(description="than the program without a library")
    more_seconds: float


class Way(StrEnum):
    """How a library lets a frame be rewritten, as `Library::WAY` of the source says."""

    SETTERS = "setters"  # views of the frame, or structs over it, that are written to
    OFFSETS = "offsets"  # it only reads; the user writes where it says
    COPIES = "copies"  # headers are copied out, changed, and written back
    BUILDS = "builds"  # a new packet is built
    BY_HAND = "by hand"  # no library


class Crate(Record):
    """Facts from a library's own files, as fetched by cargo."""

    released: date | None = Field(None, description="when the version that is used was published")
    newest: str | None = Field(None, description="the newest version that this machine's index of the registry knows")
    newest_released: date | None = None
    unsafe_count: int | None = Field(
        None, description="how often its source says `unsafe`, without comments, strings and tests"
    )
    code_lines: int | None = Field(None, description="of its source, without blank ones, comments and tests")


class Library(Record):
    """What is true of a library in every variant."""

    name: str
    package: str = Field(description="as in Cargo.lock; empty for this project's own code and for C")
    version: str = Field(description="from Cargo.lock; of C the compiler's; empty for this project's own code")
    licence: str
    no_std: bool
    note: str = ""
    way: Way | None = None
    crate: Crate | None = Field(None, description="None for this project's own code and for C")
    cannot: dict[Workload, str] = Field(default_factory=dict, description="workloads it cannot do, and why")
    kernel_lines: dict[Workload, int] = Field(
        default_factory=dict, description="lines of source of the kernel, without blank ones and comments"
    )
    gate: dict[Workload, GateVerdict] = Field(default_factory=dict, description="empty if the gate was not run")
    alone: Alone | None = None

    def measurable(self, workload: Workload) -> bool:
        """Whether its figures count: it can do the workload, and the gate has not found fault with it."""
        verdict = self.gate.get(workload)
        return workload not in self.cannot and (verdict is None or verdict.outcome is Outcome.PASSES)


class Versions(Record):
    """Of what made the programs and the figures."""

    rustc: str
    llvm: str = Field(description="rustc's")
    gcc: str | None
    clang: str | None
    linker: str | None = Field(description="rust-lld, which cross-language LTO needs")
    criterion: str
    valgrind: str | None
    objdump: str | None
    crates: dict[str, str] = Field(description="by package: the libraries and what they need, from Cargo.lock")


class Memory(Record):
    """The caches, as far as the residencies depend on them, and the pools that were made for them."""

    l1d_bytes: int | None
    l2_bytes: int | None
    l3_bytes: int | None
    pool_bytes: dict[Residency, int] = Field(
        description="cache lines that one round over the frames touches, in bytes; if workloads differ, the fewest"
    )
    most_bytes: int = Field(description="that the frames of a pool were allowed to take")
    transparent_hugepages: str = Field(description="the kernel's setting; the pools ask for them")


class ParsingRecord(Record):
    """`summary.json`."""

    schema_version: int = SCHEMA_VERSION
    kind: Literal["bench-parsing"] = KIND
    status: Status
    reason: str | None = None
    started: datetime
    finished: datetime | None = None
    resumed: list[datetime] = Field(default_factory=list, description="when it was gone on with")
    command: str
    quick: bool
    times: bool = Field(True, description="whether kernels were to be timed")
    alone: bool = Field(True, description="whether each library was to be built alone")
    workloads: list[Workload]
    only: list[str] = Field(default_factory=list, description="the libraries that were asked for; all if none was")
    matrix: str = Field(description="'default' or 'full'")
    environment: Environment
    versions: Versions
    sources: str = Field("", description="digest of what the programs are built from")
    memory: Memory
    libraries: list[Library] = Field(default_factory=list, description="in the order of the source")
    builds: list[Build] = Field(default_factory=list)

    def build(self, variant: Variant) -> Build | None:
        """The build of one variant."""
        return next((build for build in self.builds if build.variant == variant), None)

    def library(self, name: str) -> Library | None:
        """The library of that name."""
        return next((library for library in self.libraries if library.name == name), None)

    def cells(self) -> Iterator[tuple[Variant, Kernel]]:
        """All that was measured, variant by variant."""
        for build in self.builds:
            for kernel in build.kernels:
                yield build.variant, kernel


def write_record(path: Path, record: ParsingRecord) -> None:
    """Writes it.

    Raises `ResultsError`.
    """
    write_atomically(path, record.model_dump_json(indent=1) + "\n")


def read_record(path: Path) -> ParsingRecord:
    """Reads it; `path` may be the results folder, and the file may be compressed (`.json.xz`).

    Raises `ResultsError`.
    """
    file = path / "summary.json" if path.is_dir() else path
    if path.is_dir() and not file.exists() and (packed := path / "summary.json.xz").exists():
        file = packed
    return results_folder.read_record(file, ParsingRecord, "a record of 'bench parsing'", "a run", SCHEMA_VERSION)
