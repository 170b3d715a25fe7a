// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The promises about bursts, kept.
#![allow(dead_code)]

use dpdk_rs::{Burst, Mempool, Packet, RxQueue, TxQueue};

fn main() {}

fn data_kept_over_send(tx: &mut TxQueue, mut burst: Burst) -> u8 {
    let first = burst[0].data()[0];
    tx.tx(&mut burst);
    first
}

fn packet_kept_over_clear(mut burst: Burst) -> usize {
    let len = burst[0].len();
    burst.clear();
    len
}

fn packet_kept_over_receive(rx: &mut RxQueue, burst: &mut Burst) -> usize {
    rx.rx(burst);
    burst[0].len()
}

fn burst_used_while_drained(tx: &mut TxQueue, mut burst: Burst) {
    for packet in burst.drain() {
        drop(packet);
    }
    tx.tx(&mut burst);
}

fn burst_changed_while_iterated(burst: &mut Burst, pool: &Mempool) {
    let mut copies = Burst::<(), 32>::new();
    for packet in burst.iter() {
        copies.push(packet.copy(pool).unwrap()).unwrap();
    }
    burst.append(&mut copies);
}

fn burst_cloned(burst: Burst, pool: &Mempool) -> [Burst; 2] {
    let mut copies = Burst::new();
    for packet in &burst {
        copies.push(packet.copy(pool).unwrap()).unwrap();
    }
    [copies, burst]
}

fn burst_of_mixed_types(burst: &mut Burst<u32>, packet: Packet<u32>) {
    burst.push(packet).unwrap();
}

fn packet_moved_out_of_burst(mut burst: Burst) -> Packet {
    burst.swap_remove(0).unwrap()
}
