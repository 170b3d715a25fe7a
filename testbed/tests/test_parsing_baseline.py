# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What the kernels of the parsers execute and call, against the figures that are checked in."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from testbed.bench.count.gate import read_figures
from testbed.parsing.baseline import Figures, baseline_path, compiler_of, complaints, count_program
from testbed.parsing.build import release_program
from testbed.parsing.versions import tool_versions

KEY = "rustc 1"
CHECKED_IN = {
    KEY: {
        "W1 calm": {"instructions": 50.0, "calls": 1, "panic_paths": 0},
        "W1 hasty": {"instructions": 50.0, "calls": 3, "panic_paths": 2},
    }
}


@pytest.mark.e2e
def test_no_kernel_has_become_slower(tmp_path: Path) -> None:
    """By more than 2 % in instructions; and none that cannot panic has come to call more."""
    if shutil.which("valgrind") is None:
        pytest.skip("'valgrind' is not installed")
    program = release_program()
    if not os.access(program, os.X_OK):
        pytest.skip("not built: cargo build --profile dist -p parsing-bench --example measure")
    checked_in = read_figures(baseline_path())
    if (compiler := compiler_of("safe-rust", tool_versions())) not in checked_in:
        pytest.skip(f"no figures with {compiler} are checked in: ./x bench parsing --renew")
    found = count_program(program, tmp_path)
    assert found
    assert complaints(found, checked_in) == []


@pytest.mark.parametrize(
    ("row", "instructions", "calls", "panics", "complaint"),
    [
        ("W1 calm", 50.9, 1, 0, None),
        ("W1 calm", 40.0, 0, 0, None),
        ("W1 calm", 51.1, 1, 0, "W1 calm: 50.0 instructions became 51.1"),
        ("W1 calm", 50.0, 2, 0, "W1 calm: 1 calls became 2"),
        ("W1 calm", 50.0, 1, 1, "W1 calm: it could not panic, and now has 1 panic paths"),
        ("W1 hasty", 50.0, 4, 3, None),
        ("W1 hasty", 60.0, 3, 2, "W1 hasty: 50.0 instructions became 60.0"),
        ("W2 calm", 50.0, 1, 0, "W2 calm: no figure with rustc 1 is checked in"),
    ],
)
def test_what_is_complained_of(row: str, instructions: float, calls: int, panics: int, complaint: str | None) -> None:
    found = complaints([Figures(KEY, row, instructions, calls, panics)], CHECKED_IN)
    assert len(found) == (complaint is not None)
    assert complaint is None or found[0].startswith(complaint)


def test_another_compiler_is_not_compared() -> None:
    assert complaints([Figures("rustc 2", "W1 calm", 90.0, 9, 9)], CHECKED_IN) == []
