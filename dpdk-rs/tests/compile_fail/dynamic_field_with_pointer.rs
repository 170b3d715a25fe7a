// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Fields of mbufs hold plain bytes: what was in one before is any pattern of them.

use dpdk_rs::{DynField, Eal};

fn dynamic_field_with_pointer(eal: &Eal) {
    DynField::<&'static str>::register(eal, "example").unwrap();
}

fn main() {}
