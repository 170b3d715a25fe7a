// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Devices come and go on the thread of the main lcore.

use dpdk_rs::{Eal, device::Null};
use std::thread;

fn device_attached_on_another_thread(eal: &Eal) {
    thread::scope(|scope| {
        scope.spawn(|| drop(eal.attach(Null::new(7))));
    });
}

fn main() {}
