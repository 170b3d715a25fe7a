// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The promises about queues, kept.
#![allow(dead_code)]

use dpdk_rs::{
    Burst, Eal, Packet, Port, RxQueue, TxBuffer, TxQueue, TxRequest, lcore,
    port::{Configured, Started},
};
use std::time::Duration;

fn main() {}

fn hole_06_receive_before_start(port: Port<Configured>, burst: &mut Burst) {
    let (_port, mut rx, _tx) = port.start().unwrap();
    rx[0].rx(burst);
}

fn hole_06_receive_after_stop(port: Port<Started>, mut rx: Vec<RxQueue>, tx: Vec<TxQueue>, burst: &mut Burst) {
    rx[0].rx(burst);
    let _port = port.stop(rx, tx).unwrap();
}

fn hole_06_send_after_stop(port: Port<Started>, rx: Vec<RxQueue>, mut tx: Vec<TxQueue>, burst: &mut Burst) {
    tx[0].tx(burst);
    let _port = port.stop(rx, tx).unwrap();
}

fn hole_11_rx_queue_cloned(port: Port<Configured>) -> Vec<RxQueue> {
    port.start().unwrap().1
}

fn hole_11_tx_queue_cloned(port: Port<Configured>) -> Vec<TxQueue> {
    port.start().unwrap().2
}

fn hole_11_queue_made_by_hand(port: Port<Configured>) -> TxQueue {
    port.start().unwrap().2.remove(0)
}

fn rx_queue_on_two_lcores(eal: &Eal, rx: Vec<RxQueue>) -> Vec<RxQueue> {
    lcore::scope(eal, |scope| {
        let workers = eal.worker_lcores().into_iter().zip(rx);
        let handles: Vec<_> = workers
            .map(|(worker, mut rx)| {
                scope.launch(worker.id(), move || {
                    rx.rx(&mut Burst::<(), 32>::new());
                    rx
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.unwrap().join().unwrap()).collect()
    })
    .unwrap()
}

fn rx_queue_shared(eal: &Eal, rx: &RxQueue) {
    let foreign = rx.foreign();
    lcore::scope(eal, |scope| {
        for worker in eal.worker_lcores() {
            let _ = scope.launch(worker.id(), move || foreign);
        }
    })
    .unwrap();
}

fn tx_queue_shared(tx: &TxQueue) {
    let rejected = tx.rejected();
    std::thread::scope(|scope| {
        scope.spawn(move || rejected);
    });
}

fn tx_queue_on_two_threads(mut tx: [TxQueue; 2], mut left: Burst, mut right: Burst) {
    let [first, second] = &mut tx;
    std::thread::scope(|scope| {
        scope.spawn(|| first.tx(&mut left));
        scope.spawn(|| second.tx(&mut right));
    });
}

fn queue_used_while_on_an_lcore(eal: &Eal, mut rx: RxQueue, burst: &mut Burst) {
    let worker = eal.worker_lcores()[0].id();
    lcore::scope(eal, |scope| {
        let _ = scope.launch(worker, || rx.rx(&mut Burst::<(), 32>::new()));
    })
    .unwrap();
    rx.rx(burst);
}

fn count_through_shared_reference(rx: &mut RxQueue) -> u32 {
    rx.used_descriptors().unwrap()
}

fn receive_through_shared_reference(rx: &mut RxQueue, burst: &mut Burst) -> usize {
    rx.rx(burst)
}

fn send_through_shared_reference(tx: &mut TxQueue, burst: &mut Burst) -> usize {
    tx.tx(burst)
}

fn received_as_another_type(port: Port<Configured<u32>>, burst: &mut Burst<u32>) {
    let (_port, mut rx, _tx) = port.start().unwrap();
    rx[0].rx(burst);
}

fn queue_beside_its_buffer(eal: &Eal, tx: TxQueue, burst: &mut Burst) {
    let buffer = TxBuffer::<(), 32>::new(tx, 8, Duration::from_micros(100), eal.clock());
    let mut tx = buffer.into_queue();
    tx.tx(burst);
}

fn buffer_of_another_type(buffer: &mut TxBuffer<u32>, packet: Packet<u32>) {
    buffer.push(packet);
}

fn queue_used_beside_prepared(tx: &mut TxQueue, packet: Packet, burst: &mut Burst) {
    let mut prepared = tx.prepare::<_, 32>();
    prepared.push(packet, &TxRequest::new()).unwrap();
    prepared.send();
    drop(prepared);
    tx.tx(burst);
}

fn prepared_packet_looked_at(tx: &mut TxQueue, mut packet: Packet) {
    packet.trim(20).unwrap();
    let mut burst = tx.prepare::<_, 32>();
    burst.push(packet, &TxRequest::new()).unwrap();
    burst.send();
}

fn prepared_burst_outlives_queue(mut tx: TxQueue, packet: Packet) {
    let mut burst = tx.prepare::<_, 32>();
    burst.push(packet, &TxRequest::new()).unwrap();
    burst.send();
    drop(burst);
    drop(tx);
}
