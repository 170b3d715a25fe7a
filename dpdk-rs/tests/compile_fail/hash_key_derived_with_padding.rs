// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A derive does not make a key of a struct with padding.

use bytemuck::NoUninit;
use dpdk_rs::lookup::HashTable;

#[derive(Clone, Copy, NoUninit)]
#[repr(C)]
struct Flow {
    address: u32,
    port: u16,
}

fn hash_key_derived_with_padding(_table: HashTable<Flow, u64>) {}

fn main() {}
