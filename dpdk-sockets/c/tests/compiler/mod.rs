// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Compiles C as the users of the library do.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn pkg_config(what: &str) -> Vec<String> {
    let output = Command::new("pkg-config").args([what, "libdpdk"]).output().unwrap();
    assert!(output.status.success(), "pkg-config finds no libdpdk");
    String::from_utf8(output.stdout).unwrap().split_whitespace().map(str::to_owned).collect()
}

/// Compiles a file of this crate, with all warnings but those of DPDK's headers as errors, and links it with one of the libraries
/// and `more`. Returns the program.
pub(crate) fn compile(compiler: &str, source: &str, library: &str, more: &[&str]) -> PathBuf {
    // The libraries are beside this test.
    let library = env::current_exe().unwrap().with_file_name(library);
    let name = Path::new(source).file_stem().unwrap();
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut command = Command::new(compiler);
    command.args(["-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Iinclude", source, "-o"]).arg(&program);
    command.args(pkg_config("--cflags").iter().map(|word| word.replace("-I", "-isystem")));
    command.arg(library).args(more).args(pkg_config("--libs")).arg("-lm");
    assert!(command.status().unwrap().success(), "{source} does not compile");
    program
}
