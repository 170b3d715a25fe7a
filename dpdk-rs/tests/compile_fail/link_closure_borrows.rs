// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A change of the link calls a closure whatever has become of the stack.

use dpdk_rs::{Port, port::LinkWatch};
use std::sync::atomic::{AtomicU64, Ordering};

fn link_closure_borrows(port: &Port, count: &AtomicU64) -> LinkWatch {
    port.on_link_change(|| {
        count.fetch_add(1, Ordering::Relaxed);
    })
    .unwrap()
}

fn main() {}
