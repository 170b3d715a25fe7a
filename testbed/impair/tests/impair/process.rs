// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The program as a process.

use serde_json::Value;
use std::{
    env,
    error::Error,
    fs,
    io::{BufRead as _, BufReader, Read as _},
    path::PathBuf,
    process::{self, Child, ChildStderr, Command, Output, Stdio},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

pub(crate) type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

static SERIAL: AtomicU32 = AtomicU32::new(0);

/// A folder that is removed when the test ends. DPDK's own files are in it too.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Result<Self> {
        let name = format!("impair-test-{}-{}", process::id(), SERIAL.fetch_add(1, Relaxed));
        let path = env::temp_dir().join(name);
        fs::create_dir(&path)?;
        Ok(Self(path))
    }

    /// The program with these devices and options.
    pub(crate) fn command(&self, devices: &[String], options: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_impair"));
        // No lcore is named: the test may be confined to any.
        command.args(["--no-huge", "-m", "256", "--no-pci", "--no-telemetry", "--no-shconf"]);
        command.args(devices.iter().map(|device| format!("--vdev={device}")));
        command.arg("--").args(options.split_whitespace());
        command.env("RUNTIME_DIRECTORY", &self.0).stdin(Stdio::null());
        command
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The program while it runs; it is ended when this is dropped.
pub(crate) struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let stderr = BufReader::new(child.stderr.take().ok_or("no stderr")?);
        Ok(Self { child, stderr, said: String::new() })
    }

    /// Waits until a line on stderr contains these parts.
    pub(crate) fn wait_for(&mut self, parts: &[&str]) -> Result {
        loop {
            let start = self.said.len();
            if self.stderr.read_line(&mut self.said)? == 0 {
                return Err(format!("ended without saying {parts:?}: {}", self.said).into());
            }
            if parts.iter().all(|part| self.said[start..].contains(part)) {
                return Ok(());
            }
        }
    }

    /// Sends a signal, waits for the end, and returns the result. Every mbuf is back in its pool then.
    pub(crate) fn end(mut self, signal: &str) -> Result<Value> {
        let sent = Command::new("kill").arg(format!("-{signal}")).arg(self.child.id().to_string()).status()?;
        self.stderr.read_to_string(&mut self.said)?;
        let mut stdout = String::new();
        self.child.stdout.take().ok_or("no stdout")?.read_to_string(&mut stdout)?;
        let status = self.child.wait()?;
        if !sent.success() || !status.success() || self.said.contains("is not cleaned up") {
            return Err(format!("{status}: {}", self.said).into());
        }
        let objects: Vec<Value> = stdout.lines().map(serde_json::from_str).collect::<std::result::Result<_, _>>()?;
        match <[Value; 2]>::try_from(objects) {
            Ok([start, result]) if start["type"] == "start" && result["type"] == "result" => Ok(result),
            _ => Err(format!("not a start and a result: {stdout}").into()),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Exit status, stdout and stderr of a run that ends by itself.
pub(crate) fn output(mut command: Command) -> Result<(Option<i32>, String, String)> {
    let Output { status, stdout, stderr } = command.output()?;
    Ok((status.code(), String::from_utf8(stdout)?, String::from_utf8(stderr)?))
}
