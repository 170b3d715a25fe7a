// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Routes of a FIB are changed by one thread that has the table to itself.

use dpdk_rs::lookup::{Fib, FibError};
use std::{net::Ipv4Addr, sync::Arc};

fn fib_changed_while_shared(routes: Arc<Fib>) -> Result<(), FibError> {
    routes.add(Ipv4Addr::LOCALHOST, 8, 1)
}

fn main() {}
