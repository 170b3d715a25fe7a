# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Instructions that the generator executes for a frame, to send it and to check it when it is back.

TESTBED_RENEW=1 in the environment renews the figure that is checked in.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from testbed.bench.count.callgrind import read_profile
from testbed.bench.count.gate import figures_path, growth, read_figures, renew_figures, versions
from testbed.bench.count.instructions import EAL_WORDS
from testbed.run.eal import unique_file_prefix
from testbed.run.programs import Program

ROW = "generator, there and back on net_ring, burst 32"
# Bursts of other lengths than 32, which a time slice can cause at most, are rarer than this share.
GROWTH_MAX = 0.03
FRAMES = 60_000
# What counts: sending and receiving, not what a run begins and ends with.
LOOP = "generator::run::run"
_PATIENCE_S = 120


def _instructions(program: Program, folder: Path) -> Counter[str]:
    """Of the loop of a run, by the name of the object file."""
    profile = folder / "generator.callgrind"
    tool = ("valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", "--collect-atstart=no")
    prefix = f"--file-prefix={unique_file_prefix('count')}"
    eal = ("--no-huge", "--no-pci", "--no-telemetry", "-m", "128", "-l", "0", "--vdev=net_ring0", *EAL_WORDS, prefix)
    own = ("--ports", "0", "--count", str(FRAMES), "--burst", "32", "--probe", "0", "--quiet")
    done = subprocess.run(
        [*tool, f"--toggle-collect={LOOP}", str(program.path), *eal, "--", *own],
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert next(line.split() for line in done.stderr.splitlines() if "received" in line)[1] == str(FRAMES), done.stderr
    costs: Counter[str] = Counter()
    for function, cost in read_profile(profile).self_cost.items():
        costs[Path(function.object).name] += cost
    return costs


def test_the_generator_takes_no_more_instructions_for_a_frame(generator_program: Program, tmp_path: Path) -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    costs = _instructions(generator_program, tmp_path)
    own = costs.pop(generator_program.path.name, 0) / FRAMES
    others = sum(costs.values()) / FRAMES
    assert own > 0, f"{LOOP} was not called: has its name changed?"
    key, path = versions(), figures_path()
    if os.environ.get("TESTBED_RENEW"):
        renew_figures(path, key, {ROW: {"application": round(own, 2), "device": round(others, 2)}})
    row = read_figures(path).get(key, {}).get(ROW)
    if row is None:
        pytest.skip(f"{path.name} has no figure for the generator with {key}: {own:.2f} instructions a frame")
    before = row["application"]
    assert growth(own, before) <= GROWTH_MAX, f"{own:.2f} instructions a frame, not {before}: see ARCHITECTURE.md"
