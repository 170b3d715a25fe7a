// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What goes through a ring may cross threads.

use dpdk_rs::Ring;
use std::rc::Rc;

fn ring_of_not_send(_ring: Ring<Rc<u64>>) {}

fn main() {}
