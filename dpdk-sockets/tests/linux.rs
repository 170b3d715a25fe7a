// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The kernel's TCP talks to the example `echo` over a tap interface, in a network namespace of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, thread};

/// Set for the process in the namespace.
const INSIDE: &str = "DPDK_SOCKETS_TEST_INSIDE";

/// The name of the one test here.
const TEST: &str = "linux_hosts_are_echoed";

/// A test that takes longer hangs.
const DEADLINE: Duration = Duration::from_secs(120);

const CONNECTIONS: usize = 200;
const BYTES: usize = 20_000;

fn example() -> PathBuf {
    // The tests are in `deps`, beside `examples`.
    let built = env::current_exe().unwrap();
    built.parent().and_then(Path::parent).unwrap().join("examples/echo")
}

fn shell(script: &str) {
    assert!(Command::new("sh").args(["-ec", script]).status().unwrap().success(), "{script}");
}

/// Sends bytes, which are other ones for each connection, and reads them again.
fn exchange(number: usize) {
    let sent: Vec<_> = (0..BYTES).map(|position| (position * 7 + number) as u8).collect();
    let mut stream = TcpStream::connect("192.0.2.1:7").unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.write_all(&sent).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).unwrap();
    assert!(received == sent, "connection {number} gets other bytes than it sends");
}

fn inside() {
    // A folder of its own for DPDK, which the test's end takes with it.
    let runtime = env::temp_dir().join(format!("dpdk-sockets-{}", std::process::id()));
    std::fs::create_dir(&runtime).unwrap();
    let mut server = Command::new(example())
        .args(["--no-huge", "-m", "128", "--no-pci", "--no-telemetry", "--vdev=net_tap0,iface=echo0", "-l", "0"])
        .env("RUNTIME_DIRECTORY", &runtime)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let ready = lines.by_ref().map_while(Result::ok).find(|line| line.contains("echoes on TCP port 7"));
    assert!(ready.is_some(), "the server did not start");
    shell("ip address add 192.0.2.2/24 dev echo0; ip link set echo0 up");
    thread::scope(|scope| {
        for first in 0..4 {
            scope.spawn(move || (first..CONNECTIONS).step_by(4).for_each(exchange));
        }
    });
    assert!(
        TcpStream::connect("192.0.2.1:8").is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
    );
    kill(Pid::from_raw(server.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
    let last = lines.map_while(Result::ok).last();
    assert_eq!(last, Some(format!("echoed {} bytes", CONNECTIONS * BYTES)));
    assert!(server.wait().unwrap().success());
    std::fs::remove_dir_all(&runtime).unwrap();
}

#[test]
fn linux_hosts_are_echoed() {
    if env::var_os(INSIDE).is_some() {
        return inside();
    }
    if !Path::new("/dev/net/tun").exists() {
        println!("skipped: the kernel has no /dev/net/tun");
        return;
    }
    if !Command::new("unshare").args(["--net", "true"]).output().is_ok_and(|output| output.status.success()) {
        println!("skipped: no network namespace can be made: this needs root");
        return;
    }
    let mut command = Command::new("unshare");
    command.arg("--net").arg(env::current_exe().unwrap()).args(["--exact", TEST, "--nocapture"]).env(INSIDE, "1");
    assert!(command.status().unwrap().success());
}
