// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The kernels in C by gcc, under its sanitizers, over the corpora: no fuzzer can instrument them, as it does clang's.
#![allow(clippy::print_stdout, reason = "how a test says that it was skipped")]

use std::{
    path::Path,
    process::{Command, Output},
};

const SANITIZERS: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"];

/// `None` where the program is not installed.
fn run(program: &mut Command) -> Option<Output> {
    program.output().ok()
}

/// What DPDK's headers need, if they are there.
fn flags() -> Option<Vec<String>> {
    let found = run(Command::new("pkg-config").args(["--cflags", "libdpdk"]))?;
    let text = String::from_utf8_lossy(&found.stdout);
    found.status.success().then(|| text.split_whitespace().map(String::from).collect())
}

#[test]
fn gccs_kernels_touch_nothing_but_the_frame() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let Some(flags) = flags() else {
        println!("skipped: DPDK's headers were not found: install the package libdpdk-dev");
        return;
    };
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let gcc = |sources: &[&Path], program: &Path| {
        let mut gcc = Command::new("gcc");
        gcc.args(["-std=gnu11", "-O1", "-g", "-DCOMPILER=c_gcc"]).args(SANITIZERS);
        run(gcc.args(&flags).args(sources).arg("-o").arg(program))
    };
    let probe = folder.join("probe.c");
    assert!(std::fs::write(&probe, "int main(void) { return 0; }\n").is_ok());
    if !gcc(&[&probe], &folder.join("probe")).is_some_and(|done| done.status.success()) {
        println!("skipped: gcc cannot link the sanitizers: install the packages gcc and libc6-dev");
        return;
    }
    let program = folder.join("replay");
    let sources = ["replay.c", "../c/read.c", "../c/rewrite.c"].map(|name| here.join(name));
    assert_well(gcc(&sources.each_ref().map(|path| path.as_path()), &program));
    let corpora = ["parsing_rewrite", "parsing_read"].map(|name| here.join("corpus").join(name));
    assert_well(run(Command::new(&program).args(corpora)));
}

fn assert_well(done: Option<Output>) {
    let said = done.as_ref().map(|done| String::from_utf8_lossy(&done.stderr).into_owned());
    assert!(done.is_some_and(|done| done.status.success()), "{said:?}");
}
