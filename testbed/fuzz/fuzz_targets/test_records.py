# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The records of test runners that `./x test` adds up."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / ".ci"))

import tally

_TEMPORARY = tempfile.TemporaryDirectory(prefix="fuzz-records-")
FOLDER = Path(_TEMPORARY.name)
KINDS = ("cargo", "meson", "pytest")


def check(data: bytes) -> None:
    """Every record gives a sum, and one that cannot be read or reports nothing is a failure."""
    kind = KINDS[data[0] % len(KINDS)] if data else "cargo"
    status = b"1" if data[1:2] == b"!" else b"0"
    (FOLDER / "run.status").write_bytes(status)
    (FOLDER / f"run{tally.READERS[kind][0]}").write_bytes(data[2:])
    total = tally.run(FOLDER, "run", kind)
    assert total.passed >= 0, total
    assert total.ran > 0
    assert total.failures or status == b"0"
    assert total.line().startswith(f"{total.passed} passed, {len(total.failures)} failed")
