// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the types promise: each program in `compile_fail/` breaks one promise, and the compiler says so in the words of the
//! file beside it. Those are the words of one release of the compiler; with any other only the codes of the errors are
//! compared. The programs in `kept/` do the same things right: there is a function of the same name for each.
//!
//! After a change: `TRYBUILD=overwrite cargo test -p dpdk-rs --test compile_fail`, and read what is different.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod compilation;

use compilation::{cases, elsewhere};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

const CASES: &str = "tests/compile_fail";
const WORDS_OF: &str = "rustc 1.95.";

/// Set for the second process: where the copies of the programs are.
const COPIES: &str = "DPDK_RS_TEST_COPIES";

#[test]
fn promises_can_be_kept() {
    if elsewhere() {
        return;
    }
    cases().pass(format!("{CASES}/kept/*.rs"));
}

#[test]
fn broken_promises_do_not_compile() {
    broken("", "");
}

/// These are checked, and then built: constants that depend on a type are looked at when code is generated.
#[test]
fn broken_promises_do_not_build() {
    broken("built", "");
}

/// A private area whose size is cut to 16 bits is shorter than its type; here the size is compared when the pool's type is
/// compiled.
#[test]
fn hole_03_private_area_is_never_shorter_than_its_type() {
    broken("holes/built", "hole_03_");
}

/// A pool that may cross threads whatever its private data is lets a `Cell` race; here private data is plain bytes.
#[test]
fn hole_04_private_data_may_cross_threads() {
    broken("holes", "hole_04_");
}

/// A frame that was sent and is still writable is changed while the device reads it; here sending takes it.
#[test]
fn hole_05_sent_frames_are_out_of_reach() {
    broken("holes", "hole_05_");
}

/// A queue that exists before its port is started, or after, is polled without being set up; here a started port makes
/// its queues, and takes them back to be stopped.
#[test]
fn hole_06_queues_exist_while_their_port_is_started() {
    broken("holes", "hole_06_");
}

/// An owning mbuf that is cloned, or made twice of one pointer, is freed twice; here neither can be written.
#[test]
fn hole_08_packets_have_one_owner() {
    broken("holes", "hole_08_");
}

/// A queue that anybody can make or copy is polled by two threads; here a port makes one handle of each.
#[test]
fn hole_11_queues_have_one_handle() {
    broken("holes", "hole_11_");
}

/// Flags that the caller sets at will can say that the buffer is another mbuf's, and then the drop follows garbage; here
/// the mbuf is out of reach.
#[test]
fn hole_12_flags_are_out_of_reach() {
    broken("holes", "hole_12_");
}

/// A closure that is launched without a bound on what it borrows uses a stack that is gone; here it may borrow what
/// outlives the scope.
#[test]
fn hole_14_closures_borrow_what_outlives_them() {
    broken("holes", "hole_14_");
}

/// A raw struct with pointers in it, taken by a safe call, makes the driver follow them; here a configuration holds
/// numbers.
#[test]
fn hole_15_configurations_hold_no_pointers() {
    broken("holes", "hole_15_");
}

/// None of the programs in this folder whose names begin so may compile.
fn broken(folder: &str, prefix: &str) {
    if elsewhere() {
        return;
    }
    if let Ok(copies) = env::var(COPIES) {
        compile(&programs(Path::new(&copies), prefix));
        return;
    }
    let cases = programs(&Path::new(CASES).join(folder), prefix);
    if env::var_os("TRYBUILD").is_some() || compiler().starts_with(WORDS_OF) {
        compile(&cases);
    } else {
        compare_codes(&cases);
    }
}

fn compile(programs: &[PathBuf]) {
    let test = cases();
    if programs.iter().any(|program| program.parent().unwrap().ends_with("built")) {
        // One that is run makes all of them be built.
        test.pass(format!("{CASES}/kept/pools.rs"));
    }
    programs.iter().for_each(|program| test.compile_fail(program));
}

fn compiler() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().expect("there is a compiler");
    String::from_utf8(output.stdout).unwrap()
}

/// Lets the compiler write down its own words for copies of the programs, and compares the codes in them.
fn compare_codes(cases: &[PathBuf]) {
    let thread = thread::current();
    let test = thread.name().expect("the test runner names its threads");
    let folder = cases[0].parent().unwrap().file_name().unwrap();
    let copies = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile_fail").join(test).join(folder);
    let _ = fs::remove_dir_all(&copies);
    fs::create_dir_all(&copies).unwrap();
    for case in cases {
        fs::copy(case, copies.join(case.file_name().unwrap())).unwrap();
    }
    let status = Command::new(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
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

/// The programs in a folder whose names begin so, in their order.
fn programs(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut programs: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter(|path| name(path).starts_with(prefix))
        .collect();
    programs.sort_unstable();
    assert!(!programs.is_empty(), "{} has no program whose name begins with '{prefix}'", folder.display());
    programs
}

fn name(program: &Path) -> &str {
    program.file_stem().unwrap().to_str().unwrap()
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

/// A program that breaks a promise says which; that it can be kept is compiled above.
#[test]
fn each_broken_promise_is_stated_and_can_be_kept() {
    let folders = ["", "built", "holes", "holes/built"].map(|folder| Path::new(CASES).join(folder));
    let cases: Vec<PathBuf> = folders.iter().flat_map(|folder| programs(folder, "")).collect();
    let kept: String = programs(&Path::new(CASES).join("kept"), "")
        .iter()
        .map(|program| fs::read_to_string(program).unwrap())
        .collect();
    for case in &cases {
        let text = fs::read_to_string(case).unwrap();
        let promises = text.lines().filter(|line| line.starts_with("//! ")).count();
        assert_eq!(promises, 1, "{}: one line '//! …' states the promise", case.display());
        let function = format!("fn {}", name(case));
        let counterparts =
            kept.matches(&format!("{function}(")).count() + kept.matches(&format!("{function}<")).count();
        assert_eq!(counterparts, 1, "{}: kept/ has one function of the name '{function}'", case.display());
    }
    let holes = [3, 4, 5, 6, 8, 11, 12, 14, 15].map(|hole| format!("hole_{hole:02}_"));
    for case in cases.iter().filter(|case| name(case).starts_with("hole_")) {
        assert!(holes.iter().any(|hole| name(case).starts_with(hole)), "{}: no test of its own", case.display());
    }
}
