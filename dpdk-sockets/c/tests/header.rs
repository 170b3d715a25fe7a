// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The header has the names, types and comments of the Rust sources.
//! To write it anew: `DPDK_SOCKETS_RENEW=1 cargo test -p dpdk-sockets-c --test header`.
#![allow(clippy::unwrap_used)]
#![forbid(unsafe_code)]

use std::{env, fs};

const HEADER: &str = "include/dpdk_sockets.h";

#[test]
fn the_header_is_that_of_the_sources() {
    let mut made = Vec::new();
    cbindgen::generate(".").unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap().replace("# Safety", "The caller promises:");
    if env::var_os("DPDK_SOCKETS_RENEW").is_some() {
        fs::write(HEADER, &made).unwrap();
    }
    let kept = fs::read_to_string(HEADER).unwrap_or_default();
    let difference = kept.lines().zip(made.lines()).find(|(kept, made)| kept != made);
    assert!(
        kept == made,
        "{HEADER} differs from the sources, first in {difference:?}: see this file for how to renew it"
    );
}
