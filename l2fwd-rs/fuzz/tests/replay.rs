// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Every input of the corpora goes through its target, so that what a fuzzer once found stays found.

use dpdk_rs_fuzz::replay;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn forwarder_arguments() {
    replay(CRATE, "forwarder_arguments", l2fwd_rs_fuzz::forwarder_arguments);
}

/// The only test that starts the EAL.
#[test]
fn forwarder_frames() {
    replay(CRATE, "forwarder_frames", l2fwd_rs_fuzz::forwarder_frames);
}
