// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The kernel's TCP talks to the examples over an interface, in a network namespace of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod automatic;
mod crowd;
mod impaired;
mod proxied;
#[path = "../tap/mod.rs"]
mod tap;
mod web;

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use tap::{Medium, Server, TAP};

/// One end of a veth pair is the kernel's, and the other is the server's by its packet sockets. A veth sends what a NIC would
/// have to finish: frames without checksums, and frames that are longer than the MTU.
const AF_PACKET: Medium = Medium {
    device: "net_af_packet0,iface=stack0",
    lcores: "0",
    create: "ip link add linux0 type veth peer name stack0; ip link set stack0 up
             ethtool -K linux0 tx off tso off gso off >/dev/null",
    delete: "ip link delete linux0",
};

/// What cargo has built: the tests are in `deps`, beside `examples` and the programs.
fn built(name: &str) -> PathBuf {
    env::current_exe().unwrap().parent().and_then(Path::parent).unwrap().join(name)
}

fn example(name: &str) -> PathBuf {
    built("examples").join(name)
}

fn start(medium: Medium, name: &str, words: &[&str]) -> Server {
    Server::start(medium, &example(name), words)
}

/// Whether a program can be run, which is asked for its version. Says what is skipped if it cannot.
fn has(program: &str, option: &str, skipped: &str) -> bool {
    let has = Command::new(program).arg(option).output().is_ok();
    if !has {
        println!("skipped: {skipped}, since {program} is missing");
    }
    has
}

/// Packets of any length come back.
fn ping(medium: Medium) {
    let server = start(medium, "echo", &[]);
    for len in ["0", "56", "1472"] {
        let words = ["-n", "-q", "-c", "3", "-i", "0.01", "-w", "60", "-s", len, "192.0.2.1"];
        assert!(Command::new("ping").args(words).status().unwrap().success(), "{len} bytes");
    }
    assert_eq!(server.stop(), "echoed 0 bytes");
}

fn inside(medium: Medium) {
    if has("ping", "-V", "ping") {
        ping(medium);
    }
    if has("dpdk-telemetry.py", "--help", "counters and connections") {
        web::telemetry(medium);
    }
    crowd::to_server(medium);
    crowd::through_proxy(medium);
    if has("curl", "--version", "the example http") {
        web::http(medium);
    }
    if has("iperf3", "--version", "iperf3 through the proxy") {
        proxied::iperf3(medium);
    }
    if has("ssh", "-V", "ssh through the proxy") && has("/usr/sbin/sshd", "-V", "ssh through the proxy") {
        proxied::ssh(medium);
    }
}

#[test]
fn linux_hosts_are_served() {
    if tap::is_inside("linux_hosts_are_served") {
        tap::echo(TAP, &example("echo"));
        inside(TAP);
        if has("dnsmasq", "--version", "addresses that the network gives") {
            automatic::addresses(TAP);
        }
        if has("curl", "--version", "the examples axum, https and grpc") {
            web::axum();
            web::https();
            web::grpc();
        }
        crowd::to_cores(Medium { lcores: "0,1", ..TAP });
    }
}

#[test]
fn linux_hosts_are_served_over_af_packet() {
    if tap::is_inside("linux_hosts_are_served_over_af_packet") && has("ethtool", "--version", "net_af_packet") {
        inside(AF_PACKET);
    }
}

#[test]
fn every_byte_arrives_whatever_happens_to_frames() {
    if tap::is_inside("every_byte_arrives_whatever_happens_to_frames") {
        let program = built("impair");
        if program.exists() {
            impaired::transfers(&program);
        } else {
            println!("skipped: transfers through impair, which is not built: cargo build -p testbed-impair");
        }
    }
}
