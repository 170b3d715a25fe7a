// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is left in a value of a pool lives as long as the pool's type says: others find it there.

use dpdk_rs::memory::ObjectPool;

fn leave<'text>(pool: &ObjectPool<&'text str>, text: &'text str) {
    *pool.get().unwrap() = text;
}

fn short_lived_reference_in_a_pool(pool: &ObjectPool<&'static str>) {
    leave(pool, &String::from("gone"));
}

fn main() {}
