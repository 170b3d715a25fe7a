# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What a test run may change on the machine and must leave as it was, one line each.

    python3 .ci/machine_state.py

Hugepages, files on them, mounts, interfaces, network namespaces, DPDK's run-time folders, and processes of this tree.
`.ci/run` compares before and after.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent
RUNTIME_FOLDERS = (Path("/var/run/dpdk"), Path("/tmp/dpdk"))  # noqa: S108 (where DPDK puts them without a run-time folder)

# `ip netns add` mounts it once and for all; the namespaces themselves are in the list.
KEPT_BY_IP = "/run/netns"
TEMPORARY = ("process ", "run-time folder of DPDK ", "file on hugepages: ")


def state() -> list[str]:
    """All of it, sorted."""
    return sorted({*_hugepages(), *_mounts(), *_folders(), *_processes()})


def differences(before: list[str], after: list[str]) -> list[str]:
    """One line each for what has gone and what is new. Somebody else's program may end meanwhile, with its files."""
    gone = [f"gone: {line}" for line in before if line not in after and not line.startswith(TEMPORARY)]
    return gone + [f"left: {line}" for line in after if line not in before]


def _hugepages() -> Iterator[str]:
    for file in Path("/sys/kernel/mm/hugepages").glob("*/nr_hugepages"):
        yield f"{file.parent.name}: {file.read_text().strip()} reserved"


def _mounts() -> Iterator[str]:
    for line in Path("/proc/mounts").read_text().splitlines():
        _, point, kind, *_ = line.split()
        if point == KEPT_BY_IP:
            continue
        yield f"mount of {kind} at {point}"
        if kind == "hugetlbfs" and os.access(point, os.R_OK):
            yield from (f"file on hugepages: {file}" for file in Path(point).iterdir())


def _folders() -> Iterator[str]:
    for folder, kind in [
        (Path("/sys/class/net"), "interface"),
        (Path("/run/netns"), "network namespace"),
        *((folder, "run-time folder of DPDK") for folder in RUNTIME_FOLDERS),
    ]:
        if folder.is_dir() and os.access(folder, os.R_OK):
            yield from (f"{kind} {entry.name}" for entry in folder.iterdir())


def _processes() -> Iterator[str]:
    """Those that run a program of this tree, or QEMU for it. A shell that somebody works with is none of them."""
    for link in Path("/proc").glob("[0-9]*/exe"):
        try:
            program, words = link.readlink(), link.with_name("cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        ours = program.is_relative_to(TREE) or (
            program.name.startswith("qemu-system") and any(os.fsencode(TREE) in word for word in words)
        )
        if ours:
            yield f"process {link.parent.name} ({program})"


if __name__ == "__main__":
    print(*state(), sep="\n")
