# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""`./x testbed` in processes of its own, on two simulated devices."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# PACE is the real seconds that a simulated one takes.
DEVICES = """\
generator: {kind: simulated}
devices:
  - name: one
    model: &one
      throughput_fps: {64: 12.4e+6, 512: 5.1e+6}
      seed: 3
      noise: 0.003
      shortfalls: 0.05
      pace: PACE
  - name: two
    model:
      <<: *one
      throughput_fps: {64: 10.5e+6, 512: 4.9e+6}
"""


def argv(*words: object) -> list[str]:
    return [sys.executable, "-u", "-m", "testbed", *map(str, words)]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def run_testbed(*words: object, **more: object) -> subprocess.CompletedProcess:
    return subprocess.run(argv(*words), env=environment(), capture_output=True, text=True, check=False, **more)


def folder_in(out: Path) -> Path:
    (folder,) = out.iterdir()
    return folder
