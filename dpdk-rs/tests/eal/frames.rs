// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Frames that differ in every byte, started ports, and receiving with a deadline.

use crate::process::patience;
use dpdk_rs::{
    Burst, Eal, Mempool, Packet, Port, PortConfig, PrivateData, RxQueue, TxQueue,
    port::{Started, Unconfigured},
};
use std::time::{Duration, Instant};

/// The deadline for everything that tests poll for.
const DEADLINE: Duration = Duration::from_secs(60);

/// A frame of `len` bytes, the bytes of which depend on `number` and on their place.
pub(crate) fn frame(number: usize, len: usize) -> Vec<u8> {
    // Two factors without a common divisor with 256: neighbours differ, and so do frames.
    (0..len).map(|place| (number * 101 + place * 7 + place / 256) as u8).collect()
}

/// A packet with these bytes.
pub(crate) fn packet<P: PrivateData>(pool: &Mempool<P>, bytes: &[u8]) -> Packet<P> {
    let mut packet = pool.alloc().expect("the pool is not exhausted");
    packet.append(bytes.len()).expect("the frame fits").copy_from_slice(bytes);
    packet
}

/// All bytes of a packet.
pub(crate) fn bytes<P: PrivateData>(packet: &Packet<P>) -> Vec<u8> {
    let mut bytes = vec![0; packet.len()];
    assert_eq!(packet.copy_to(&mut bytes), bytes.len());
    bytes
}

/// A pool of 511 mbufs.
pub(crate) fn pool<P: PrivateData>(eal: &Eal, name: &str) -> Mempool<P> {
    Mempool::builder(name).size(511).cache(32).build(eal).expect("the pool can be made")
}

/// The only port.
pub(crate) fn only_port(eal: &Eal) -> Port<Unconfigured> {
    let mut ports = eal.ports();
    assert_eq!(ports.len(), 1);
    ports.remove(0)
}

/// Starts a port with one queue each way.
pub(crate) fn start<P: PrivateData>(
    port: Port<Unconfigured>,
    pool: &Mempool<P>,
) -> (Port<Started<P>>, RxQueue<P>, TxQueue) {
    let configured = port.configure(&PortConfig::default(), pool).expect("the port can be configured");
    let (port, mut rx, mut tx) = configured.start().expect("the port can be started");
    assert_eq!((rx.len(), tx.len()), (1, 1));
    (port, rx.remove(0), tx.remove(0))
}

/// Sends one packet, which the device must take.
pub(crate) fn send<P: PrivateData>(tx: &mut TxQueue, packet: Packet<P>) {
    let mut burst = Burst::<P, 1>::new();
    burst.push(packet).expect("there is room for one");
    assert_eq!(tx.tx(&mut burst), 1);
}

/// Receives one frame, waiting for it.
pub(crate) fn receive<P: PrivateData>(rx: &mut RxQueue<P>) -> Packet<P> {
    let mut burst = Burst::<P, 1>::new();
    until("a frame arrives", || rx.rx(&mut burst) == 1);
    burst.pop().expect("a frame was received")
}

/// Polls a condition until it holds.
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let allowed = patience(DEADLINE);
    let deadline = Instant::now() + allowed;
    while !condition() {
        assert!(Instant::now() < deadline, "waited {allowed:?} in vain until {what}");
        std::thread::yield_now();
    }
}
