// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A telemetry command is answered as long as its handle is kept, whatever becomes of the stack.

use dpdk_rs::{
    Eal,
    telemetry::{TelemetryCommand, Value},
};

fn telemetry_closure_borrows(eal: &Eal, greeting: &str) -> TelemetryCommand {
    eal.register_telemetry("/greet", "Greets.", |_| Value::from(greeting)).unwrap()
}

fn main() {}
