// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! An object crosses threads only if its value may.

use dpdk_rs::memory::ObjectPool;
use std::rc::Rc;

fn object_not_send(pool: &ObjectPool<Rc<str>>) {
    let object = pool.get().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || drop(object));
    });
}

fn main() {}
