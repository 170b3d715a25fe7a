# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""DPDK's leftovers of a process that has ended: the folder of its `--file-prefix`, which is not used again."""

from __future__ import annotations

import atexit
import fcntl
import itertools
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

_OPTION = "--file-prefix="

_serial = itertools.count()

# The prefixes of this process: no folder of anybody else is removed.
_handed_out: set[str] = set()


def unique_file_prefix(role: str) -> str:
    """A `--file-prefix` that no other DPDK process of this machine uses: two of a kind would take over each other.

    Its folder goes with the `Process` that has it in its arguments, and at the latest when this program ends.
    """
    prefix = f"testbed-{os.getpid()}-{next(_serial)}-{role}"
    _handed_out.add(prefix)
    return prefix


def runtime_folder(prefix: str, environment: Mapping[str, str] | None = None) -> Path:
    """Where a DPDK process of this user keeps its files, by what it finds in its environment."""
    variables = os.environ if environment is None else environment
    root = variables.get("RUNTIME_DIRECTORY")
    if root is None:
        root = "/var/run" if os.getuid() == 0 else variables.get("XDG_RUNTIME_DIR", "/tmp")  # noqa: S108
    return Path(root, "dpdk", prefix)


def remove_folder_of(argv: Sequence[str | os.PathLike[str]], environment: Mapping[str, str]) -> None:
    """Removes the folder of a program that has ended, if it had a prefix of `unique_file_prefix`."""
    words = (os.fspath(word) for word in argv)
    prefixes = {word.removeprefix(_OPTION) for word in words if word.startswith(_OPTION)}
    for prefix in prefixes & _handed_out:
        _remove(runtime_folder(prefix, environment))


def remove_folders() -> None:
    """Removes what is left of all prefixes of `unique_file_prefix`."""
    for prefix in list(_handed_out):
        _remove(runtime_folder(prefix))


def _remove(folder: Path) -> None:
    # Another process of the same prefix may run: of one that captures the frames of another, the latter.
    if not _is_in_use(folder / "config"):
        shutil.rmtree(folder, ignore_errors=True)


def _is_in_use(config: Path) -> bool:
    """Whether the primary process of a folder runs: it keeps a lock on this file."""
    try:
        with config.open("r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


atexit.register(remove_folders)
