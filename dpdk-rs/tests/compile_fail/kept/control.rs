// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The promises about single queues, rules, telemetry, hot-plug and capture, kept.
#![allow(dead_code)]

use dpdk_rs::{
    Burst, Eal, EalOptions, Port, RxQueue, StoppedRxQueue, StoppedTxQueue, TxQueue,
    device::{Null, Ring},
    flow::{Flow, FlowCount, Rule},
    port::{Configured, LinkWatch},
    telemetry::{TelemetryCommand, Value},
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

fn main() {}

fn stopped_queue_polled(rx: RxQueue, burst: &mut Burst) {
    let mut running = rx.stop().unwrap().start().unwrap();
    running.rx(burst);
}

fn queue_after_its_stop(mut tx: TxQueue, burst: &mut Burst) {
    tx.tx(burst);
    let _stopped = tx.stop().unwrap();
}

fn stopped_queue_started_twice(stopped: StoppedRxQueue) {
    let running = stopped.start().unwrap();
    let _second = running.stop().unwrap().start();
}

fn stopped_queue_made_by_hand(tx: TxQueue) -> StoppedTxQueue {
    tx.stop().unwrap()
}

fn flow_after_destroy(flow: Flow) -> FlowCount {
    let count = flow.count().unwrap();
    flow.destroy().unwrap();
    count
}

fn flow_of_configured_port(port: Port<Configured>, rule: &Rule) -> Flow {
    port.start().unwrap().0.create_flow(rule).unwrap()
}

fn flow_cloned(port: &Port, rule: &Rule) -> [Flow; 2] {
    [port.create_flow(rule).unwrap(), port.create_flow(rule).unwrap()]
}

fn telemetry_closure_borrows(eal: &Eal, greeting: &str) -> TelemetryCommand {
    let greeting = greeting.to_owned();
    eal.register_telemetry("/greet", "Greets.", move |_| Value::from(greeting.as_str())).unwrap()
}

fn telemetry_closure_not_send(eal: &Eal, greeting: Arc<str>) -> TelemetryCommand {
    eal.register_telemetry("/greet", "Greets.", move |_| Value::from(&*greeting)).unwrap()
}

fn link_closure_borrows(port: &Port, count: Arc<AtomicU64>) -> LinkWatch {
    port.on_link_change(move || {
        count.fetch_add(1, Ordering::Relaxed);
    })
    .unwrap()
}

fn wait_through_shared_reference(rx: &mut RxQueue) -> bool {
    rx.wait(Duration::ZERO).unwrap()
}

fn device_attached_on_another_thread(eal: &Eal) {
    drop(eal.attach(Null::new(7)));
}

fn capture_enabled_on_another_thread(eal: &Eal) {
    eal.enable_capture().unwrap();
}

fn queue_started_after_give_back(stopped: StoppedRxQueue) {
    let running = stopped.start().unwrap();
    running.stop().unwrap().give_back();
}

fn telemetry_command_made_by_hand(eal: &Eal) -> TelemetryCommand {
    eal.register_telemetry("/greet", "Greets.", |_| Value::from("hello")).unwrap()
}

fn options_of_text() -> Eal {
    Eal::init(EalOptions::from_command_line().no_telemetry()).unwrap().0
}

fn device_of_text(eal: &Eal) {
    eal.attach(Ring::new(9)).unwrap();
}

fn device_of_text_without_unsafe(eal: &Eal) {
    // SAFETY: the device has no arguments.
    unsafe { eal.attach_raw("net_ring9") }.unwrap();
}

fn device_detached_after_eal(eal: Eal) {
    eal.detach("net_null7").unwrap();
    drop(eal);
}
