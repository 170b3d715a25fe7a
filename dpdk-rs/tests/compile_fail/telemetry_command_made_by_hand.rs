// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A telemetry command is registered, not made.

use dpdk_rs::telemetry::TelemetryCommand;

fn telemetry_command_made_by_hand() -> TelemetryCommand {
    TelemetryCommand { command: c"/greet".to_owned() }
}

fn main() {}
