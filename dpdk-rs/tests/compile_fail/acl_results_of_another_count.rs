// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A list answers for as many categories as it was made for.

use dpdk_rs::lookup::Acl;
use std::num::NonZeroU32;

fn acl_results_of_another_count(acl: &Acl<5, 8>, header: &[u8]) -> Option<NonZeroU32> {
    let mut results = [[None; 4]; 1];
    acl.classify_categories(&[header], &mut results).unwrap();
    results[0][0]
}

fn main() {}
