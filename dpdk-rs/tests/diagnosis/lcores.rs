// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Lcores that are unavailable.

use crate::diagnose::{Diagnose, PLAIN, assert_parts};

#[test]
fn cpu_that_the_machine_does_not_have() {
    // Below the number of lcores that DPDK was built for: later versions pass over what is above it.
    for option in ["-l 0,127", "--lcores=0,1@127", "--lcores (1-2)@127"] {
        let found = Diagnose::new().first(&format!("{PLAIN} {option}"));
        assert_parts(&found, &["CPU 127 is requested, this machine has 0", ": give CPUs that exist, such as -l 0"]);
    }
}

#[test]
fn lcore_beyond_what_dpdk_was_built_for() {
    let found = Diagnose::new().first(&format!("{PLAIN} --lcores=0,5000@0"));
    assert_parts(&found, &["lcore 5000 is requested, and ", " is the highest of this DPDK", "--lcores=0@0,1@0"]);
}

#[test]
fn option_that_gives_too_few() {
    let run = Diagnose::new();
    let options = format!("{PLAIN} --vdev=net_null0 --lcores=3@0 --");
    assert_parts(&run.report(&format!("{options} 1")), &["lcore 3 on socket 0, main"]);
    let found = run.first(&format!("{options} 2"));
    assert_parts(&found, &["2 lcores are needed, and the option --lcores=3@0 gives 1, lcore 3: give more, as in -l 0"]);
}

#[test]
fn affinity_that_gives_too_few() {
    let run = Diagnose::new().behind(&["taskset", "--cpu-list", "0"]);
    let found = run.first(&format!("{PLAIN} --vdev=net_null0 -- 2"));
    assert_parts(
        &found,
        &["2 lcores are needed, and the affinity that the process was started with (taskset) gives 1"],
    );
}
