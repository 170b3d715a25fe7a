// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Every input of the corpora goes through its target, so that what a fuzzer once found stays found.

use dpdk_rs_fuzz::replay;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn mac_address() {
    replay(CRATE, "mac_address", dpdk_rs_fuzz::mac_address);
}

/// One test, since a process has one EAL.
#[test]
fn packet_operations() {
    replay(CRATE, "packet_operations", dpdk_rs_fuzz::packet_operations);
}
