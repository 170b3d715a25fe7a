// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! As `replay`, in a process of its own, since a process has one EAL.

#[test]
fn tcp_segments() {
    dpdk_rs_fuzz::replay(env!("CARGO_MANIFEST_DIR"), "tcp_segments", dpdk_rs_fuzz::tcp_segments);
}
