// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Every input of the corpora goes through its target, so that what a fuzzer once found stays found.

use dpdk_rs_fuzz::replay;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn generator_arguments() {
    replay(CRATE, "generator_arguments", testbed_generator_fuzz::generator_arguments);
}

/// The only test that starts the EAL.
#[test]
fn generator_frames() {
    replay(CRATE, "generator_frames", testbed_generator_fuzz::generator_frames);
}

#[test]
fn generator_sequence() {
    replay(CRATE, "generator_sequence", testbed_generator_fuzz::generator_sequence);
}
