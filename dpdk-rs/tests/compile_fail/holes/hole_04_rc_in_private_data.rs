// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Private data may cross threads, as the packets and their pool do.

use dpdk_rs::Mempool;
use std::rc::Rc;

fn hole_04_rc_in_private_data(_pool: Mempool<Rc<u64>>) {}

fn main() {}
