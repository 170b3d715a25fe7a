// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Packet capture is enabled on the thread of the main lcore.

use dpdk_rs::Eal;
use std::thread;

fn capture_enabled_on_another_thread(eal: &Eal) {
    thread::scope(|scope| {
        scope.spawn(|| eal.enable_capture());
    });
}

fn main() {}
