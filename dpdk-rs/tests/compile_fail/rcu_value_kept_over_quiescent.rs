// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A reader that is quiescent holds nothing.

use dpdk_rs::lookup::RcuReader;

fn rcu_value_kept_over_quiescent(reader: &mut RcuReader<u64, String>) -> usize {
    let value = reader.get(&1).unwrap();
    reader.quiescent();
    value.len()
}

fn main() {}
