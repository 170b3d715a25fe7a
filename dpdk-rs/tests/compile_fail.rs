// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the types promise: each program in `compile_fail/` breaks one promise, and the compiler says so in the words of the
//! file beside it. Those are the words of one release of the compiler; with any other only the codes of the errors are
//! compared.
//!
//! After a change: `TRYBUILD=overwrite cargo test -p dpdk-rs --test compile_fail`, and read what is different.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

const CASES: &str = "tests/compile_fail";
const WORDS_OF: &str = "rustc 1.95.";

/// Set for the second process: where the copies of the programs are.
const COPIES: &str = "DPDK_RS_TEST_COPIES";

#[test]
fn broken_promises_do_not_compile() {
    if let Ok(copies) = env::var(COPIES) {
        compile(&copies);
    } else if env::var_os("TRYBUILD").is_some() || compiler().starts_with(WORDS_OF) {
        compile(CASES);
    } else {
        compare_codes();
    }
}

fn compile(broken: &str) {
    let cases = trybuild::TestCases::new();
    // What the broken programs do, done right. It also has the others built, not only checked: the size of private data is
    // looked at when code is generated.
    cases.pass(format!("{CASES}/kept/*.rs"));
    cases.compile_fail(format!("{broken}/*.rs"));
}

fn compiler() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().expect("there is a compiler");
    String::from_utf8(output.stdout).unwrap()
}

/// Lets the compiler write down its own words for copies of the programs, and compares the codes in them.
fn compare_codes() {
    let copies = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile_fail");
    let _ = fs::remove_dir_all(&copies);
    fs::create_dir_all(&copies).unwrap();
    let cases = cases();
    assert!(!cases.is_empty());
    for case in &cases {
        fs::copy(case, copies.join(case.file_name().unwrap())).unwrap();
    }
    let status = Command::new(env::current_exe().unwrap())
        .args(["--exact", "broken_promises_do_not_compile", "--nocapture"])
        .env("TRYBUILD", "overwrite")
        .env(COPIES, &copies)
        .status();
    assert!(status.unwrap().success(), "a program compiles that must not");
    for case in cases {
        let expected = codes(&case.with_extension("stderr"));
        let found = codes(&copies.join(case.file_name().unwrap()).with_extension("stderr"));
        assert_eq!(found, expected, "{}", case.display());
    }
}

fn cases() -> Vec<PathBuf> {
    let entries = fs::read_dir(CASES).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The first word of each error: `error[E0382]:`.
fn codes(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let errors = text.lines().filter(|line| line.starts_with("error"));
    let mut codes: Vec<String> = errors.filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
    codes.sort_unstable();
    codes.dedup();
    assert!(!codes.is_empty(), "{} has no error", path.display());
    codes
}
