// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Private data borrows nothing: mbufs outlive every borrow.

use dpdk_rs::Mempool;

fn private_data_with_reference(_pool: Mempool<&'static str>) {}

fn main() {}
