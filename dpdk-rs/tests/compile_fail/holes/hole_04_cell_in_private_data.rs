// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Private data has no interior mutability: a pool is used by several threads.

use dpdk_rs::Mempool;
use std::cell::Cell;

fn hole_04_cell_in_private_data(_pool: Mempool<Cell<u64>>) {}

fn main() {}
