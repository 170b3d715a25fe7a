# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Every input of the fuzzers' corpora goes through its target, so that what was once found stays found."""

import importlib
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parents[1] / "fuzz"
TARGETS = sorted(script.stem for script in (FUZZ / "fuzz_targets").glob("*.py"))


@pytest.mark.parametrize("name", TARGETS)
def test_corpus(name):
    check = importlib.import_module(f"fuzz.fuzz_targets.{name}").check
    inputs = sorted((FUZZ / "corpus" / name).iterdir())
    assert inputs
    for path in inputs:
        try:
            check(path.read_bytes())
        except Exception as error:
            raise AssertionError(f"{path} fails: {error!r}") from error


def test_each_corpus_has_a_target():
    assert sorted(folder.name for folder in (FUZZ / "corpus").iterdir()) == TARGETS
