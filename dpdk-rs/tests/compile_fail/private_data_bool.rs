// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Private data has no invalid values: an mbuf keeps what was written to it under another type.

use dpdk_rs::Mempool;

fn private_data_bool(_pool: Mempool<bool>) {}

fn main() {}
