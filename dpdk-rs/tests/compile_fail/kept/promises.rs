// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the broken programs do, done right. It is compiled, and starts no EAL.

use dpdk_rs::{
    Burst, Eal, Mempool, Packet, Port, RxQueue, TxQueue, lcore,
    port::{Configured, Started},
};

fn send_and_share<T: Send + Sync>() {}
fn send<T: Send>() {}

fn main() {
    send_and_share::<Mempool<u64>>();
    send_and_share::<Packet<u64>>();
    send_and_share::<Burst<u64, 4>>();
    send_and_share::<Port<Started<u64>>>();
    send::<RxQueue<u64>>();
    send::<TxQueue>();
}

/// Queues go to lcores, and come back.
#[allow(dead_code)]
fn each_queue_on_its_lcore(eal: &Eal, queues: Vec<RxQueue>) -> Vec<RxQueue> {
    let name = "borrowed".to_owned();
    lcore::scope(eal, |scope| {
        let workers = eal.worker_lcores().into_iter().zip(queues);
        let handles: Vec<_> = workers
            .map(|(worker, mut rx)| {
                let name = &name;
                scope.launch(worker.id(), move || {
                    rx.rx(&mut Burst::<(), 32>::new());
                    assert!(!name.is_empty());
                    rx
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.unwrap().join().unwrap()).collect()
    })
    .unwrap()
}

#[allow(dead_code)]
fn start_and_stop(port: Port<Configured<[u64; 8191]>>) -> Port<Configured<[u64; 8191]>> {
    let (port, rx, tx) = port.start().unwrap();
    port.stop(rx, tx).unwrap()
}
