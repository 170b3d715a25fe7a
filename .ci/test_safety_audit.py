# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""The audit is worth something only if no `unsafe` gets past it, so every way past it is a test here."""
# ruff: noqa: D103

import re
import subprocess
import sys
from pathlib import Path

import pytest

AUDIT = Path(__file__).parent / "safety_audit.py"
REPOSITORY = AUDIT.parents[1]

GOOD = """\
//! Words about `unsafe { }` are no code.

/// Neither are these: unsafe { }.
pub struct Handle(*mut u8);

// SAFETY: the handle is the only one.
unsafe impl Send for Handle {}

impl<'a, T: 'a> Handle<T> {
    /// The first byte.
    #[must_use]
    pub fn first(&self) -> u8 {
        let quote = '"'; // a quote that opens nothing
        // A remark that stands before it.
        // SAFETY: the pointer is live: `new` asks for that,
        // and nobody frees it.
        unsafe { self.0.read() }
    }

    /// Takes over a pointer.
    ///
    /// # Safety
    /// The pointer is live, says
    /// the caller.
    ///
    /// # Panics
    /// Never.
    #[inline]
    pub const unsafe fn new(pointer: *mut u8) -> Self {
        Self(pointer)
    }
}
"""


def tree(folder, source, file="dpdk-rs/src/lib.rs"):
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    return folder


def audit(folder, *options):
    """Runs the audit over a tree; its exit status, and what it complained of, line by line."""
    done = subprocess.run([sys.executable, AUDIT, *options, folder], capture_output=True, text=True, check=False)
    assert done.stdout == ""
    return done.returncode, done.stderr.splitlines()


def entries(folder):
    """The lines of the page that are for one `unsafe` each, after it was written without a complaint."""
    assert audit(folder) == (0, [])
    text = (folder / "target/doc/SAFETY.md").read_text()
    return [line for line in text[text.index("\n## ") :].splitlines() if line.startswith(("- ", "`", "## "))]


def complaint(folder, source):
    """The only complaint about a source."""
    status, lines = audit(tree(folder, source))
    assert status == 1
    assert len(lines) == 1
    assert not (folder / "target/doc/SAFETY.md").exists(), "nothing half-written"
    return lines[0]


def test_page_names_file_function_operation_and_reason(tmp_path):
    assert entries(tree(tmp_path, GOOD)) == [
        "## dpdk-rs/src/lib.rs",
        "`Handle`",
        "- `unsafe impl Send for Handle`: the handle is the only one.",
        "`Handle::first`",
        "- `self.0.read()`: the pointer is live: `new` asks for that, and nobody frees it.",
        "`Handle::new`",
        "- `unsafe fn new`: The pointer is live, says the caller.",
    ]


def test_counts_at_the_head_are_those_of_the_page(tmp_path):
    entries(tree(tmp_path, GOOD))
    assert "3 lines for 1 file: 1 block, 1 impl, 1 function." in (tmp_path / "target/doc/SAFETY.md").read_text()


def test_both_crates_and_all_their_folders_are_read(tmp_path):
    source = "fn f() {\n    // SAFETY: it is so.\n    unsafe { g() }\n}\n"
    for file in ("dpdk-rs/src/b/c.rs", "dpdk-rs/src/a.rs", "dpdk-sys/src/lib.rs"):
        tree(tmp_path, source, file)
    tree(tmp_path, "fn f() { unsafe { g() } }", "dpdk-rs/tests/not_ours.rs")
    files = [line for line in entries(tmp_path) if line.startswith("## ")]
    assert files == ["## dpdk-rs/src/a.rs", "## dpdk-rs/src/b/c.rs", "## dpdk-sys/src/lib.rs"]


@pytest.mark.parametrize(
    "text",
    [
        '"unsafe { }"',
        '"a \\" unsafe { }"',
        'r#"a " unsafe { }"#',
        'b"unsafe { }"',
        'br##"a "# unsafe { }"##',
        'c"unsafe { }"',
        "('\"', '\\'', b'\"', \"unsafe { }\")",
        "/* unsafe { /* unsafe { } */ } */ 1",
        "1 // unsafe { }",
        "r#unsafe",
        "unsafe_name",
        "None::<unsafe fn(u8)>",
        'None::<unsafe extern "C" fn(*mut u8) -> i32>',
    ],
)
def test_what_is_no_unsafe_code_is_not_taken_for_it(tmp_path, text):
    """The block behind it is still seen."""
    source = f"fn f<'a>() {{\n    let x = {text}\n    ;\n    // SAFETY: it is so.\n    unsafe {{ g() }}\n}}\n"
    assert entries(tree(tmp_path, source)) == ["## dpdk-rs/src/lib.rs", "`f`", "- `g()`: it is so."]


@pytest.mark.parametrize(
    "statement",
    [
        "let a = unsafe { g() };",
        "let Some(a) = (unsafe { g() }) else { return };",
        "if count == 0 || unsafe { g() } != 0 {}",
        "let a: [u8; 4] = unsafe { g() };",
        "let Pair { a, b } = unsafe { g() };",
        "Handle { pointer: unsafe { g() } };",
        "list.map(|one| unsafe { g() }).count();",
        "let a =\n        unsafe { g() };",
        "call(\n        1,\n        unsafe { g() },\n    );",
        "#[cfg(unix)]\n    unsafe { g() };",
    ],
)
def test_comment_stands_before_the_statement(tmp_path, statement):
    source = f"fn f() {{\n    h();\n    // SAFETY: it is so.\n    {statement}\n}}\n"
    assert entries(tree(tmp_path, source))[-1] == "- `g()`: it is so."
    bare = source.replace("    // SAFETY: it is so.\n", "")
    line = 1 + bare[: bare.index("unsafe {")].count("\n")
    assert complaint(tmp_path / "bare", bare).startswith(
        f"dpdk-rs/src/lib.rs:{line}: `g()` lacks a comment `// SAFETY: …`"
    )


@pytest.mark.parametrize(
    ("item", "code"),
    [
        ("unsafe trait Plain {}", "unsafe fn g"),
        ("unsafe fn g() {}", "unsafe fn g"),
        ('pub(crate) unsafe extern "C" fn g(x: u8) {}', "unsafe fn g"),
        ("unsafe impl<T: Copy> Send for X<T> where T: Sync {}", ""),
        ('unsafe extern "C" {\n    fn g();\n}', ""),
        ('#[unsafe(no_mangle)]\nextern "C" fn g() {}', ""),
    ],
)
def test_items_need_their_words_too(tmp_path, item, code):
    documented = code != ""
    before = "/// It is.\n///\n/// # Safety\n/// it is so.\n" if documented else "// SAFETY: it is so.\n"
    assert entries(tree(tmp_path, before + item))[-1].endswith(": it is so.")
    wrong = "// SAFETY: it is so.\n" if documented else "/// # Safety\n/// it is so.\n"
    status, lines = audit(tree(tmp_path / "wrong", wrong + item))
    assert status == 1
    assert any("lacks a section `# Safety`" in line if documented else "lacks a comment" in line for line in lines)


def test_macros_are_looked_into(tmp_path):
    source = """\
macro_rules! field {
    ($name:ident, $kind:ty) => {
        /// A field.
        ///
        /// # Safety
        /// It is live.
        #[inline(always)]
        pub unsafe fn $name(self) -> $kind {
            // SAFETY: the caller says so.
            let field = unsafe { pointer(self.0) };
            $(unsafe { $kind })?
        }
        type Callback = unsafe extern "C" fn($kind);
    };
}
"""
    assert complaint(tmp_path, source).startswith("dpdk-rs/src/lib.rs:11: `$kind` lacks a comment")
    assert entries(tree(tmp_path, source.replace("            $(unsafe { $kind })?\n", ""))) == [
        "## dpdk-rs/src/lib.rs",
        "`field!`",
        "- `unsafe fn $name`: It is live.",
        "- `pointer(self.0)`: the caller says so.",
    ]


@pytest.mark.parametrize(
    ("source", "line", "name"),
    [
        ('include!("x.inc");', 1, "include!"),
        ('fn f() {\n    std::include!("x.inc")\n}', 2, "include!"),
        ("use core::include as words;", 1, "include!"),
        ('macro_rules! m {\n    () => { include!("x.inc"); };\n}', 2, "include!"),
        # In another file than the one that has the bindings.
        ('include!(concat!(env!("OUT_DIR"), "/bindings.rs"));', 1, "include!"),
        ('#[path = "../../x.rs"]\nmod x;', 1, "#[path]"),
        ('#[cfg_attr(unix, path = "x.rs")]\nmod x;', 1, "#[path]"),
        ('macro_rules! m {\n    () => { #[path = "x.rs"] mod x; };\n}', 2, "#[path]"),
    ],
)
def test_source_text_of_other_files_is_refused(tmp_path, source, line, name):
    assert complaint(tmp_path, source + "\n").startswith(f"dpdk-rs/src/lib.rs:{line}: `{name}` ")


def test_the_bindings_may_be_included_once(tmp_path):
    include = 'include!(concat!(env!("OUT_DIR"), "/bindings.rs"));\n'
    tree(tmp_path, GOOD)
    assert audit(tree(tmp_path, include, "dpdk-sys/src/lib.rs")) == (0, [])
    status, _ = audit(tree(tmp_path, include.replace("bindings", "more"), "dpdk-sys/src/lib.rs"))
    assert status == 1


def test_paths_and_fields_of_that_name_are_allowed(tmp_path):
    source = (
        'fn f(path: &str) {\n    let x = Foo { a: 1, path };\n    let path = "x";\n    x.path = include_str!("x");\n}'
    )
    assert audit(tree(tmp_path, GOOD + source)) == (0, [])


def test_each_needs_a_comment_of_its_own(tmp_path):
    source = "fn f() {\n    // SAFETY: it is so.\n    unsafe { g() } + unsafe { h() }\n}\n"
    assert complaint(tmp_path, source).endswith(" of its own: that before it is for line 3")
    nested = "fn f() {\n    // SAFETY: it is so.\n    unsafe {\n        g(|| unsafe { h() })\n    }\n}\n"
    assert "lib.rs:4: `h()` lacks" in complaint(tmp_path, nested)


@pytest.mark.parametrize(
    "before",
    [
        "    // Nothing about safety.\n",
        "    // SAFETY:\n",
        "    // SAFETY: an empty line away.\n\n",
        "    // SAFETY: an empty line away.\n\n    // Words of another comment.\n",
        "    // SAFETY: of another statement.\n    h();\n",
        "    h(); // SAFETY: behind another statement.\n",
        "    let x = {\n        // SAFETY: of an inner block.\n        1\n    };\n",
    ],
)
def test_words_elsewhere_do_not_count(tmp_path, before):
    status, lines = audit(tree(tmp_path, f"fn f() {{\n{before}    unsafe {{ g() }}\n}}\n"))
    assert status == 1
    assert any("`g()` lacks a comment" in line for line in lines)


def test_safety_comment_before_nothing_unsafe(tmp_path):
    source = "fn f() {\n    // SAFETY: it was so,\n    // once.\n    g();\n}\n"
    assert complaint(tmp_path, source) == "dpdk-rs/src/lib.rs:2: this SAFETY comment is before nothing unsafe"


@pytest.mark.parametrize(
    "words", ["as above.", "it is live (see `new`).", "As for the first one.", "the same as in `f`."]
)
def test_comments_that_send_the_reader_elsewhere(tmp_path, words):
    source = f"fn f() {{\n    // SAFETY: {words}\n    unsafe {{ g() }}\n}}\n"
    assert complaint(tmp_path, source).endswith("and must be read alone")


def test_source_that_cannot_be_parsed_is_not_passed_over(tmp_path):
    assert "lib.rs:2: this cannot be parsed" in complaint(tmp_path, "fn f() {}\nfn ) { unsafe { g() } }\n")


def test_a_tree_without_sources_is_not_clean(tmp_path):
    status, [line] = audit(tmp_path)
    assert (status, line.startswith("no unsafe code found")) == (1, True)


def test_long_calls_are_cut_behind_their_name(tmp_path):
    call = "sys::rte_call(" + ", ".join(f"argument_{number}" for number in range(9)) + ")"
    source = f"fn f() {{\n    // SAFETY: it is so.\n    unsafe {{\n        {call};\n    }}\n}}\n"
    assert entries(tree(tmp_path, source))[-1] == "- `sys::rte_call(…)`: it is so."


def test_check_writes_nothing_and_complains_all_the_same(tmp_path):
    assert audit(tree(tmp_path, GOOD), "--check") == (0, [])
    assert not (tmp_path / "target").exists()
    status, [line] = audit(tree(tmp_path, "fn f() { unsafe { g() } }"), "--check")
    assert status == 1
    assert "lacks a comment" in line


def test_no_unsafe_of_the_repository_is_missing(tmp_path):
    """Counted again with other means: lines of code with the word, which rustfmt writes once a line."""
    count = 0
    for path in [*REPOSITORY.glob("dpdk-rs/src/**/*.rs"), *REPOSITORY.glob("dpdk-sys/src/**/*.rs")]:
        if "dpdk-rs/src/models/" in path.as_posix():
            continue  # tests
        lines = path.read_text().splitlines()
        code = [line for line in lines if not line.lstrip().startswith("//") and "unsafe_code" not in line]
        count += sum(len(re.findall(r"\bunsafe (?:\{|impl|fn [^(]|extern \"C\" fn \w|trait)", line)) for line in code)
    for crate in ("dpdk-rs/src", "dpdk-sys/src"):
        (tmp_path / crate).parent.mkdir()
        (tmp_path / crate).symlink_to(REPOSITORY / crate)
    assert audit(tmp_path) == (0, [])
    page = (tmp_path / "target/doc/SAFETY.md").read_text()
    assert f"The page has {count} lines" in page
    assert sum(line.startswith("- `") for line in page[page.index("\n## ") :].splitlines()) == count
