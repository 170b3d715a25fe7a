// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Private data has no padding, which is uninitialised.

use bytemuck::{Pod, Zeroable};
use dpdk_rs::Mempool;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Stamp {
    sequence: u64,
    stream: u32,
}

fn private_data_with_padding(_pool: Mempool<Stamp>) {}

fn main() {}
