// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A list has as many categories as DPDK can answer for.

use dpdk_rs::{
    Eal, EalOptions,
    lookup::{Acl, FieldDef},
};

fn acl_of_five_categories(eal: &Eal) -> bool {
    Acl::builder("acl", [FieldDef::bitmask(9, 1)]).categories::<5>().build(eal).is_ok()
}

fn main() {
    let (eal, _args) = Eal::init(EalOptions::new()).unwrap();
    acl_of_five_categories(&eal);
}
