// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The kernel's TCP talks to the examples over a tap interface, in a network namespace of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;
use std::{env, thread};

/// Set for the process in the namespace.
const INSIDE: &str = "DPDK_SOCKETS_TEST_INSIDE";

/// The name of the one test here.
const TEST: &str = "linux_hosts_are_served";

/// A test that takes longer hangs.
const DEADLINE: Duration = Duration::from_secs(120);

const CONNECTIONS: usize = 200;
const BYTES: usize = 20_000;

/// An example that runs on a tap interface of the kernel.
struct Server {
    process: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// A folder of its own for DPDK.
    runtime: PathBuf,
}

impl Server {
    fn start(example: &str, words: &[&str]) -> Self {
        // The tests are in `deps`, beside `examples`.
        let built = env::current_exe().unwrap();
        let program = built.parent().and_then(Path::parent).unwrap().join("examples").join(example);
        let runtime = env::temp_dir().join(format!("dpdk-sockets-{example}-{}", std::process::id()));
        std::fs::create_dir(&runtime).unwrap();
        let mut process = Command::new(program)
            .args([
                "--no-huge",
                "-m",
                "128",
                "--no-pci",
                "--no-telemetry",
                "--vdev=net_tap0,iface=tap0",
                "-l",
                "0",
                "--",
            ])
            .args(words)
            .env("RUNTIME_DIRECTORY", &runtime)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let ready = lines.by_ref().map_while(Result::ok).find(|line| line.contains("on TCP port"));
        assert!(ready.is_some(), "the server did not start");
        shell("ip address add 192.0.2.2/24 dev tap0; ip link set tap0 up");
        Self { process, lines, runtime }
    }

    /// The last line of its output.
    fn stop(mut self) -> String {
        self.signal();
        let last = self.lines.by_ref().map_while(Result::ok).last();
        assert!(self.process.wait().unwrap().success());
        last.unwrap_or_default()
    }

    fn signal(&self) {
        kill(Pid::from_raw(self.process.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test that failed has not stopped it.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.runtime);
    }
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

fn echo() {
    let server = Server::start("echo", &[]);
    thread::scope(|scope| {
        for first in 0..4 {
            scope.spawn(move || (first..CONNECTIONS).step_by(4).for_each(exchange));
        }
    });
    assert!(
        TcpStream::connect("192.0.2.1:8").is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
    );
    assert_eq!(server.stop(), format!("echoed {} bytes", CONNECTIONS * BYTES));
}

/// What curl prints. It is given `input`.
fn curl(words: &[&str], input: &[u8]) -> Vec<u8> {
    let mut curl = Command::new("curl")
        .args(["--silent", "--show-error", "--max-time", "60"])
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = curl.stdin.take().unwrap();
    let output = thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(input).unwrap());
        curl.wait_with_output().unwrap()
    });
    assert!(output.status.success(), "curl {words:?}");
    output.stdout
}

fn page(words: &[&str]) -> String {
    String::from_utf8(curl(words, b"")).unwrap()
}

/// hyper's server: pages, a body that is longer than all buffers, connections that are used again, and the end.
fn http() {
    let server = Server::start("http", &[]);
    let twice = ["http://192.0.2.1/", "http://192.0.2.1/", "--write-out", "%{num_connects} "];
    assert_eq!(page(&twice), "hello, 192.0.2.2\n1 hello, 192.0.2.2\n0 ");
    assert_eq!(page(&["http://192.0.2.1/none", "--write-out", "%{http_code}"]), "there is no GET /none\n404");
    let body: Vec<_> = (0..1_000_000_u32).map(|position| (position * 7 + position / 256) as u8).collect();
    let echo = ["http://192.0.2.1/echo", "--header", "Expect:", "--data-binary", "@-"];
    assert!(curl(&echo, &body) == body, "another body than was sent");
    // A connection that waits for a request is closed in order.
    let mut idle = TcpStream::connect("192.0.2.1:80").unwrap();
    idle.set_read_timeout(Some(DEADLINE)).unwrap();
    idle.write_all(b"GET / HTTP/1.1\r\nhost: stack\r\n\r\n").unwrap();
    let mut response = [0; 4];
    idle.read_exact(&mut response).unwrap();
    assert_eq!(&response, b"HTTP");
    server.signal();
    let mut rest = String::new();
    idle.read_to_string(&mut rest).unwrap();
    assert!(rest.ends_with("hello, 192.0.2.2\n"), "{rest}");
    drop(idle);
    assert_eq!(server.stop(), "0 connections were reset");
}

/// A page after its scripts have run; `None` if there is no Chromium.
fn chromium(folder: &Path, page: &str) -> Option<String> {
    let output = Command::new("chromium")
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"])
        .args(["--disable-dev-shm-usage", "--virtual-time-budget=10000", "--timeout=60000", "--dump-dom", page])
        .arg(format!("--user-data-dir={}/profile", folder.display()))
        .output()
        .ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// An axum application, for curl with a browser's headers, and for a browser.
fn axum() {
    let server = Server::start("axum", &[]);
    let browser = ["--compressed", "--header", "accept: text/html", "--header", "connection: keep-alive"];
    let ask = |path: &str| page(&[&browser[..], &[&format!("http://192.0.2.1/{path}")]].concat());
    assert!(ask("").contains("<h1>Visit 1</h1>") && ask("").contains("<h1>Visit 2</h1>"));
    assert_eq!(ask("visits"), "2");
    match chromium(&server.runtime, "http://192.0.2.1/") {
        Some(page) => assert!(page.contains("<h1>Visit 3</h1>") && page.contains("of 3</p>"), "{page}"),
        None => println!("skipped: a page in Chromium, which is missing"),
    }
    assert_eq!(ask("hello/w%C3%B6rld"), "hello, w\u{f6}rld");
    assert_eq!(server.stop(), "0 connections were reset");
}

/// TLS: curl checks the certificate, which is made for the test.
fn https() {
    let folder = env::temp_dir().join(format!("dpdk-sockets-tls-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let [certificate, key] = ["certificate.pem", "key.pem"].map(|name| folder.join(name).display().to_string());
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-subj",
            "/CN=stack",
        ])
        .args(["-days", "2", "-addext", "subjectAltName=IP:192.0.2.1", "-out", &certificate, "-keyout", &key])
        .output();
    if made.is_ok_and(|made| made.status.success()) {
        let server = Server::start("https", &["192.0.2.1/24", &certificate, &key]);
        assert_eq!(page(&["--cacert", &certificate, "https://192.0.2.1/page"]), "/page over TLS\n");
        assert_eq!(server.stop(), "0 connections were reset");
    } else {
        println!("skipped: the example https, since openssl makes no certificate");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// gRPC: curl asks whether the server is well, with an empty message.
fn grpc() {
    let server = Server::start("grpc", &[]);
    let words = ["--http2-prior-knowledge", "--header", "content-type: application/grpc", "--header", "te: trailers"];
    let check = ["--data-binary", "@-", "http://192.0.2.1:50051/grpc.health.v1.Health/Check"];
    // A message is preceded by a flag and its length. Field 1 says SERVING.
    assert_eq!(curl(&[&words[..], &check].concat(), &[0, 0, 0, 0, 0]), [0, 0, 0, 0, 2, 8, 1]);
    assert_eq!(server.stop(), "0 connections were reset");
}

fn inside() {
    echo();
    if !Command::new("curl").arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("skipped: the examples http, axum, https and grpc, since curl is missing");
        return;
    }
    http();
    axum();
    https();
    grpc();
}

#[test]
fn linux_hosts_are_served() {
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
