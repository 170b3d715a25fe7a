# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Reserves hugepages while a command runs, and gives back what it took.

    python3 .ci/hugepages.py [--no-hugepages] COMMAND...

The command finds DPDK_HUGEPAGES=1 in its environment if hugepages are ready, else 0. Where the environment already has
that variable, somebody above has decided and gives back: nothing is done.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

# 2-MB pages: below the first figure DPDK goes without, more than the second is never taken.
LEAST = 256
MOST = 768
POOL = Path("/sys/kernel/mm/hugepages/hugepages-2048kB")
MOUNTS = Path("/proc/mounts")
MEMORY = Path("/proc/meminfo")
MOUNT_POINT = Path("/dev/hugepages")
DECISION = "DPDK_HUGEPAGES"


class Unavailable(Exception):  # noqa: N818 (reads better where it is caught)
    """DPDK goes without hugepages; the message is the reason."""


def say(text: str) -> None:
    """A line of the front door."""
    print(f"x: {text}", flush=True)


@contextmanager
def reserved(wanted: bool = True) -> Iterator[None]:
    """Has hugepages ready, if possible, and DPDK_HUGEPAGES set."""
    if DECISION in os.environ:
        yield
        return
    pages = Hugepages()
    os.environ[DECISION] = "0"
    try:
        if not wanted:
            raise Unavailable("--no-hugepages was given")
        pages.mount()
        pages.reserve()
        os.environ[DECISION] = "1"
    except Unavailable as reason:
        say(f"no hugepages: {reason}. Continuing without; figures will be lower")
    try:
        yield
    finally:
        pages.give_back()
        del os.environ[DECISION]


class Hugepages:
    """What was mounted and taken, and nothing else is given back."""

    def __init__(self) -> None:
        self._mounted: Path | None = None
        self._taken = 0

    def mount(self) -> None:
        """Mounts a hugetlbfs if there is none.

        Raises `Unavailable`.
        """
        point = next(
            (
                Path(words[1])
                for words in map(str.split, MOUNTS.read_text().splitlines())
                if words[2] == "hugetlbfs" and "pagesize=1024M" not in words[3]
            ),
            None,
        )
        if point is None:
            point = MOUNT_POINT
            try:
                point.mkdir(parents=True, exist_ok=True)
                command = ["mount", "-t", "hugetlbfs", "-o", "pagesize=2M", "hugetlbfs", str(point)]
                subprocess.run(command, stderr=subprocess.DEVNULL, check=True)
            except (OSError, subprocess.CalledProcessError):
                raise Unavailable("no hugetlbfs is mounted, and mounting one was refused") from None
            self._mounted = point
            say(f"mounted {point} for this run")
        if not os.access(point, os.W_OK):
            raise Unavailable(f"this user may not write to {point}")

    def reserve(self) -> None:
        """Reserves pages if too few are free: at most half of what the kernel calls available.

        Raises `Unavailable`.
        """
        if not POOL.is_dir():
            raise Unavailable("this kernel has no 2-MB pages")
        free = _number("free_hugepages")
        if free >= LEAST:
            return
        available_kb = next(
            int(line.split()[1]) for line in MEMORY.read_text().splitlines() if line.startswith("MemAvailable:")
        )
        half = available_kb // 2 // 2048
        wish = min(MOST - free, half)
        lacking = f"{free} 2-MB pages are free, {LEAST} are needed"
        if free + wish < LEAST:
            raise Unavailable(f"{lacking}, and half of the available memory is {half}")
        before = _number("nr_hugepages")
        try:
            (POOL / "nr_hugepages").write_text(f"{before + wish}\n")
        except OSError:
            raise Unavailable(f"{lacking}, and the kernel refused to reserve more") from None
        self._taken = _number("nr_hugepages") - before
        say(f"reserved {self._taken} hugepages of 2 MB for this run (limit, half of the available memory: {half})")
        if free + self._taken < LEAST:
            raise Unavailable(f"only {self._taken} hugepages could be reserved, since the memory is fragmented")

    def give_back(self) -> None:
        """Unmounts and frees. Unmounting also frees what a killed program left there."""
        if self._mounted and subprocess.run(["umount", str(self._mounted)], check=False).returncode != 0:
            say(f"cannot unmount {self._mounted}")
        if self._taken > 0:
            (POOL / "nr_hugepages").write_text(f"{max(0, _number('nr_hugepages') - self._taken)}\n")
            say(f"released {self._taken} hugepages")


def _number(name: str) -> int:
    return int((POOL / name).read_text())


def main(arguments: list[str]) -> int:
    """Runs the command. A signal ends this only after the command, so that pages in use are not given back."""
    wanted = arguments[:1] != ["--no-hugepages"]
    command = arguments[0 if wanted else 1 :]
    if not command or command[0].startswith("-"):
        print(__doc__)
        return 0 if command[:1] in (["-h"], ["--help"]) else 2
    received: list[int] = []

    def remember(number: int, _: FrameType | None) -> None:
        received.append(number)

    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, remember)
    with reserved(wanted):
        status = subprocess.run(command, check=False).returncode
    if received:
        return 128 + received[0]
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
