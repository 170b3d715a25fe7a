// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Objects of a shared pool are used on any thread.

use dpdk_rs::memory::ObjectPool;
use std::{rc::Rc, thread};

fn pool_of_objects_not_send(pool: &ObjectPool<Rc<str>>) {
    thread::scope(|scope| {
        scope.spawn(|| drop(pool.get()));
    });
}

fn main() {}
