// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Many connections at the same time: the stack has 300, or as many as `DPDK_SOCKETS_CONNECTIONS` says. The kernel opens each from
//! a port of its own, of 28,000, and the test has a file for each.

use crate::start;
use crate::tap::{DEADLINE, Medium, Server};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Instant;
use std::{env, fs, thread};

/// What each connection sends and gets back. The buffers of all that it passes hold as much.
const BYTES: usize = 2_000;

fn connections() -> usize {
    env::var("DPDK_SOCKETS_CONNECTIONS").map_or(300, |number| number.parse().unwrap())
}

fn content(number: usize) -> Vec<u8> {
    (0..BYTES).map(|position| (position * 7 + position / 256 + number * 31 + number / 256) as u8).collect()
}

fn connect(number: usize, server: &str) -> TcpStream {
    let stream = TcpStream::connect(server).unwrap_or_else(|error| panic!("connection {number}: {error}"));
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.set_write_timeout(Some(DEADLINE)).unwrap();
    stream
}

/// Each sends its bytes, before the first reads.
fn send(streams: &[TcpStream]) {
    for (number, mut stream) in streams.iter().enumerate() {
        stream.write_all(&content(number)).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
    }
}

/// Each gets its bytes, and then the end.
fn receive(streams: &[TcpStream]) {
    for (number, mut stream) in streams.iter().enumerate() {
        let mut received = Vec::new();
        stream.read_to_end(&mut received).unwrap();
        assert!(received == content(number), "connection {number} gets other bytes than it sends");
    }
}

/// The most memory that a server has had.
fn memory(server: &Server) -> String {
    let status = fs::read_to_string(format!("/proc/{}/status", server.process.id())).unwrap();
    status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned()
}

/// The kernel connects to the stack.
pub(crate) fn to_server(medium: Medium) {
    let server = start(medium, "echo", &[]);
    exchange(&server);
    assert_eq!(server.stop(), format!("echoed {} bytes", connections() * BYTES));
}

/// The kernel connects to two stacks. Its interface distributes the segments otherwise than the stacks wish.
pub(crate) fn to_cores(medium: Medium) {
    let server = start(medium, "cores", &[]);
    exchange(&server);
    let last = server.stop();
    let accepted = last.strip_prefix("connections accepted by the stacks: [").and_then(|rest| rest.strip_suffix(']'));
    let accepted: Vec<usize> = accepted.unwrap().split(", ").map(|number| number.parse().unwrap()).collect();
    assert!(accepted.len() == 2 && accepted.iter().all(|number| *number > connections() / 10), "{last}");
    assert_eq!(accepted.iter().sum::<usize>(), connections());
}

/// The kernel opens connections, and sends and receives on all of them.
fn exchange(server: &Server) {
    let begin = Instant::now();
    let streams: Vec<_> = (0..connections()).map(|number| connect(number, "192.0.2.1:7")).collect();
    let opened = begin.elapsed();
    send(&streams);
    receive(&streams);
    println!(
        "{} connections: open after {opened:?}, used after {:?}; {}",
        streams.len(),
        begin.elapsed(),
        memory(server)
    );
}

/// The kernel connects to the kernel through the stack, which has two connections for each.
pub(crate) fn through_proxy(medium: Medium) {
    let connections = connections() / 2;
    let proxy = start(medium, "proxy", &["192.0.2.1/24", "7", "192.0.2.2:7"]);
    let listener = TcpListener::bind("192.0.2.2:7").unwrap();
    let begin = Instant::now();
    let (streams, accepted) = thread::scope(|scope| {
        let accepting = scope.spawn(|| (0..connections).map(|_| listener.accept().unwrap().0).collect::<Vec<_>>());
        let streams: Vec<_> = (0..connections).map(|number| connect(number, "192.0.2.1:7")).collect();
        (streams, accepting.join().unwrap())
    });
    let opened = begin.elapsed();
    send(&streams);
    for mut stream in accepted {
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.set_write_timeout(Some(DEADLINE)).unwrap();
        let mut received = Vec::new();
        // One direction is closed while the other is not.
        stream.read_to_end(&mut received).unwrap();
        stream.write_all(&received).unwrap();
    }
    receive(&streams);
    let (used, memory) = (begin.elapsed(), memory(&proxy));
    println!("{connections} connections through the proxy: open after {opened:?}, used after {used:?}; {memory}");
    drop(streams);
    assert_eq!(proxy.stop(), "0 connections were reset");
}
