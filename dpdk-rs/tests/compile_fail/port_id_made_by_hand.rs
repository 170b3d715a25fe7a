// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The number of a port comes from the port.

use dpdk_rs::PortId;

fn port_id_made_by_hand() -> PortId {
    PortId(7)
}

fn main() {}
