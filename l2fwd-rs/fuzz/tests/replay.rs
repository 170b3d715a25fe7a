// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Every input of the corpora goes through its target, so that what a fuzzer once found stays found.
#![allow(clippy::expect_used, clippy::print_stdout)]

use std::{fs, path::Path};

/// Calls `target` with every file of a corpus; a failing test shows the name of the last.
fn replay(corpus: &str, target: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(corpus);
    let files = fs::read_dir(&folder).expect("each target has a corpus");
    let mut files: Vec<_> = files.map(|file| file.expect("the folder can be read").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    for file in files {
        println!("{}", file.display());
        target(&fs::read(&file).expect("the file can be read"));
    }
}

#[test]
fn forwarder_arguments() {
    replay("forwarder_arguments", l2fwd_rs_fuzz::forwarder_arguments);
}
