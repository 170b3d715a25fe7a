// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Devices are attached and detached while there is an EAL.

use dpdk_rs::Eal;

fn device_detached_after_eal(eal: Eal) {
    drop(eal);
    eal.detach("net_null7").unwrap();
}

fn main() {}
