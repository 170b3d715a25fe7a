# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The lint of the twins: what it reads as a function, which names match, and that it notices what deviates."""
# ruff: noqa: D103

import subprocess
import sys
from pathlib import Path

import pytest

TWINS = Path(__file__).parent / "twins.py"
sys.path.insert(0, str(TWINS.parent))
import twins  # noqa: E402 # not in a package

C = """\
/* void
 * commented_out(void)
 */
static const char *const text = "{\\"";

static void declared(int a);

static inline bool
first(const char **cursor,
	int (*callback)(void *))
{
	if (*cursor == '{')
		second(cursor);
	return true;
}

int
add_totals(void)
{
	return RTE_MAX(1, 2);
}

void
init_report(struct report *report)
{
}
"""

RUST = """\
use x::{y, z};
/// fn commented_out() {}
const BRACE: char = '{';
fn first<'a>(text: &'a str, macs: [u8; 12]) -> Option<[u8; 2]> where Self: Sized {
    fn inner() {}
    let text = "fn quoted() {";
    let raw = r#"fn raw() { " "#;
    if text == "}" { loop {} }
}
pub(crate) trait Described { fn described(&self) {} fn declared(&self); }
impl Totals {
    /// A method.
    pub(crate) const fn add(&mut self, part: &Self) { }
}
impl<'a> Report<'a> {
    pub(crate) fn new(text: &'a str) -> Self { Self { text } }
}
impl<T: Into<u8>> From<T> for Report<'_> { fn from(_: T) -> Self { todo!() } }
#[cfg(test)]
mod tests { fn tested() {} }
"""


def test_functions_are_found() -> None:
    assert twins.c_functions(C) == ["first", "add_totals", "init_report"]
    assert twins.rust_functions(RUST) == ["first", "Totals::add", "Report::new"]


def test_names_match() -> None:
    assert twins.c_names("first") == {"first"}
    assert twins.c_names("Totals::add") == {"add", "add_totals"}
    assert twins.c_names("StatsJson::open") == {"open", "open_stats_json"}
    assert twins.c_names("QueuePair::new") == {"init_queue_pair"}


@pytest.mark.parametrize(
    ("rust", "moved"),
    [(["a", "b", "c", "d"], []), (["d", "a", "b", "c"], ["d"]), (["b", "a", "d", "c"], ["a", "c"]), ([], [])],
)
def test_the_fewest_are_out_of_order(rust: list[str], moved: list[str]) -> None:
    found = twins.out_of_order(twins.pair(["a", "b", "c", "d"], rust), rust)
    assert len(found) == len(moved)
    left = [name for name in rust if (name, name) not in found]
    assert left == sorted(left)


def program(
    tmp_path: Path, c: str, rust: str, exceptions: str = "", main: str = "int\nmain(void)\n{\n}\n"
) -> list[str]:
    """What the lint says of twins made of these functions, and of a `main` in a file of its own."""
    files = {
        "l2fwd-c/main.c": main,
        "l2fwd-rs/src/main.rs": "fn main() {}\n",
        "l2fwd-c/port.c": "".join(f"void\n{name}(void)\n{{\n}}\n" for name in c.split()),
        "l2fwd-rs/src/port.rs": "".join(f"fn {name}() {{}}\n" for name in rust.split()),
        "exceptions.toml": exceptions,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return twins.check(tmp_path, tmp_path / "exceptions.toml")[0]


def test_twins_are_fine(tmp_path: Path) -> None:
    assert program(tmp_path, "a b", "a b") == []
    assert (
        program(tmp_path, "a b", "a", '[[exception]]\nfile = "port"\nc = ["b"]\nreason = "C has no destructors"') == []
    )


@pytest.mark.parametrize(
    ("c", "rust", "message"),
    [
        ("a b", "b a", "elsewhere among its neighbours"),
        ("a b", "a", "l2fwd-c/port.c: b has no twin in l2fwd-rs/src/port.rs"),
        ("a", "a b", "l2fwd-rs/src/port.rs: b has no twin in l2fwd-c/port.c"),
    ],
)
def test_a_deviation_is_named(tmp_path: Path, c: str, rust: str, message: str) -> None:
    found = program(tmp_path, c, rust)
    assert len(found) == 1
    assert message in found[0]


@pytest.mark.parametrize(
    ("exceptions", "message"),
    [
        ('file = "port"\nc = ["a"]\nrust = ["a"]', "gives no reason"),
        ('file = "port"\nreason = "x"', "needs `file`, and `c` or `rust`"),
        ('file = "port"\nc = ["gone"]\nreason = "x"', "there is no function gone in l2fwd-c/port.c"),
        ('file = "gone"\nrust = true\nreason = "x"', "there is no file gone in l2fwd-rs/src"),
    ],
)
def test_an_exception_that_is_wrong(tmp_path: Path, exceptions: str, message: str) -> None:
    found = program(tmp_path, "a", "a", f"[[exception]]\n{exceptions}")
    assert len(found) == 1
    assert message in found[0]


def test_files_have_twins_and_main_ends_its_own(tmp_path: Path) -> None:
    (tmp_path / "l2fwd-c").mkdir()
    (tmp_path / "l2fwd-c" / "alone.c").write_text("")
    found = program(tmp_path, "a", "a", main="int\nmain(void)\n{\n}\nvoid\nafter(void)\n{\n}\n")
    assert found == [
        "l2fwd-c: the file alone has no twin in l2fwd-rs/src",
        "l2fwd-c/main.c: after has no twin in l2fwd-rs/src/main.rs",
        "l2fwd-c/main.c: main is not the last function",
    ]


def test_the_project_passes() -> None:
    done = subprocess.run([sys.executable, str(TWINS)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
