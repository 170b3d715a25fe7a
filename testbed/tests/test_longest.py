# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Which tests workers get first."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from longest import LONGEST, longest_first


def test_each_of_the_longest_is_a_file_of_tests() -> None:
    here = Path(__file__).parent
    assert [name for name in LONGEST if not (here / name).is_file()] == []
    assert len(set(LONGEST)) == len(LONGEST)


def test_the_longest_come_first_and_all_else_stays_as_it_was() -> None:
    names = [("a.py", 1), (LONGEST[1], 1), ("b.py", 1), (LONGEST[0], 2), (LONGEST[0], 1), ("b.py", 2)]
    items = [SimpleNamespace(path=Path("tests", name), number=number) for name, number in names]
    longest_first(items)
    assert [(item.path.name, item.number) for item in items] == [
        (LONGEST[0], 2),
        (LONGEST[0], 1),
        (LONGEST[1], 1),
        ("a.py", 1),
        ("b.py", 1),
        ("b.py", 2),
    ]
