// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Another thread cannot even look at what makes this one an lcore.

use dpdk_rs::lcore::Registrar;

fn registered_shared(registrar: &Registrar) {
    let registered = registrar.register().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| registered.id());
    });
}

fn main() {}
