// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Fuzz targets: the kernels that are this project's own, held to the reference.
//!
//! Each target is a function that panics if something is wrong. A fuzzer (`fuzz_targets/`, built with the feature
//! `libfuzzer`) calls it with bytes of its own making, the tests with those in `corpus/`.
#![forbid(unsafe_code)]
#![allow(clippy::panic, reason = "a panic is how a target says what is wrong")]

use parsing_bench::{
    contract::{Rule, Workload},
    gate::{Case, Class, try_case},
    impls::LIBRARIES,
};

/// W1 to W3: the first 16 bytes are the rule, the others the frame.
pub fn parsing_rewrite(data: &[u8]) {
    let Some((rule, frame)) = data.split_first_chunk::<16>() else { return };
    let [a, b, c, d, e, f, g, h, i, j, k, l, address @ ..] = *rule;
    let rule = Rule { destination: [a, b, c, d, e, f], source: [g, h, i, j, k, l], address };
    for workload in [Workload::W1, Workload::W2, Workload::W3] {
        try_all(workload, rule, frame);
    }
}

/// W4: all bytes are the frame.
pub fn parsing_read(data: &[u8]) {
    let rule = Rule { destination: [0; 6], source: [0; 6], address: [0; 4] };
    try_all(Workload::W4, rule, data);
}

/// The C kernels cast the frame to a header that begins at an even address, as the data of an mbuf does: so does what
/// the allocator gives.
fn try_all(workload: Workload, rule: Rule, frame: &[u8]) {
    let case = Case { name: "fuzzed".into(), class: Class::Drawn, frame: frame.to_vec(), rule };
    // A build of the whole workspace has the crates' kernels too, whose faults are the gate's matter.
    for library in LIBRARIES.iter().filter(|library| library.about.package.is_empty()) {
        if library.cannot(workload).is_some() {
            continue;
        }
        if let Err(fault) = try_case(library, workload, &case) {
            panic!("{} {workload}: {}: {:02x?}", library.name, fault.reason(), case.frame);
        }
    }
}
