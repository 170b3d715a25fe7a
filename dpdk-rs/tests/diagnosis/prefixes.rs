// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Run-time files: a prefix that another process has, and folders that are not this user's.

use crate::{
    diagnose::{Diagnose, PLAIN, assert_parts},
    process::{eal_args, init, isolated_bare},
};
use std::process;

#[test]
fn prefix_of_another_process() {
    isolated_bare(|| {
        let mut args = eal_args(&[]);
        args.retain(|arg| arg != "--no-shconf");
        let prefix = args.iter().find(|arg| arg.starts_with("--file-prefix")).unwrap().clone();
        let (_eal, _) = init(args).unwrap();
        let options = format!("{PLAIN} --vdev=net_null0 {prefix}");
        let found = Diagnose::new().among_others().first(&options);
        let own = format!("process {} (", process::id());
        assert_parts(&found, &[&own, ") runs under the file prefix '", "' and holds ", &format!("such as {prefix}2")]);
        Diagnose::new().report(&options);
    });
}

#[test]
fn folder_that_belongs_to_another_user() {
    let Some(run) = Diagnose::new().by_nobody() else { return };
    let found = run.first(PLAIN);
    assert_parts(&found, &["user 65534 may not write to ", "set RUNTIME_DIRECTORY to a folder of user 65534"]);
}

#[test]
fn folder_that_does_not_exist() {
    let run = Diagnose::new().variable("RUNTIME_DIRECTORY", "/nothing");
    assert_parts(&run.first(PLAIN), &["/nothing does not exist, but DPDK creates its run-time files there: create it"]);
}
