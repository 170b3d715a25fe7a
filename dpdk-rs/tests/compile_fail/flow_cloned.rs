// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A rule on a port has one handle.

use dpdk_rs::flow::Flow;

fn flow_cloned(flow: &Flow) -> [Flow; 2] {
    [flow.clone(), flow.clone()]
}

fn main() {}
