// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Every input of the corpus goes through its target, so that what a fuzzer once found stays found.

use dpdk_rs_fuzz::replay;

#[test]
fn sockets_frames() {
    replay(env!("CARGO_MANIFEST_DIR"), "sockets_frames", dpdk_sockets_fuzz::sockets_frames);
}
