// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A telemetry command is answered on a thread of DPDK.

use dpdk_rs::{
    Eal,
    telemetry::{TelemetryCommand, Value},
};
use std::rc::Rc;

fn telemetry_closure_not_send(eal: &Eal, greeting: Rc<str>) -> TelemetryCommand {
    eal.register_telemetry("/greet", "Greets.", move |_| Value::from(&*greeting)).unwrap()
}

fn main() {}
