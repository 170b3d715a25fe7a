# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Runs in a guest, which takes seconds to load this package: loads it once, then runs its programs as children.

    standby.py FOLDER MODULE…    # then write ["testbed.doctor", "--json"] to FOLDER/request, and read FOLDER/status

What a program prints is in FOLDER/output.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import sys
from pathlib import Path


def main(folder: Path, modules: list[str]) -> None:
    """Does so until it is killed."""
    for module in modules:
        importlib.import_module(module)
    os.mkfifo(folder / "status")
    os.mkfifo(folder / "request")
    while True:
        words = json.loads((folder / "request").read_text())
        child = os.fork()
        if child == 0:
            output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(output, 1)
            os.dup2(output, 2)
            sys.argv = words
            runpy.run_module(words[0], run_name="__main__", alter_sys=True)
            sys.exit()
        _, status = os.waitpid(child, 0)
        (folder / "status").write_text(f"{os.waitstatus_to_exitcode(status) & 0xFF}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
