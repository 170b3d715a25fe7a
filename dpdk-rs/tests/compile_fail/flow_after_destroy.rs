// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A rule is destroyed once.

use dpdk_rs::flow::{Flow, FlowCount};

fn flow_after_destroy(flow: Flow) -> FlowCount {
    flow.destroy().unwrap();
    flow.count().unwrap()
}

fn main() {}
