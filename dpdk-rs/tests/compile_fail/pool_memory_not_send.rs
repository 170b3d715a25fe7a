// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Memory that a pool lies in is dropped by whatever thread frees the pool: it may cross threads.

use dpdk_rs::{Eal, Mempool};
use std::rc::Rc;

struct Memory(Vec<u8>, Rc<()>);

impl AsMut<[u8]> for Memory {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

fn pool_memory_not_send(eal: &Eal, memory: Memory) -> bool {
    Mempool::<()>::builder("pool").size(3).build_in(eal, memory).is_ok()
}

fn main() {}
