// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A shared table has one writer.

use dpdk_rs::lookup::HashWriter;

fn hash_writer_cloned(writer: HashWriter<u64, u64>) -> [HashWriter<u64, u64>; 2] {
    [writer.clone(), writer]
}

fn main() {}
