# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Small trees with a circle that must be found, and without one where a careless reader would see one."""
# ruff: noqa: D103

import subprocess
import sys
from pathlib import Path

import pytest

LINT = Path(__file__).parent / "circles.py"


@pytest.fixture
def circles(tmp_path):
    """Runs the lint over files that are given by path; its exit status and its lines without indentation."""

    def run(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, LINT, tmp_path], capture_output=True, text=True)
        return done.returncode, [line.strip() for line in done.stderr.splitlines()]

    return run


def crate(**modules):
    """A crate: file names below src/ with __ for a slash, and without the ending."""
    return {"Cargo.toml": ""} | {f"src/{name.replace('__', '/')}.rs": text for name, text in modules.items()}


def test_a_circle_between_folders_names_what_ties_it(circles):
    status, lines = circles(
        crate(
            lib="mod port; mod queue;",
            port__mod="pub struct Port; use crate::queue::{Queue, state::State as Now};",
            queue__mod="mod state; pub struct Queue;",
            queue__state="pub enum State { Open(crate::port::Port) }",
        )
    )
    assert (status, lines) == (
        1,
        [
            "a circle of 2 files in 2 folders:",
            "src/port/mod.rs -> src/queue/state.rs: State",
            "src/queue/state.rs -> src/port/mod.rs: Port",
        ],
    )


def test_a_circle_inside_a_folder_is_one_too(circles):
    status, lines = circles(
        crate(lib="mod a; mod b;", a="use crate::b::B; pub struct A;", b="use crate::a::A; pub struct B;")
    )
    assert (status, lines[0]) == (1, "a circle of 2 files in one folder:")


@pytest.mark.parametrize(
    "use",
    [
        "use crate::b::B;",
        "use super::b::{self, B};",
        "use crate::{a::A, b::B};",
        "use crate::Public;",
        "use crate::b; fn f() { b::B::new(); }",
        "fn f() -> crate::b::B { todo!() }",
        "macro_rules! b { () => { $crate::b::B }; }",
        "mod inner { use super::super::b::B; }",
        "fn f() { use crate::b::B as _; }",
        "use crate::faces::*; fn f(b: B) {}",
        "pub use crate::b::B;",
    ],
)
def test_every_way_to_use_a_name_is_seen(circles, use):
    lib = "mod a; mod b; mod faces; pub use b::B as Public;"
    status, lines = circles(
        crate(lib=lib, a=f"pub struct A; {use}", b="pub struct B(crate::a::A);", faces="pub use crate::b::B;")
    )
    assert status == 1
    assert any(line.startswith("src/a.rs -> src/b.rs: B") for line in lines)


@pytest.mark.parametrize(
    "harmless",
    [
        "// use crate::b::B;",
        "/// A [`B`](crate::b::B).",
        "/* use crate::b::B; /* and */ use crate::b::B; */",
        'const WORDS: &str = "\\" crate::b::B";',
        'const WORDS: &str = r#"" crate::b::B"#;',
        "const QUOTE: char = '\"'; const OTHER: char = '\\''; // crate::b::B \"",
        "#[cfg(test)] mod tests { use crate::b::B; #[test] fn f() {} }",
        "#[cfg(test)] #[allow(dead_code)] use crate::b::B;",
        "use std::b::B; fn f() -> Option<b::B> { None }",
    ],
)
def test_comments_strings_and_tests_are_no_use(circles, harmless):
    assert circles(crate(lib="mod a; mod b;", a=f"pub struct A; {harmless}", b="pub struct B(crate::a::A);")) == (0, [])


def test_a_module_that_only_passes_on_its_children_is_in_no_circle(circles):
    lib = "mod port; pub use port::{Port, error::Error};"
    port = "mod error; pub use error::Error; pub struct Port;"
    error = "use crate::Port; pub struct Error(Port);"
    assert circles(crate(lib=lib, port__mod=port, port__error=error)) == (0, [])


def test_a_module_that_uses_what_it_passes_on_is(circles):
    port = "mod error; pub use error::Error; pub struct Port(Result<(), Error>);"
    error = "use super::Port; pub struct Error(Port);"
    status, lines = circles(crate(lib="mod port;", port__mod=port, port__error=error))
    assert (status, lines[0]) == (1, "a circle of 2 files in one folder:")


def test_modules_that_a_macro_declares_are_read(circles):
    status, _ = circles(crate(lib="declare!(a b);", a="use crate::b::B; pub struct A;", b="pub struct B(crate::a::A);"))
    assert status == 1


@pytest.mark.parametrize(
    "use",
    [
        "from tool.below.b import B",
        "from tool.below import b\nb.B()",
        "from tool import below\nbelow.b.B()",
        "import tool.below.b\ntool.below.b.B()",
        "from .below.b import *",
        "def f():\n    from .below import b as other\n    return other.B()",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from tool.below.b import B",
        "from tool.passing import B",
    ],
)
def test_a_circle_of_python_modules(circles, use):
    status, lines = circles(
        {
            "tool/__init__.py": "",
            "tool/a.py": use,
            "tool/passing/__init__.py": "from tool.below.b import B",
            "tool/below/__init__.py": "",
            "tool/below/b.py": "from tool import a\na.A()",
        }
    )
    assert (status, lines[0]) == (1, "a circle of 2 files in 2 folders:")
    assert any(line.startswith("tool/a.py -> tool/below/b.py: ") for line in lines)


def test_python_modules_in_a_row_are_no_circle(circles):
    files = {
        "tool/__init__.py": "from tool.a import A",
        "tool/a.py": "import json\nfrom tool.b import B\njson.dumps(B.a.A)",
        "tool/b.py": '"""from tool.a import A"""',
        "scripts/a.py": "import b",
        "scripts/b.py": "from tool import A",
    }
    assert circles(files) == (0, [])
