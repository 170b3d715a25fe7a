// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What may go to other threads, and what they may share.

use dpdk_rs::{
    Burst, Clock, Mempool, Packet, Port, RxQueue, TxBuffer, TxQueue,
    lcore::{JoinHandle, Lcore, Scope},
    port::{Configured, Started, Unconfigured},
};

fn send_and_share<T: Send + Sync>() {}
fn send<T: Send>() {}

fn main() {
    send_and_share::<Mempool<u64>>();
    send_and_share::<Packet<u64>>();
    send_and_share::<Burst<u64, 4>>();
    send_and_share::<Port<Unconfigured>>();
    send_and_share::<Port<Configured<u64>>>();
    send_and_share::<Port<Started<u64>>>();
    send_and_share::<Clock>();
    send_and_share::<Lcore>();
    send_and_share::<&Scope<'_, '_>>();
    send_and_share::<JoinHandle<'_, String>>();
    send::<RxQueue<u64>>();
    send::<TxQueue>();
    send::<TxBuffer<u64>>();
}
