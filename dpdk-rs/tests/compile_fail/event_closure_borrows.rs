// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A device may report an event at any time, so the closure that handles it must not borrow.

use dpdk_rs::{
    Port,
    port::{EventWatch, PortEvent},
};
use std::sync::atomic::{AtomicBool, Ordering};

fn event_closure_borrows(port: &Port, ill: &AtomicBool) -> EventWatch {
    port.on_event(PortEvent::NeedsReset, || ill.store(true, Ordering::Relaxed)).unwrap()
}

fn main() {}
