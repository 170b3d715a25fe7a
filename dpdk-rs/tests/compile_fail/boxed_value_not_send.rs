// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A value in DPDK's heap crosses threads only if it may.

use dpdk_rs::memory::DpdkBox;
use std::rc::Rc;

fn boxed_value_not_send(boxed: DpdkBox<Rc<str>>) {
    std::thread::spawn(move || drop(boxed));
}

fn main() {}
