// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A reader that is gone holds nothing.

use dpdk_rs::lookup::RcuReader;

fn rcu_value_outlives_reader(reader: RcuReader<u64, String>) -> usize {
    let value = reader.get(&1).unwrap();
    drop(reader);
    value.len()
}

fn main() {}
