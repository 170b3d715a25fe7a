// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Network namespaces, in which a test can make the interfaces that it needs, and delete them.

use crate::process::finish;
use std::process::Command;

/// As root, or in a user namespace, which needs no root, only a kernel that permits it.
const UNSHARE: [&[&str]; 2] = [&["unshare", "--net"], &["unshare", "--user", "--map-root-user", "--net"]];

/// The words of a command that runs another in a network namespace of its own, where the kernel sends nothing by
/// itself, after the shell's commands `setup`. Prints why if there can be none.
pub(crate) fn namespace(setup: &'static str) -> Option<Vec<&'static str>> {
    const QUIET: &str = "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6";
    let mut reasons = String::new();
    for unshare in UNSHARE {
        let words = [unshare, &["sh", "-ec", "eval \"$0\"; eval \"$1\"; shift; exec \"$@\"", QUIET, setup]].concat();
        let finished = finish(Command::new(words[0]).args(&words[1..]).arg("true"));
        if finished.status.success() {
            return Some(words);
        }
        reasons += &finished.stderr.replace('\n', "; ");
    }
    println!("skipped: no network namespace with these interfaces can be made: {reasons}");
    None
}

/// Runs a command of the shell, such as `ip`.
pub(crate) fn shell(command: &str) {
    let status = Command::new("sh").args(["-ec", command]).status().unwrap();
    assert!(status.success(), "{command}: {status}");
}
