// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The checked-in bindings are those that bindgen makes from DPDK 22.11.
//!
//! To refresh them, on a machine with that version: `DPDK_SYS_REFRESH=1 cargo test -p dpdk-rs-sys --test bundled`.

use std::{env, fs};

const BUNDLED: &str = "bindings/dpdk-22.11.rs";
const GENERATED: &str = include_str!(concat!(env!("OUT_DIR"), "/bindings.rs"));
const HEADER: &str = "// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors
//
// Made by bindgen from DPDK 22.11 on x86-64. Refresh with:
//     DPDK_SYS_REFRESH=1 cargo test -p dpdk-rs-sys --test bundled

";

/// Without what rustfmt, which bindgen calls where it is installed, may change: white space and trailing commas.
fn normalized(source: &str) -> String {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut text: String = code.flat_map(str::chars).filter(|character| !character.is_whitespace()).collect();
    for closing in [')', ']', '}', '>'] {
        text = text.replace(&format!(",{closing}"), &closing.to_string());
    }
    text
}

#[test]
fn checked_in_bindings_are_those_of_22_11() {
    let version = (dpdk_sys::DPDK_SYS_VERSION_YEAR, dpdk_sys::DPDK_SYS_VERSION_MONTH);
    if version != (22, 11) || !cfg!(target_arch = "x86_64") {
        println!("skipped: the checked-in bindings are for DPDK 22.11 on x86-64, this is {version:?}");
        return;
    }
    if env::var_os("DPDK_SYS_REFRESH").is_some() {
        fs::write(BUNDLED, [HEADER, GENERATED].concat()).expect("the bindings can be written");
    }
    let bundled = fs::read_to_string(BUNDLED).expect("the bindings are there");
    assert!(bundled.starts_with(HEADER), "{BUNDLED} has lost its header");
    let (bundled, generated) = (normalized(&bundled), normalized(GENERATED));
    let same = bundled.bytes().zip(generated.bytes()).take_while(|(left, right)| left == right).count();
    let excerpt = |text: &str| text.get(same..).map(|rest| rest.chars().take(200).collect::<String>());
    assert!(
        bundled == generated,
        "{BUNDLED} is not what bindgen makes; the file has\n{:?}\nwhere bindgen makes\n{:?}",
        excerpt(&bundled),
        excerpt(&generated)
    );
}

#[test]
fn formatting_makes_no_difference() {
    assert_eq!(normalized("pub fn f(\n    a: u8,\n) -> [u8; 2]\n"), normalized("pub fn f(a: u8) -> [u8; 2]"));
    assert_ne!(normalized("pub fn f(a: u8)"), normalized("pub fn f(a: u16)"));
}
