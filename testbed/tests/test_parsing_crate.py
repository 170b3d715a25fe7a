# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""What is read from cargo's own files of a crate: releases, and how much of it is unsafe."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from testbed.parsing.crate import CrateError, count_unsafe, crate_facts, locked_version
from testbed.parsing.record import Crate

SOURCE = """
//! unsafe is what this module is not.
#![deny(unsafe_code)]

pub unsafe fn first(at: *const u8) -> u8 {
    // unsafe, too
    unsafe { *at } // and here: unsafe
}

unsafe impl Send for Thing {}

macro_rules! cast {
    ($from:expr) => {
        unsafe { core::mem::transmute($from) }
    };
}

const TEXT: &str = "unsafe { }";

#[cfg(not(test))]
unsafe fn kept() {}

#[cfg(test)]
mod tests {
    unsafe fn only_for_tests() {}
}

#[cfg(all(test, feature = "x"))]
mod more;
"""


def crate_in(folder: Path) -> None:
    source = folder / "registry/src/index/thing-1.10.0/src"
    source.mkdir(parents=True)
    (source / "lib.rs").write_text(SOURCE)
    (source / "more.rs").write_text("unsafe fn also_for_tests() {}\n")
    (source / "other.rs").write_text("mod deep;\n")
    (source / "other").mkdir()
    (source / "other/deep.rs").write_text("fn f() {\n\n    unsafe { g() }\n}\n")
    index = folder / "registry/index/index/.cache/th/in"
    index.mkdir(parents=True)
    releases = [
        ("1.9.0", "2024-01-02T03:04:05Z", False),
        ("1.10.0", "2025-02-03T03:04:05Z", False),
        ("1.11.0", "2025-03-03T03:04:05Z", True),
        ("2.0.0-rc.1", "2025-04-03T03:04:05Z", False),
        ("1.10.1", None, False),
    ]
    parts = [b"\3\2\0\0\0", b"etag: x"]
    for version, published, yanked in releases:
        entry = {"name": "thing", "vers": version, "yanked": yanked, **({"pubtime": published} if published else {})}
        parts += [version.encode(), json.dumps(entry).encode()]
    (index / "thing").write_bytes(b"\0".join(parts))


def test_what_a_crate_tells(tmp_path: Path) -> None:
    crate_in(tmp_path)
    # The function, its block, the impl, the macro, the one that is not for tests, and the file below.
    assert crate_facts("thing", "1.10.0", tmp_path) == Crate(
        released=date(2025, 2, 3), newest="1.10.1", newest_released=None, unsafe_count=6, code_lines=17
    )


def test_what_a_crate_does_not_tell(tmp_path: Path) -> None:
    assert crate_facts("thing", "1.10.0", tmp_path) == Crate()
    crate_in(tmp_path)
    assert crate_facts("thing", "1.9.0", tmp_path).unsafe_count is None
    assert count_unsafe(tmp_path / "nowhere") == (None, None)


@pytest.mark.parametrize("name", ["a", "ab", "pdu"])
def test_short_names_have_folders_of_their_own(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "registry/index/index/.cache" / str(len(name)) / (name[0] if len(name) == 3 else "")
    folder.mkdir(parents=True)
    entry = {"vers": "1.0.0", "yanked": False, "pubtime": "2026-01-01T00:00:00Z"}
    (folder / name).write_bytes(b"\0" + json.dumps(entry).encode() + b"\0")
    assert crate_facts(name, "1.0.0", tmp_path).released == date(2026, 1, 1)


LOCK = """
[[package]]
name = "smoltcp"
version = "0.8.2"

[[package]]
name = "smoltcp"
version = "0.14.0"

[[package]]
name = "pdu"
version = "1.5.1"

[[package]]
name = "parsing-bench"
version = "0.1.0"
dependencies = ["pdu", "smoltcp 0.14.0"]
"""


def test_of_two_versions_the_one_that_is_used(tmp_path: Path) -> None:
    lock = tmp_path / "Cargo.lock"
    lock.write_text(LOCK)
    assert [locked_version(name, lock=lock) for name in ("smoltcp", "pdu", "none")] == ["0.14.0", "1.5.1", None]
    lock.write_text("package = 1\n")
    with pytest.raises(CrateError, match=r"Cargo\.lock' cannot be read"):
        locked_version("pdu", lock=lock)


def test_the_lock_file_of_the_project() -> None:
    assert locked_version("smoltcp") is not None
