# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""DPDK's own l2fwd example, which no distribution ships as a program."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from testbed.programs import ProgramMissing, repository_root

_PROGRAM = "target/dpdk-l2fwd/dpdk-l2fwd"


def find_l2fwd_example() -> Path:
    """Where it is.

    Raises `ProgramMissing`.
    """
    built = repository_root() / _PROGRAM
    if built.is_file() and os.access(built, os.X_OK):
        return built
    installed = shutil.which("dpdk-l2fwd")
    if installed:
        return Path(installed)
    raise ProgramMissing("DPDK's example l2fwd is not built: put the program 'dpdk-l2fwd' into a folder of PATH")
