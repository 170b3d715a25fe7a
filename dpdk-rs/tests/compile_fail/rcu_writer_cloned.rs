// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A table has one end that changes it.

use dpdk_rs::lookup::RcuWriter;

fn rcu_writer_cloned(writer: RcuWriter<u64, String>) -> [RcuWriter<u64, String>; 2] {
    [writer.clone(), writer]
}

fn main() {}
