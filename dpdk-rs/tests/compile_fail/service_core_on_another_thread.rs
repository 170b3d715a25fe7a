// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A service core stays on its thread, so that no service waits for the lcore that it runs on.

use dpdk_rs::service::ServiceCore;
use std::thread;

fn service_core_on_another_thread(core: ServiceCore) {
    thread::spawn(move || drop(core));
}

fn main() {}
