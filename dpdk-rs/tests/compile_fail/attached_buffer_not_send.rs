// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A buffer that a packet is made of is dropped by whatever thread frees the packet: it may cross threads.

use dpdk_rs::{Mempool, Packet};
use std::rc::Rc;

struct Buffer(Vec<u8>, Rc<()>);

impl AsMut<[u8]> for Buffer {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

fn attached_buffer_not_send(pool: &Mempool, buffer: Buffer) -> bool {
    Packet::attach(pool, buffer).is_ok()
}

fn main() {}
