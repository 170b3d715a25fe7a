// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The number of an lcore comes from the EAL.

use dpdk_rs::lcore::LcoreId;

fn lcore_id_made_by_hand() -> LcoreId {
    LcoreId(1000)
}

fn main() {}
