// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Programs that trybuild compiles for a test.

use std::{env, fs, path::Path, thread};

/// Where trybuild builds, below the folder for what cargo builds.
const TRYBUILD_FOLDER: &str = "tests/trybuild";

/// Whether only that is tested which a version of DPDK can change; the types are the same with each.
pub(crate) fn elsewhere() -> bool {
    let varying = env::var_os("DPDK_RS_TEST_VARYING").is_some();
    if varying {
        println!("not repeated: no version of DPDK changes what the compiler accepts");
    }
    varying
}

/// trybuild. A file makes its cargo keep intermediate results in the folder of all other builds. So build scripts and
/// macros, bindgen first of all, are there already if they are built with the same settings, those of the root's `Cargo.toml`.
pub(crate) fn cases() -> trybuild::TestCases {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let folder = target.join(TRYBUILD_FOLDER).join(".cargo");
    fs::create_dir_all(&folder).unwrap();
    // Tests run side by side, and none may read half a file.
    let part = folder.join(format!("config.{:?}", thread::current().id()));
    let settings = format!("[build]\nbuild-dir = {:?}\n", target.to_str().unwrap());
    fs::write(&part, settings + "[profile.dev]\ndebug = false\nbuild-override.debug = false\n").unwrap();
    fs::rename(part, folder.join("config.toml")).unwrap();
    trybuild::TestCases::new()
}
