// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A value is borrowed from its table.

use dpdk_rs::lookup::HashTable;

fn hash_value_kept_over_remove(table: &mut HashTable<u64, String>) -> usize {
    let value = table.get(&1).unwrap();
    table.remove(&1);
    value.len()
}

fn main() {}
