// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Several threads read a value at a time.

use dpdk_rs::lookup::RcuReader;
use std::cell::Cell;

fn rcu_value_not_sync(_reader: &RcuReader<u64, Cell<u64>>) {}

fn main() {}
