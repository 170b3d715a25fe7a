# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Runs one of `fuzz_targets/` under atheris: `engine.py TARGET [libFuzzer's arguments]`. `./x fuzz` calls this."""

from __future__ import annotations

import importlib
import shlex
import sys
from pathlib import Path

import atheris

# What guides the fuzzer by the branches that its inputs take.
INSTRUMENTED = ["testbed", "fuzz", "dpkt", "json", "tally"]


def main() -> None:
    """Fuzzes until libFuzzer has enough."""
    program, name, *rest = sys.argv
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    with atheris.instrument_imports(include=INSTRUMENTED):
        target = importlib.import_module(f"fuzz.fuzz_targets.{name}")
    # Merging corpora, libFuzzer has a shell start this program anew.
    atheris.Setup([shlex.join([sys.executable, program, name]), *rest], target.check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
