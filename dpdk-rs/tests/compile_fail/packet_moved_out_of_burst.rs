// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A packet leaves its burst by a method that closes the gap.

use dpdk_rs::{Burst, Packet};

fn packet_moved_out_of_burst(burst: Burst) -> Packet {
    burst[0]
}

fn main() {}
