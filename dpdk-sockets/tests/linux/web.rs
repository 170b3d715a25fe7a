// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The examples that serve the web, and curl and a browser as their clients.

use crate::start;
use crate::tap::{DEADLINE, Medium, TAP};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, thread};

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

/// hyper's server: pages by both versions of IP, a body that is longer than all buffers, connections that are used again, and the
/// end.
pub(crate) fn http(medium: Medium) {
    let server = start(medium, "http", &["192.0.2.1/24,2001:db8::1/64"]);
    let twice = ["http://192.0.2.1/", "http://192.0.2.1/", "--write-out", "%{num_connects} "];
    assert_eq!(page(&twice), "hello, 192.0.2.2\n1 hello, 192.0.2.2\n0 ");
    assert_eq!(page(&["--globoff", "http://[2001:db8::1]/"]), "hello, 2001:db8::2\n");
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
pub(crate) fn axum() {
    let server = start(TAP, "axum", &[]);
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
pub(crate) fn https() {
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
        let server = start(TAP, "https", &["192.0.2.1/24", &certificate, &key]);
        assert_eq!(page(&["--cacert", &certificate, "https://192.0.2.1/page"]), "/page over TLS\n");
        assert_eq!(server.stop(), "0 connections were reset");
    } else {
        println!("skipped: the example https, since openssl makes no certificate");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// gRPC: curl asks whether the server is well, with an empty message.
pub(crate) fn grpc() {
    let server = start(TAP, "grpc", &[]);
    let words = ["--http2-prior-knowledge", "--header", "content-type: application/grpc", "--header", "te: trailers"];
    let check = ["--data-binary", "@-", "http://192.0.2.1:50051/grpc.health.v1.Health/Check"];
    // A message is preceded by a flag and its length. Field 1 says SERVING.
    assert_eq!(curl(&[&words[..], &check].concat(), &[0, 0, 0, 0, 0]), [0, 0, 0, 0, 2, 8, 1]);
    assert_eq!(server.stop(), "0 connections were reset");
}

/// What DPDK's tool says of the echo server while a connection is open.
pub(crate) fn telemetry(medium: Medium) {
    let server = start(medium, "echo", &[]);
    let mut stream = TcpStream::connect("192.0.2.1:7").unwrap();
    let local = stream.local_addr().unwrap();
    stream.write_all(&[7; 1_000]).unwrap();
    stream.read_exact(&mut [0; 1_000]).unwrap();
    let ask = |command: &str| {
        let mut tool = Command::new("sh");
        tool.args(["-c", "printf '%s\\n' \"$1\" | dpdk-telemetry.py", "sh", command]);
        let output = tool.env("RUNTIME_DIRECTORY", &server.runtime).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(ask("/sockets/list").trim(), r#"{"/sockets/list": {"stacks": ["echo"]}}"#);
    let list = ask(&format!("/sockets/list,echo,port=7,peer={}", local.ip()));
    let begins = format!(
        r#"{{"/sockets/list": {{"total": 1, "connections": {{"0": {{"local": "192.0.2.1:7", "peer": "{local}", "state": "ESTABLISHED""#
    );
    assert!(list.starts_with(&begins) && list.contains(r#""bytes_received": 1000, "#), "{list}");
    let counters = ask("/sockets/counters,echo");
    for field in [r#""connections": 1"#, r#""accepted": 1"#, r#""bytes_received": 1000"#, r#""bytes_sent": 1000"#] {
        assert!(counters.contains(field), "{field} is not in {counters}");
    }
    drop(stream);
    assert_eq!(server.stop(), "echoed 1000 bytes");
}
