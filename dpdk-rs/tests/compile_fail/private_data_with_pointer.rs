// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Private data is plain bytes, not something with memory of its own.

use dpdk_rs::Mempool;

fn private_data_with_pointer(_pool: Mempool<String>) {}

fn main() {}
