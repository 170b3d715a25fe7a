// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Only the thread that is an lcore can stop being one.

use dpdk_rs::lcore::Registrar;

fn registered_on_another_thread(registrar: &Registrar) {
    let registered = registrar.register().unwrap();
    std::thread::spawn(move || drop(registered));
}

fn main() {}
