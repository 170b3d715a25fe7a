// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The programs' command lines.
#![allow(clippy::unwrap_used)]
#![forbid(unsafe_code)]

use std::net::TcpListener;
use std::process::{Command, Output};

fn adder(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_adder")).args(words).output().unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_usage_is_printed() {
    let output = adder(&["--help"]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("usage: adder kernel ADDRESS PORT"));
}

#[test]
fn a_port_in_use_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let output = adder(&["kernel", "127.0.0.1", &port]);
    assert_eq!(output.status.code(), Some(1));
    assert!(told(&output).contains(&format!("cannot listen at 127.0.0.1:{port}: ")), "{}", told(&output));
}

#[test]
fn without_a_port_of_dpdk_the_remedy_is_named() {
    let runtime = std::env::temp_dir().join(format!("services-usage-{}", std::process::id()));
    std::fs::create_dir(&runtime).unwrap();
    let words = ["--no-huge", "-m", "64", "--no-pci", "-l", "0", "--", "dpdk", "192.0.2.1/24", "80"];
    let output =
        Command::new(env!("CARGO_BIN_EXE_adder")).args(words).env("RUNTIME_DIRECTORY", &runtime).output().unwrap();
    std::fs::remove_dir_all(&runtime).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(told(&output).contains("no port: give one with --vdev or -a"), "{}", told(&output));
}
