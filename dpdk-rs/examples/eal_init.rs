// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Starts the EAL, and prints the program's own arguments, which follow `--`.
//!
//! ```sh
//! cargo run -p dpdk-rs --example eal_init -- --no-huge -m 64 --no-pci --vdev=net_null0 -- --count 3
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use dpdk_rs::{Eal, EalError, EalOptions};

fn main() -> Result<(), EalError> {
    let (eal, args) = Eal::init(EalOptions::from_command_line())?; // parses the arguments of the EAL
    // parse application specific arguments
    println!("lcores: {}, ports: {}, own arguments: {args:?}", eal.lcores().len(), eal.ports().len());
    Ok(())
} // dropping `eal` calls rte_eal_cleanup()
