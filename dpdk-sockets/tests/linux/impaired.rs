// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Transfers between the kernel and the stack, with `testbed/impair` in between: all impairments at once, or each alone if
//! `DPDK_SOCKETS_MEGABYTES` says how many MB each of these transfers has.

use crate::start;
use crate::tap::{DEADLINE, Medium};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use std::{env, fs, thread};

/// Shared memory joins the stack to `impair`, which has the interface. Its socket is the namespace's.
const IMPAIRED: Medium = Medium { device: "net_memif0,role=client,socket=impair", lcores: "0", create: "", delete: "" };

/// The content repeats itself after so many bytes: a prime, and more than is ever on its way.
const PERIOD: usize = 1_000_003;
const CONNECTIONS: usize = 8;

/// The program while it runs.
struct Impair {
    process: Child,
    runtime: PathBuf,
}

impl Impair {
    fn start(program: &Path, options: &str) -> Self {
        let runtime = env::temp_dir().join(format!("dpdk-sockets-impair-{}", std::process::id()));
        fs::create_dir(&runtime).unwrap();
        // The stack polls on the first core.
        let lcore = thread::available_parallelism().map_or(0, |cores| usize::from(cores.get() > 1)).to_string();
        let mut process = Command::new(program)
            .args(["--no-huge", "-m", "128", "--no-pci", "--no-telemetry", "-l", &lcore])
            .args(["--vdev", "net_tap0,iface=linux0", "--vdev", "net_memif0,role=server,socket=impair", "--"])
            .args(options.split_whitespace())
            .env("RUNTIME_DIRECTORY", &runtime)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains("\"start\"")), "impair did not start");
        Self { process, runtime }
    }
}

impl Drop for Impair {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.runtime);
    }
}

/// Bytes that depend on their place, and on the connection.
fn content() -> Vec<u8> {
    let mut random = 1_u64;
    let mut byte = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 56) as u8
    };
    let mut content: Vec<_> = (0..PERIOD).map(|_| byte()).collect();
    content.extend_from_within(..65_536);
    content
}

/// Sends bytes, and at the same time reads them again.
fn exchange(number: usize, content: &[u8], len: usize) {
    let piece = |position: usize, most: usize| &content[(position + number) % PERIOD..][..most.min(65_536)];
    let stream = TcpStream::connect("192.0.2.1:7").unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.set_write_timeout(Some(DEADLINE)).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut sent = 0;
            while sent < len {
                sent += (&stream).write(piece(sent, len - sent)).unwrap();
            }
            stream.shutdown(Shutdown::Write).unwrap();
        });
        let (mut received, mut bytes) = (0, vec![0; 65_536]);
        loop {
            let got = (&stream).read(&mut bytes).unwrap();
            if got == 0 {
                break;
            }
            assert!(bytes[..got] == *piece(received, got), "connection {number} gets other bytes, after {received}");
            received += got;
        }
        assert_eq!(received, len);
    });
}

fn transfer(program: &Path, options: &str, len: usize) {
    let _impair = Impair::start(program, options);
    let server = start(IMPAIRED, "echo", &[]);
    let (begin, content) = (Instant::now(), content());
    thread::scope(|scope| {
        let content = &content;
        for number in 0..CONNECTIONS {
            scope.spawn(move || exchange(number, content, len));
        }
    });
    println!("{options}: {} bytes each way in {:?}", CONNECTIONS * len, begin.elapsed());
    assert_eq!(server.stop(), format!("echoed {} bytes", CONNECTIONS * len));
}

pub(crate) fn transfers(program: &Path) {
    let Ok(megabytes) = env::var("DPDK_SOCKETS_MEGABYTES") else {
        let options = "--loss 0.5% --gemodel 0.5%,3 --duplicate 1% --reorder 2%,3 --corrupt 1% --delay 2ms --jitter 1ms \
                       --rate 100mbit";
        return transfer(program, options, 60_000);
    };
    let len = (megabytes.parse::<f64>().unwrap() * 1e6) as usize / CONNECTIONS;
    transfer(program, "", len);
    for options in [
        "--loss 1%",
        "--gemodel 1%,5",
        "--duplicate 1%",
        "--reorder 1%,3",
        "--corrupt 1%",
        "--delay 1ms",
        "--delay 1ms --jitter 1ms",
        "--rate 1gbit",
        "--loss 10%",
        // A burst lasts for frames, not for a time: senders that wait ever longer take minutes to get out of long ones.
        "--gemodel 10%,2",
        "--duplicate 10%",
        "--reorder 10%,3",
        "--corrupt 10%",
        "--delay 10ms",
        "--delay 10ms --jitter 10ms",
        "--rate 100mbit",
    ] {
        transfer(program, options, len);
    }
}
