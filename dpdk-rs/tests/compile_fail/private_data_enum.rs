// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Private data is no enum, of which most bytes are no value.

use bytemuck::Zeroable;
use dpdk_rs::Mempool;

#[derive(Clone, Copy, Zeroable)]
#[repr(u8)]
enum Colour {
    Green,
    Red,
}

fn private_data_enum(_pool: Mempool<Colour>) {}

fn main() {}
