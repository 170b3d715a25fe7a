// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The EAL stays on the thread that made it.

use dpdk_rs::Eal;

fn eal_on_another_thread(eal: Eal) {
    std::thread::spawn(move || eal.ports().len());
}

fn main() {}
