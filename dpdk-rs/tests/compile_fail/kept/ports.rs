// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The promises about ports, kept.
#![allow(dead_code)]

use dpdk_rs::{
    Eal, Mempool, Port, PortConfig, PortId, RxQueue, TxQueue,
    port::{Configured, PortEvent, Started, StartedPort, Unconfigured},
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

fn main() {}

fn start_before_configure(eal: &Eal, pool: &Mempool) -> Vec<StartedPort<()>> {
    let config = PortConfig::default();
    eal.ports().into_iter().map(|port| port.configure(&config, pool).unwrap().start().unwrap()).collect()
}

fn start_twice(port: Port<Configured>) {
    let (port, rx, tx) = port.start().unwrap();
    let port = port.stop(rx, tx).unwrap();
    let _second = port.start();
}

fn configure_twice(ports: [Port<Unconfigured>; 2], pool: &Mempool) {
    let [first, second] = ports;
    let _first = first.configure(&PortConfig::default(), pool);
    let _second = second.configure(&PortConfig::default(), pool);
}

fn configure_a_started_port(port: Port<Unconfigured>, pool: &Mempool) {
    let _port = port.configure(&PortConfig::default(), pool);
}

fn configured_for_another_type(port: Port<Unconfigured>, pool: &Mempool<u64>) -> Port<Configured<u64>> {
    port.configure(&PortConfig::default(), pool).unwrap()
}

fn hole_15_raw_configuration(port: Port<Unconfigured>, pool: &Mempool) {
    let _port = port.configure(&PortConfig::default().rx_descriptors(512), pool);
}

fn configuration_by_hand() -> PortConfig {
    PortConfig::default().rx_queues(2)
}

fn set_mtu_of_started_port(port: Port<Configured>) {
    port.set_mtu(9000).unwrap();
}

fn reset_a_started_port(port: Port<Started>, rx: Vec<RxQueue>, tx: Vec<TxQueue>) -> Port<Unconfigured> {
    port.stop(rx, tx).unwrap().reset().unwrap()
}

fn started_before_its_second_configuration(port: Port<Configured>, pool: &Mempool) {
    let _started = port.reset().unwrap().configure(&PortConfig::default(), pool).unwrap().start();
}

fn event_closure_borrows(port: &Port<Started>) {
    let ill = Arc::new(AtomicBool::new(false));
    let _watch = port.on_event(PortEvent::NeedsReset, move || ill.store(true, Relaxed));
}

fn set_link_of_configured_port(port: Port<Started>) {
    port.set_link(false).unwrap();
}

fn statistics_before_configure(port: Port<Started>) -> u64 {
    port.stats().unwrap().ipackets
}

fn stop_without_queues(port: Port<Started>, rx: Vec<RxQueue>, tx: Vec<TxQueue>) -> Port<Configured> {
    port.stop(rx, tx).unwrap()
}

fn stop_with_queues_of_another_type(port: Port<Started<u32>>, rx: Vec<RxQueue<u32>>, tx: Vec<TxQueue>) {
    let _port = port.stop(rx, tx);
}

fn stop_a_configured_port(port: Port<Configured>) {
    let (port, rx, tx) = port.start().unwrap();
    let _port = port.stop(rx, tx);
}

fn port_after_stop(port: Port<Started>, rx: Vec<RxQueue>, tx: Vec<TxQueue>) -> u64 {
    let received = port.stats().unwrap().ipackets;
    let _stopped = port.stop(rx, tx);
    received
}

fn port_after_close(port: Port<Configured>) -> u16 {
    let mtu = port.mtu().unwrap();
    port.close();
    mtu
}

fn port_cloned(port: &Port<Started>) -> [&Port<Started>; 2] {
    [port, port]
}

fn port_made_by_hand(eal: &Eal) -> Port<Unconfigured> {
    eal.ports().remove(0)
}

fn port_state_by_hand(port: Port<Configured>) -> Port<Started> {
    port.start().unwrap().0
}

fn port_id_made_by_hand(port: &Port<Started>) -> PortId {
    port.id()
}
