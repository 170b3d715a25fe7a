# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What compiled the programs, what measured them, and the caches that their frames were to lie in."""

from __future__ import annotations

import re
from pathlib import Path

from testbed.bench.count.binary import BinaryError, run_tool
from testbed.parsing.record import Memory, Residency, Versions
from testbed.parsing.source import crate_versions

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_HUGEPAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
_MEMINFO = Path("/proc/meminfo")
_SUFFIXES = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

# Typical of servers, if caches and memory are unknown.
_USUAL_L2 = 512 << 10
_USUAL_L3 = 32 << 20
_USUAL_MOST = 2 << 30
# A pool of so many times the L3 cache finds next to nothing of a round in it at the next one.
COLD_FACTOR = 4
# Never more than this share of the available memory.
_MEMORY_SHARE = 0.4


def tool_versions() -> Versions:
    """Of what is installed.

    Raises `BinaryError` without rustc, and `SourceError`.
    """
    rustc = dict(line.split(": ", 1) for line in run_tool("rustc", "-vV").splitlines() if ": " in line)
    crates = crate_versions()
    linker = Path(run_tool("rustc", "--print", "sysroot").strip()) / "lib/rustlib" / rustc["host"] / "bin/rust-lld"
    return Versions(
        rustc=rustc["release"],
        llvm=rustc.get("LLVM version", "unknown"),
        gcc=_version("gcc", "-dumpfullversion"),
        clang=_version("clang", "--version"),
        linker=_version(str(linker), "-flavor", "gnu", "--version"),
        criterion=crates.get("criterion", "unknown"),
        valgrind=_version("valgrind", "--version"),
        objdump=_version("objdump", "--version"),
        crates=crates,
    )


def compilers(versions: Versions) -> str:
    """What instruction counts depend on, as the key of the figures that are checked in."""
    return f"rustc {versions.rustc}, gcc {versions.gcc or 'none'}, clang {versions.clang or 'none'}"


def _version(*argv: str) -> str | None:
    """The last version number in the first line that a tool prints; None if it is not there."""
    try:
        text = run_tool(*argv)
    except BinaryError:
        return None
    found = re.findall(r"\d+(?:\.\d+)+", text.partition("\n")[0])
    return found[-1] if found else None


def caches(folder: Path = _CACHES) -> dict[str, int]:
    """The first CPU's caches in bytes: 'l1d', 'l2', 'l3', as far as the kernel reports them."""
    found = {}
    for index in sorted(folder.glob("index*")):
        try:
            level, kind, size = ((index / name).read_text().strip() for name in ("level", "type", "size"))
        except (OSError, UnicodeDecodeError):
            continue
        if kind != "Instruction" and re.fullmatch(r"\d+[KMG]?", size):
            name = "l1d" if level == "1" else f"l{level}"
            found[name] = int(size.rstrip("KMG")) * _SUFFIXES.get(size[-1], 1)
    return found


def memory(caches_folder: Path = _CACHES, meminfo: Path = _MEMINFO) -> Memory:
    """The caches, and how large a pool of each residency is to be."""
    known = caches(caches_folder)
    available = _available_bytes(meminfo)
    return Memory(
        l1d_bytes=known.get("l1d"),
        l2_bytes=known.get("l2"),
        l3_bytes=known.get("l3"),
        pool_bytes={
            Residency.L2: known.get("l2", _USUAL_L2) // 2,
            Residency.COLD: COLD_FACTOR * known.get("l3", _USUAL_L3),
        },
        most_bytes=_USUAL_MOST if available is None else int(_MEMORY_SHARE * available),
        transparent_hugepages=_chosen(_HUGEPAGES),
    )


def _available_bytes(meminfo: Path) -> int | None:
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo.read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) * 1024 if found else None


def _chosen(path: Path) -> str:
    """The word in brackets: 'always [madvise] never'."""
    try:
        found = re.search(r"\[(\w+)\]", path.read_text())
    except OSError:
        return "unknown"
    return found[1] if found else "unknown"
