# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The l2fwd-rs authors
"""Ways past the audit without the word `unsafe`, and safe functions that are not: each is a seeded mistake here."""
# ruff: noqa: D103

import pytest
from test_safety_audit import GOOD, REPOSITORY, audit, complaint, entries, tree


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ('core::arch::global_asm!("nop");', 1, "`global_asm!` needs no `unsafe`"),
        ("use core::arch::global_asm as words;", 1, "`global_asm!` needs no `unsafe`"),
        ("const X: u32 = std::mem::transmute(1.0_f32);", 1, "`transmute` compares only sizes"),
        ("fn f() {\n    core::mem::transmute_copy::<u8, i8>(&1);\n}", 2, "`transmute_copy` compares nothing"),
        ("static mut COUNT: u32 = 0;", 1, "a `static mut`"),
        ("macro_rules! m {\n    () => { static mut X: u8 = 0; };\n}", 2, "a `static mut`"),
        ('extern "C" {\n    fn g();\n}', 1, "an `extern` block declares functions on trust"),
        ("macro_rules! m {\n    () => { extern { fn g(); } };\n}", 2, "an `extern` block declares functions on trust"),
        ("#[no_mangle]\nfn f() {}", 1, "`#[no_mangle]` is no attribute that this audit knows"),
        (
            "#[export_name = 'x']\nfn f() {}".replace("'", '"'),
            1,
            "`#[export_name]` is no attribute that this audit knows",
        ),
        ("#[cfg_attr(unix, no_mangle)]\nfn f() {}", 1, "`#[no_mangle]` is no attribute that this audit knows"),
        ("#![feature(naked_functions)]", 1, "`#[feature]` is no attribute that this audit knows"),
        ("#[other::attribute]\nfn f() {}", 1, "`#[other::attribute]` is no attribute that this audit knows"),
        ("#[derive(Clone, bytemuck::Pod)]\nstruct X;", 1, "`#[derive(bytemuck::Pod)]` is none that this audit knows"),
        ("#[cfg_attr(unix, derive(Pod))]\nstruct X;", 1, "`#[derive(Pod)]` is none that this audit knows"),
        (
            "fn f() {\n    other::macro_of_a_crate!(1)\n}",
            2,
            "`other::macro_of_a_crate!` is no macro that this audit knows",
        ),
        ("fn f() {\n    offset_of! { X, a }\n}", 2, "`offset_of!` is no macro that this audit knows"),
        ("#![allow(unsafe_code)]", 1, "`#[allow(unsafe_code)]` lifts a lint"),
        (
            "#[expect(clippy::undocumented_unsafe_blocks)]\nfn f() {}",
            1,
            "`#[expect(clippy::undocumented_unsafe_blocks)]`",
        ),
        ("#[cfg_attr(unix, allow(unsafe_op_in_unsafe_fn))]\nfn f() {}", 1, "`#[allow(unsafe_op_in_unsafe_fn)]`"),
        ("#[warn(clippy::multiple_unsafe_ops_per_block)]\nfn f() {}", 1, "lifts a lint"),
    ],
)
def test_what_needs_no_unsafe_but_can_do_as_much(tmp_path, source, line, words):
    found = complaint(tmp_path, source + "\n")
    assert found.startswith(f"dpdk-rs/src/lib.rs:{line}: ")
    assert words in found


MACRO = """\
macro_rules! read {{
    ($pointer:{kind}) => {{{{
        // SAFETY: it is so.
        unsafe {{ g($pointer) }}
    }}}};
}}
"""


@pytest.mark.parametrize("kind", ["expr", "tt", "block", "stmt", "item", "pat"])
def test_code_of_a_macros_user_in_an_unsafe_block(tmp_path, kind):
    """It would be unsafe without the word."""
    assert complaint(tmp_path, MACRO.format(kind=kind)) == (
        "dpdk-rs/src/lib.rs:4: `$pointer` puts code of the macro's user inside an `unsafe` block"
    )


@pytest.mark.parametrize("kind", ["ident", "path", "ty", "literal", "lifetime"])
def test_names_from_a_macros_user_are_no_code(tmp_path, kind):
    assert audit(tree(tmp_path, MACRO.format(kind=kind))) == (0, [])


def test_macros_of_another_file_are_read_there(tmp_path):
    tree(tmp_path, "macro_rules! twice {\n    () => {};\n}\n", "dpdk-rs/src/macros.rs")
    assert audit(tree(tmp_path, GOOD + "twice!();\n")) == (0, [])


SAFE = """\
impl Handle {{
    /// Reads.
    {head} {{
        let quote = if true {{ 1 }} else {{ 2 }};
        // SAFETY: {reason}
        unsafe {{ g(quote) }}
    }}
}}
"""
TRUSTED = "the handle is live, as all callers ensure."


@pytest.mark.parametrize("visibility", ["pub", "pub(crate)", "pub(super)", "pub(in crate::x) const"])
def test_safe_functions_that_rely_on_callers(tmp_path, visibility):
    """A wrong call from another file would break memory."""
    source = SAFE.format(head=f"{visibility} fn first(&self, room: [u8; 4]) -> u8", reason=TRUSTED)
    assert complaint(tmp_path, source) == (
        "dpdk-rs/src/lib.rs:6: `g(quote)` relies on the callers of `first`, which is safe and not private to this "
        "file: make it an `unsafe fn`, or take what they have to hold as an argument"
    )
    inside = "macro_rules! m {\n    ($t:ty) => {\n" + source + "    };\n}\n"
    assert "relies on the callers of `first`" in complaint(tmp_path / "macro", inside)


def test_private_functions_that_rely_on_their_file_are_marked(tmp_path):
    source = SAFE.format(head="fn first(&self) -> u8", reason=TRUSTED)
    assert entries(tree(tmp_path, source))[-1] == f"- `g(quote)` (trusting its file): {TRUSTED}"


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("/// # Safety\n    /// It is live.\n    pub unsafe fn first(&self) -> u8", TRUSTED),
        ("pub fn first(eal: &Eal) -> u8", "the EAL is initialised, since the caller holds an `Eal`."),
        ("pub fn first(&self) -> u8", "the object is live, as the caller of `new` promised."),
    ],
)
def test_callers_who_have_promised(tmp_path, head, reason):
    assert "trusting" not in entries(tree(tmp_path, SAFE.format(head=head, reason=reason)))[-1]


@pytest.mark.parametrize(
    "argument", ["*mut u8", "*const Handle", "NonNull<u8>", "Option<NonNull<u8>>", "unsafe fn(u8)"]
)
def test_safe_functions_take_no_pointers_on_trust(tmp_path, argument):
    head = f"pub(crate) const fn new(of: {argument}, len: usize) -> Self"
    source = f"impl Handle {{\n    {head} {{\n        Self(of)\n    }}\n}}\n"
    assert complaint(tmp_path, source) == (
        "dpdk-rs/src/lib.rs:2: other files can call `new` with any pointer: make it an `unsafe fn`"
    )
    assert audit(tree(tmp_path / "private", GOOD + source.replace("pub(crate) ", ""))) == (0, [])


def test_pointers_that_come_out_are_allowed(tmp_path):
    source = (
        "pub fn pointer(&self) -> *mut u8 {\n    self.0\n}\n"
        "pub fn with(&self, run: impl FnOnce(*const u8) -> *mut u8, len: usize) -> *mut u8 {\n    run(self.0)\n}\n"
    )
    assert audit(tree(tmp_path, GOOD + source)) == (0, [])


def test_links_are_refused(tmp_path):
    """One to a folder would not be looked into."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/x.rs").write_text("fn f() { unsafe { g() } }\n")
    tree(tmp_path, GOOD + "mod folder;\n")
    (tmp_path / "dpdk-rs/src/folder").symlink_to(tmp_path / "elsewhere")
    status, [line] = audit(tmp_path)
    assert (status, line.split(":")[0]) == (1, "dpdk-rs/src/folder")


MANIFESTS = ("Cargo.toml", "dpdk-rs/Cargo.toml", "dpdk-sys/Cargo.toml")


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("Cargo.toml", 'edition = "2024"', 'edition = "2021"', "Cargo.toml: the edition is not 2024"),
        (
            "Cargo.toml",
            'undocumented_unsafe_blocks = "deny"',
            "",
            "Cargo.toml: the lint undocumented_unsafe_blocks is not denied",
        ),
        (
            "Cargo.toml",
            'unsafe_op_in_unsafe_fn = "deny"',
            'unsafe_op_in_unsafe_fn = "allow"',
            "unsafe_op_in_unsafe_fn is not denied",
        ),
        (
            "dpdk-rs/Cargo.toml",
            "edition.workspace = true",
            'edition = "2018"',
            "dpdk-rs/Cargo.toml: its edition is not 2024",
        ),
        ("dpdk-rs/Cargo.toml", "[lints]\nworkspace = true", "", "dpdk-rs/Cargo.toml: its lints"),
        (
            "dpdk-rs/Cargo.toml",
            "[features]",
            "[lib]\npath = '../x.rs'\n[features]",
            "the library's sources are elsewhere",
        ),
        ("dpdk-rs/Cargo.toml", "[features]", "[lib]\nproc-macro = true\n[features]", "or it is a macro"),
        ("dpdk-rs/Cargo.toml", "[dependencies]", "[dependencies]\nmemoffset = '0.9'", "the crate 'memoffset' is none"),
        (
            "dpdk-rs/Cargo.toml",
            "[features]",
            "[target.'cfg(unix)'.dependencies]\nx = '1'\n[features]",
            "the crate 'x' is none",
        ),
        ("dpdk-rs/Cargo.toml", 'readme = "README.md"', 'build = "build.rs"', "dpdk-rs/Cargo.toml: its build script"),
        (
            "dpdk-sys/Cargo.toml",
            "build/main.rs",
            "build/other.rs",
            "dpdk-sys/Cargo.toml: its build script is not build/main.rs",
        ),
        ("dpdk-sys/Cargo.toml", 'cc = "1.2"', 'cc = "1.2"\nx = "1"', "dpdk-sys/Cargo.toml: the crate 'x' is none"),
    ],
)
def test_manifests_let_nothing_else_in(tmp_path, file, old, new, words):
    tree(tmp_path, GOOD)
    for name in MANIFESTS:
        tree(tmp_path, (REPOSITORY / name).read_text(), name)
    assert audit(tmp_path) == (0, [])
    text = (tmp_path / file).read_text()
    assert text.count(old) == 1
    (tmp_path / file).write_text(text.replace(old, new))
    status, [line] = audit(tmp_path)
    assert status == 1
    assert words in line


def test_build_scripts_do_without_unsafe_code(tmp_path):
    tree(tmp_path, GOOD)
    tree(tmp_path, "fn main() { unsafe { g() } }\n", "dpdk-sys/build/main.rs")
    status, [line] = audit(tmp_path)
    assert (status, line.split(":")[0]) == (1, "dpdk-sys/build/main.rs")
    (tmp_path / "dpdk-sys/build/main.rs").unlink()
    tree(tmp_path, (REPOSITORY / "dpdk-rs/Cargo.toml").read_text(), "dpdk-rs/Cargo.toml")
    tree(tmp_path, "fn main() {}\n", "dpdk-rs/build.rs")
    status, [line] = audit(tmp_path)
    assert "its build script is not missing" in line
