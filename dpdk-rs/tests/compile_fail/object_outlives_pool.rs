// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! An object is borrowed from its pool.

use dpdk_rs::memory::ObjectPool;

fn object_outlives_pool(pool: ObjectPool<String>) -> usize {
    let object = pool.get().unwrap();
    drop(pool);
    object.len()
}

fn main() {}
