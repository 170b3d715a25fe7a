// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The cache of a thread is used by one at a time.

use dpdk_rs::PoolCache;
use std::thread;

fn pool_cache_shared(cache: &mut PoolCache) {
    thread::scope(|scope| {
        scope.spawn(|| cache.alloc().is_some());
        scope.spawn(|| cache.alloc().is_some());
    });
}

fn main() {}
