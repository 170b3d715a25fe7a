// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! As `replay`, in a process of its own, since a process has one EAL.

#[test]
fn eal_arguments() {
    dpdk_rs_fuzz::replay(env!("CARGO_MANIFEST_DIR"), "eal_arguments", dpdk_rs_fuzz::eal_arguments);
}
