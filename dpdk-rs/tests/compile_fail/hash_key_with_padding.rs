// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The bytes of a key are all defined.

use dpdk_rs::lookup::HashTable;

#[derive(Clone, Copy)]
#[repr(C)]
struct Flow {
    address: u32,
    port: u16,
}

fn hash_key_with_padding(_table: HashTable<Flow, u64>) {}

fn main() {}
