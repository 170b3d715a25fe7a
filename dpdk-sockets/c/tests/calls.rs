// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The tests in C, each in a process of its own.
#![allow(clippy::unwrap_used)]
#![forbid(unsafe_code)]

mod compiler;

use compiler::compile;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

const RINGS: &str = "-lrte_net_ring";

static BAD_INPUT: LazyLock<PathBuf> =
    LazyLock::new(|| compile("cc", "tests/bad_input.c", "libdpdk_sockets_c.a", &[RINGS]));

/// It counts allocations.
static CONNECTIONS: LazyLock<PathBuf> = LazyLock::new(|| {
    let more = [RINGS, "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc"];
    compile("cc", "tests/connections.c", "libdpdk_sockets_c.a", &more)
});

static GROUP: LazyLock<PathBuf> = LazyLock::new(|| compile("cc", "tests/group.c", "libdpdk_sockets_c.a", &[RINGS]));

static OFFLOADS: LazyLock<PathBuf> = LazyLock::new(|| compile("cc", "tests/offloads.c", "libdpdk_sockets_c.a", &[]));

const EAL: [&str; 7] = ["--no-huge", "-m", "64", "--no-pci", "--no-telemetry", "-l", "0"];

fn run(program: &Path, test: &str, options: &[&str]) {
    let folder = std::env::temp_dir().join(format!("dpdk-sockets-{test}-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let output = Command::new(program).arg(test).args(options).env("RUNTIME_DIRECTORY", &folder).output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(output.status.success(), "{test}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
}

/// Declares a test for each test of a program.
macro_rules! tests {
    ($program:ident: $($test:ident)+) => {$(
        #[test]
        fn $test() {
            run(&$program, stringify!($test), &EAL);
        }
    )+};
}

tests! { BAD_INPUT: texts null_pointers bad_configs old_handles ports_in_use bad_peers wrong_stages }
tests! { CONNECTIONS: few_events merged_events large_buffers refused unreachable timed_out reset closed }
tests! { CONNECTIONS: counters user_pointers datagrams mbufs_return no_allocation }
tests! { GROUP: threads wrong_groups }
tests! { OFFLOADS: checksums segments }

#[test]
fn no_eal() {
    run(&BAD_INPUT, "no_eal", &[]);
}

/// From C++ the functions have C's names, and the header is one of C++.
#[test]
fn cplusplus() {
    let program = compile("c++", "tests/cplusplus.cc", "libdpdk_sockets_c.so", &[]);
    assert!(Command::new(program).status().unwrap().success());
}
