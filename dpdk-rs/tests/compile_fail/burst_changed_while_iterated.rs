// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A burst does not grow while it is looked through.

use dpdk_rs::{Burst, Mempool};

fn burst_changed_while_iterated(burst: &mut Burst, pool: &Mempool) {
    for packet in burst.iter() {
        burst.push(packet.copy(pool).unwrap()).unwrap();
    }
}

fn main() {}
