// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The programs' command lines.
#![allow(clippy::unwrap_used)]
#![forbid(unsafe_code)]

use std::net::TcpListener;
use std::process::Command;

const PROGRAMS: &[(&str, &str, &[&str])] = &[
    (env!("CARGO_BIN_EXE_adder-hyper"), "adder", &[]),
    (env!("CARGO_BIN_EXE_echo-pool"), "echo", &[]),
    (env!("CARGO_BIN_EXE_proxy-tokio"), "proxy", &["127.0.0.1:80"]),
    #[cfg(feature = "uring")]
    (env!("CARGO_BIN_EXE_proxy-uring"), "proxy", &["127.0.0.1:80"]),
];

#[test]
fn the_usage_is_printed() {
    for (path, name, _) in PROGRAMS {
        let output = Command::new(path).arg("--help").output().unwrap();
        assert!(output.status.success());
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(told.starts_with(&format!("usage: {name} kernel ADDRESS PORT")), "{told}");
    }
}

#[test]
fn a_port_in_use_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    for (path, name, to) in PROGRAMS {
        let output = Command::new(path).args(["kernel", "127.0.0.1", &port]).args(*to).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.starts_with(&format!("{name}: cannot listen at 127.0.0.1:{port}: ")), "{told}");
    }
}
