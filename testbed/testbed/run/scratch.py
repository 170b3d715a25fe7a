# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Short-lived folders: for sockets, whose paths may have 107 bytes at most, and for the names of devices' files."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_PREFIX = "testbed-scratch-"
# Between its making and its locking a folder looks abandoned.
_GRACE_S = 60.0


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A private temporary folder. Leaving it also removes those of killed runs."""
    remove_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    lock = os.open(folder, os.O_RDONLY)
    try:
        # Held as long as this process lives, which is how others see that the folder is in use.
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(grace_s: float = _GRACE_S) -> list[Path]:
    """Removes the folders of runs that no longer live; returns them."""
    removed: list[Path] = []
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        try:
            if time.time() - folder.stat().st_mtime < grace_s:
                continue
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
        except OSError:
            continue
        finally:
            os.close(lock)
    return removed
