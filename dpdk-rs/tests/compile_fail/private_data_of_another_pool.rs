// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A queue receives packets with the private data of its pool.

use dpdk_rs::{Burst, Port, port::Configured};

fn receive(port: Port<Configured<u32>>) {
    let (_port, mut rx, _tx) = port.start().unwrap();
    rx[0].rx(&mut Burst::<u64, 32>::new());
}

fn main() {}
