# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The variants of a run, and the arguments with which cargo builds each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from testbed.bench.count.binary import BinaryError, run_tool
from testbed.parsing.record import LTO_FAT, LTO_OFF, Lto, Panic, Target, Variant

MATRICES = ("default", "full")

# Clang's bitcode can only become part of what the linker optimises, which is thin LTO of all crates.
CROSS_LANGUAGE = Variant(lto=Lto.THIN, cross_language=True)

# What x86-64-v3 has and x86-64 has not, as /proc/cpuinfo spells it; lzcnt is `abm` there.
_V3_FLAGS = frozenset({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"})


def variants(matrix: str, quick: bool) -> list[Variant]:
    """The variants of a matrix, with and without LTO first, which the others are compared with."""
    if matrix == "full":
        found = [LTO_OFF, LTO_FAT, CROSS_LANGUAGE, *_all()]
    elif quick:
        found = [LTO_OFF, LTO_FAT]
    else:
        found = [LTO_OFF, LTO_FAT, CROSS_LANGUAGE, Variant(target=Target.V3)]
    return list(dict.fromkeys(found))


def _all() -> Iterator[Variant]:
    for target in Target:
        for panic in Panic:
            for units in (16, 1):
                for lto in Lto:
                    yield Variant(lto=lto, codegen_units=units, target=target, panic=panic)
        yield CROSS_LANGUAGE.model_copy(update={"target": target})


def cargo_environment(variant: Variant) -> dict[str, str]:
    """The environment that makes cargo's release profile this variant, whatever the caller has set."""
    flags = [f"-Ctarget-cpu={variant.target}"]
    lto = "false" if variant.lto is Lto.OFF else variant.lto.value
    if variant.cross_language:
        # The crate's build script then makes clang give bitcode too.
        flags.append("-Clinker-plugin-lto")
        # What rustc has optimised as a whole it hands over as machine code.
        lto = "off"
    return {
        "CARGO_PROFILE_RELEASE_LTO": lto,
        "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": str(variant.codegen_units),
        "CARGO_PROFILE_RELEASE_PANIC": variant.panic.value,
        # Takes precedence over RUSTFLAGS and over all configuration files.
        "CARGO_ENCODED_RUSTFLAGS": "\x1f".join(flags),
    }


def refusal(variant: Variant, cpuinfo: Path = Path("/proc/cpuinfo")) -> str | None:
    """Why this machine cannot run the variant; None if it can."""
    if variant.target is Target.V3 and (lacking := sorted(_V3_FLAGS - _cpu_flags(cpuinfo))):
        return f"this processor lacks {', '.join(lacking)}, which {Target.V3} has"
    return None


def _cpu_flags(cpuinfo: Path) -> set[str]:
    try:
        lines = cpuinfo.read_text(errors="replace").splitlines()
    except OSError:
        return set()
    return next((set(line.partition(":")[2].split()) for line in lines if line.startswith("flags")), set())


def host_triple() -> str:
    """What rustc compiles for here.

    Raises `BinaryError`.
    """
    for line in run_tool("rustc", "-vV").splitlines():
        if line.startswith("host: "):
            return line.removeprefix("host: ").strip()
    raise BinaryError("'rustc -vV' names no host: is this rustc from rustup?")
