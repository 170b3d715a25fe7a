// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Routes are changed by one thread that has the table to itself.

use dpdk_rs::lookup::{Lpm, LpmError};
use std::{net::Ipv4Addr, sync::Arc};

fn routes_changed_while_shared(routes: Arc<Lpm>) -> Result<(), LpmError> {
    routes.add(Ipv4Addr::LOCALHOST, 8, 1)
}

fn main() {}
