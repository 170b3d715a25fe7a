# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What .ci/lint/phrases.py flags and what it lets pass."""
# ruff: noqa: D103

import subprocess
import sys
from pathlib import Path

import pytest

LINT = Path(__file__).with_name("phrases.py")


def lint(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, LINT, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("text", "flagged"),
    [
        ("A field belongs into the header.", "belongs into -> belongs in"),
        ("/// The caller sees\n/// to it that nothing moves.\n", "sees to it that -> ensures that"),
        ("# Memory is not to\n# be had.\n", "not to be had -> available, unavailable"),
        ("    raise Error('no CPU is to be had')", "to be had -> available, unavailable"),
        ("A secondary process that is none.", "that is none -> that is not one"),
        (" * Bytes behind the end of\n * the frame.\n", "behind the end of -> after"),
    ],
)
def test_a_phrase_is_flagged(tmp_path: Path, text: str, flagged: str) -> None:
    file = tmp_path / "text.rs"
    file.write_text("One line.\n" + text)
    done = lint(file)
    assert done.returncode == 1
    assert done.stdout.startswith(f"{file}:2: {flagged}")
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.parametrize(
    "text",
    [
        "if value.is_none() { see_to(queue) }",
        "The payload lies behind two VLAN tags.",
        "He was seen to keep the rate.",
        "It returns None if there are none.",
    ],
)
def test_ordinary_text_passes(tmp_path: Path, text: str) -> None:
    file = tmp_path / "text.md"
    file.write_text(text)
    done = lint(file)
    assert (done.returncode, done.stdout) == (0, "")
