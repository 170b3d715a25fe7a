# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Records of `bench parsing` with figures that are known: a full one, and how to take things out of it."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from test_report import environment

from testbed.parsing.record import (
    LTO_FAT,
    LTO_OFF,
    Alone,
    Build,
    Crate,
    CrossLanguage,
    GateVerdict,
    Kernel,
    Library,
    MachineCode,
    Memory,
    Outcome,
    ParsingRecord,
    Residency,
    Timing,
    Variant,
    Versions,
    Way,
    Workload,
)
from testbed.run.results_folder import Status

STARTED = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
EVIL = "<script>alert('1 & 2')</script>"

# Name, package, way, instructions of W2 with fat LTO, how many times as many without.
LIBRARIES = [
    ("unsafe-rust", "", Way.BY_HAND, 40.0, 1.0),
    ("safe-rust", "", Way.BY_HAND, 55.0, 1.0),
    ("c-gcc", "", Way.BY_HAND, 50.0, 1.0),
    ("c-clang", "", Way.BY_HAND, 52.0, 1.0),
    ("smoltcp", "smoltcp", Way.SETTERS, 62.0, 1.0),
    ("pnet", "pnet_packet", Way.SETTERS, 60.0, 1.0),
    ("pdu", "pdu", Way.OFFSETS, 90.0, 2.0),
    ("etherparse-cursor", "etherparse", Way.COPIES, 300.0, 1.5),
    ("etherparse-slices", "etherparse", Way.COPIES, 270.0, 1.25),
    ("etherparse-builder", "etherparse", Way.BUILDS, 1300.0, 1.5),
    ("packet", "packet", Way.SETTERS, 190.0, 1.0),
]
# Of the other workloads' instructions to those of W2, and nanoseconds of an instruction.
FACTORS = {Workload.W1: 0.4, Workload.W2: 1.0, Workload.W3: 2.0, Workload.W4: 3.0}
NANOSECONDS = {Residency.HOT: 0.2, Residency.L2: 0.25, Residency.COLD: 0.3, Residency.COLD_PREFETCH: 0.22}
CRATE = Crate(
    released=date(2025, 5, 4), newest="1.2.4", newest_released=date(2026, 1, 2), unsafe_count=17, code_lines=4711
)
CASE = "00112233445566778899aabb08004500"


def full_record() -> ParsingRecord:
    """Everything that a record can hold; `packet` panics in W2, and `etherparse-builder` cannot do W4."""
    return ParsingRecord(
        status=Status.PASSED,
        started=STARTED,
        finished=STARTED + timedelta(minutes=20),
        command="./x bench parsing",
        quick=False,
        workloads=list(Workload),
        matrix="default",
        environment=environment(),
        versions=Versions(
            rustc="1.95.0", llvm="22.1.2", gcc="12.2.0", clang="14.0.6", linker="22.1.2", criterion="0.8.2",
            valgrind="3.19.0", objdump="2.40", crates={"smoltcp": "0.14.0"},
        ),
        memory=Memory(
            l1d_bytes=32 << 10, l2_bytes=512 << 10, l3_bytes=32 << 20, most_bytes=1 << 30,
            pool_bytes={Residency.HOT: 2048, Residency.COLD: 128 << 20}, transparent_hugepages="madvise",
        ),
        libraries=[library(*entry[:3]) for entry in LIBRARIES],
        builds=[
            build(LTO_OFF), build(LTO_FAT), build(Variant(cross_language=True)),
        ],
    )  # fmt: skip


def small_record() -> ParsingRecord:
    """The same of three libraries: a page with few charts, which are what takes time."""
    record = full_record()
    names = ("unsafe-rust", "pnet", "etherparse-builder")
    record.libraries = [library for library in record.libraries if library.name in names]
    for made in record.builds:
        made.kernels = [kernel for kernel in made.kernels if kernel.library in names]
    return record


def library(name: str, package: str, way: Way) -> Library:
    """One with known facts."""
    made = Library(
        name=name,
        package=package,
        version="1.2.3" if package else "",
        licence="MIT OR Apache-2.0",
        no_std=name != "etherparse-cursor",
        note=f"what to know of {name}",
        way=way,
        crate=CRATE if package else None,
        kernel_lines={workload: 10 + len(name) + number for number, workload in enumerate(Workload)},
        gate={workload: verdict() for workload in Workload},
        alone=Alone(build_seconds=9.5, crates=7, binary_bytes=400_000, more_bytes=12_300, more_seconds=2.5),
    )
    if name == "packet":
        made.gate[Workload.W2] = GateVerdict(
            outcome=Outcome.PANIC,
            reason=f"cut at 14: panicked: {EVIL}",
            case=CASE,
            frames=1000,
            bad_input={"truncated": {"error": 40, "panic": 3}, "tags": {"accepted": 2, "error": 5}},
        )
    if name == "etherparse-builder":
        made.cannot[Workload.W4] = "it builds packets only"
        made.gate[Workload.W4] = GateVerdict(outcome=Outcome.CANNOT, reason="it builds packets only")
    return made


def verdict() -> GateVerdict:
    """Of one without a fault."""
    return GateVerdict(outcome=Outcome.PASSES, frames=1000, bad_input={"truncated": {"error": 43}})


def build(variant: Variant) -> Build:
    """All kernels of a variant; times of all residencies where there is neither more nor less than LTO."""
    made = Build(variant=variant, seconds=61.5, binary_bytes=1_234_000, sha256="ab" * 32)
    if variant.cross_language:
        made.cross_language = CrossLanguage(inlined=True)
    for name, _, _, instructions, without_lto in LIBRARIES:
        for workload, factor in FACTORS.items():
            if (name, workload) in (("packet", Workload.W2), ("etherparse-builder", Workload.W4)):
                continue
            count = instructions * factor * (without_lto if variant == LTO_OFF else 1.0)
            residencies = Residency if variant in (LTO_OFF, LTO_FAT) else [Residency.HOT]
            made.kernels.append(
                Kernel(
                    library=name,
                    workload=workload,
                    instructions_per_frame=count,
                    timings=[timing(residency, count * NANOSECONDS[residency]) for residency in residencies],
                    code=code(int(count)),
                )
            )
    made.loop_timings = {workload: [timing(Residency.HOT, 1.5)] for workload in Workload}
    return made


def timing(residency: Residency, nanoseconds: float) -> Timing:
    """One whose interval is 4 % wide."""
    return Timing(
        residency=residency, ns_per_frame=nanoseconds, low=0.98 * nanoseconds, high=1.02 * nanoseconds, samples=30
    )


def code(instructions: int) -> MachineCode:
    """Of a kernel; the large ones allocate."""
    memory = {"malloc": 2, "memcpy": 4} if instructions > 400 else {}
    return MachineCode(
        instructions=instructions, size_bytes=4 * instructions, branches=instructions // 10, calls=sum(memory.values()),
        panic_paths=0, memory_calls=memory, reachable_instructions=instructions + 11, reachable_panic_paths=0,
    )  # fmt: skip
