// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Private data has no pointers, which would dangle in an mbuf that another process or pool hands back.

use dpdk_rs::Mempool;

fn private_data_with_raw_pointer(_pool: Mempool<*const u8>) {}

fn main() {}
