// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A value of a table is borrowed as long as the table is not changed.

use dpdk_rs::lookup::HashTable;

fn hash_value_kept_over_insert(table: &mut HashTable<u64, String>) -> usize {
    let value = table.get(&1).unwrap();
    table.insert(2, String::new()).unwrap();
    value.len()
}

fn main() {}
