// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! NICs reach registered memory until it is taken from them: it owns its bytes.

use dpdk_rs::{Eal, memory::ExternalMemory};

fn registered_memory_borrows(eal: &Eal) -> ExternalMemory<&'static mut [u8]> {
    let mut bytes = vec![0; 8192];
    ExternalMemory::register(eal, &mut bytes[..], 4096).map_err(|(error, _)| error).unwrap()
}

fn main() {}
