// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A queue receives packets with the private data of its pool.

use dpdk_rs::{Burst, Port, port::Configured};

fn received_as_another_type(port: Port<Configured<u32>>, burst: &mut Burst<u64>) {
    let (_port, mut rx, _tx) = port.start().unwrap();
    rx[0].rx(burst);
}

fn main() {}
