# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The kernel's information about a machine in /proc and /sys, read below a root that may be a recorded tree."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

# In a recorded tree: what commands printed, each in a file of its name.
COMMANDS = "commands"


class Host:
    """A machine: this one, or a tree of files that was recorded on another."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    @property
    def is_live(self) -> bool:
        """Whether it is this machine, and not a tree."""
        return self.root == Path("/")

    def path(self, path: str) -> Path:
        """Where a file of the machine is to be found."""
        return self.root / path.lstrip("/")

    def text(self, path: str) -> str | None:
        """A file without its last line break; None if it cannot be read."""
        try:
            return self.path(path).read_text(errors="replace").rstrip("\n")
        except OSError:
            return None

    def number(self, path: str) -> int | None:
        """A file with one number, decimal or with 0x; None if it is not there or something else."""
        try:
            return int(self.text(path) or "", 0)
        except ValueError:
            return None

    def names(self, folder: str) -> list[str]:
        """What is in a folder, sorted; empty if it is none."""
        try:
            return sorted(entry.name for entry in self.path(folder).iterdir())
        except OSError:
            return []

    def exists(self, path: str) -> bool:
        """Whether there is such a file or folder."""
        return self.path(path).exists()

    def link(self, path: str) -> str | None:
        """The last part of where a symbolic link leads: of `…/driver` the driver's name."""
        try:
            return self.path(path).readlink().name
        except OSError:
            return None

    def write(self, path: str, text: str) -> None:
        """Writes a file of the kernel in one call, as it wants them.

        Raises `OSError` with the kernel's reason.
        """
        file = os.open(self.path(path), os.O_WRONLY)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)

    def output(self, *argv: str) -> str | None:
        """What a short command prints; None if it is not there or fails."""
        if not self.is_live:
            return self.text(f"{COMMANDS}/{shlex.join(argv).replace('/', '_')}")
        if shutil.which(argv[0]) is None:
            return None
        try:
            done = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.rstrip("\n") if done.returncode == 0 else None

    def run(self, *argv: str) -> str | None:
        """Runs a command that changes the machine; None if it went well, else what it said."""
        try:
            done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        return None if done.returncode == 0 else lines[-1]

    def field(self, path: str, key: str) -> str | None:
        """The value of a line `key: value`; of several the first."""
        for line in (self.text(path) or "").splitlines():
            name, colon, value = line.partition(":")
            if colon and name.strip() == key:
                return value.strip()
        return None

    def boot_parameters(self) -> list[str]:
        """The words of the kernel's command line."""
        return (self.text("/proc/cmdline") or "").split()

    def processes(self, name: str) -> list[int]:
        """The ids of the processes of this name, as `ps -o comm` shows it."""
        return [
            int(entry)
            for entry in self.names("/proc")
            if entry.isdecimal() and self.text(f"/proc/{entry}/comm") == name
        ]

    def has_module(self, name: str) -> bool:
        """Whether the kernel has this module, loaded or built in with parameters."""
        return self.exists(f"/sys/module/{name.replace('-', '_')}")

    def loaded_modules(self) -> list[str]:
        """The modules that could be unloaded, the last one loaded first."""
        return [line.split()[0] for line in (self.text("/proc/modules") or "").splitlines() if line.strip()]
