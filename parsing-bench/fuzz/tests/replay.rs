// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Every input of the corpora goes through its target, so that what a fuzzer once found stays found.

use dpdk_rs_fuzz::replay;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn parsing_read() {
    replay(CRATE, "parsing_read", parsing_bench_fuzz::parsing_read);
}

#[test]
fn parsing_rewrite() {
    replay(CRATE, "parsing_rewrite", parsing_bench_fuzz::parsing_rewrite);
}
