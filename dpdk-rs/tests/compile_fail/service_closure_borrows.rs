// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A service's closure is called at any time: it owns what it uses.

use dpdk_rs::{
    Eal,
    service::{Activity, Service},
};

fn service_closure_borrows(eal: &Eal) -> Service {
    let mut count = 0;
    let closure = || {
        count += 1;
        Activity::Busy
    };
    eal.register_service("counter", closure).unwrap()
}

fn main() {}
