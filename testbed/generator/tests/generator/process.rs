// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The generator as a process.

use serde_json::Value;
use std::{
    env,
    error::Error,
    fs,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    process::{self, Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
    thread::{self, JoinHandle},
};

pub(crate) type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

static SERIAL: AtomicU32 = AtomicU32::new(0);

/// A name that nothing else on the machine has.
pub(crate) fn unique(what: &str) -> String {
    format!("generator-test-{}-{}-{what}", process::id(), SERIAL.fetch_add(1, Relaxed))
}

/// A folder that goes with the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Result<Self> {
        let path = env::temp_dir().join(unique("folder"));
        fs::create_dir(&path)?;
        Ok(Self(path))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Device arguments of two ports with a wire between them. `options` are added to both.
    pub(crate) fn wire(&self, options: &str) -> [String; 2] {
        let socket = self.0.join("wire.sock");
        [(0, "server"), (1, "client")].map(|(port, role)| {
            format!("net_memif{port},role={role},id=0,socket-abstract=no,socket={}{options}", socket.display())
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The prefix of a process, whose folder below DPDK's own goes with this.
struct FilePrefix(String);

impl Drop for FilePrefix {
    fn drop(&mut self) {
        let roots = ["RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"].into_iter().filter_map(env::var_os).map(PathBuf::from);
        for root in roots.chain(["/var/run", "/tmp"].map(PathBuf::from)) {
            // It is below one of them, by who runs the tests.
            let _ = fs::remove_dir_all(root.join("dpdk").join(&self.0));
        }
    }
}

/// How a process ended, and what it said.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    /// The result of a run that succeeded: one JSON object on stdout and nothing else.
    pub(crate) fn result(&self) -> Result<Value> {
        if !self.status.success() {
            return Err(format!("{}: {}", self.status, self.stderr).into());
        }
        Ok(serde_json::from_str(&self.stdout)?)
    }
}

/// Runs the generator on a wire, and returns its result.
///
/// Its end is not looked at: with both ends of a memif link in one process, DPDK's interrupt thread disconnects the
/// second while the main thread closes it, and that can crash. By then the result has been written.
pub(crate) fn result_of_wire(folder: &Folder, wire_options: &str, options: &str) -> Result<Value> {
    let outcome = run(&folder.wire(wire_options), &format!("{options} --json - --quiet"))?;
    serde_json::from_str(&outcome.stdout).map_err(|error| format!("{error}: {outcome:?}").into())
}

fn command<S: AsRef<str>>(devices: &[S], options: &str) -> (Command, FilePrefix) {
    let prefix = FilePrefix(unique("eal"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_generator"));
    // No lcore is named: the test may be confined to any.
    command.args(["--no-huge", "-m", "256", "--no-pci", "--no-telemetry", "--no-shconf"]);
    command.arg(format!("--file-prefix={}", prefix.0));
    command.args(devices.iter().map(|device| format!("--vdev={}", device.as_ref())));
    command.arg("--").args(options.split_whitespace());
    command.stdin(Stdio::null());
    (command, prefix)
}

/// Runs the generator with these devices and options to its end.
pub(crate) fn run<S: AsRef<str>>(devices: &[S], options: &str) -> Result<Outcome> {
    let (mut command, _prefix) = command(devices, options);
    let output = command.output()?;
    Ok(Outcome {
        status: output.status,
        stdout: String::from_utf8(output.stdout)?,
        stderr: String::from_utf8(output.stderr)?,
    })
}

/// Runs the generator, and returns its result.
pub(crate) fn result<S: AsRef<str>>(devices: &[S], options: &str) -> Result<Value> {
    run(devices, &format!("{options} --json - --quiet"))?.result()
}

/// A generator that runs; it is ended when this is dropped.
pub(crate) struct Running {
    child: Child,
    stdout: Option<JoinHandle<String>>,
    stderr: BufReader<process::ChildStderr>,
    said: String,
    /// Dropped after the process has ended.
    _prefix: FilePrefix,
}

impl Running {
    pub(crate) fn start<S: AsRef<str>>(devices: &[S], options: &str) -> Result<Self> {
        let (mut command, prefix) = command(devices, options);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let mut stdout = child.stdout.take().ok_or("no stdout")?;
        let stderr = BufReader::new(child.stderr.take().ok_or("no stderr")?);
        let stdout = thread::spawn(move || {
            let mut text = String::new();
            // An error leaves the text short, and the test fails on that.
            let _ = stdout.read_to_string(&mut text);
            text
        });
        Ok(Self { child, stdout: Some(stdout), stderr, said: String::new(), _prefix: prefix })
    }

    /// Waits until a line on stderr contains `part`.
    pub(crate) fn wait_for(&mut self, part: &str) -> Result {
        loop {
            let mut line = String::new();
            if self.stderr.read_line(&mut line)? == 0 {
                return Err(format!("ended without saying '{part}': {}", self.said).into());
            }
            self.said += &line;
            if line.contains(part) {
                return Ok(());
            }
        }
    }

    pub(crate) fn signal(&self, name: &str) -> Result {
        let sent = Command::new("kill").arg(format!("-{name}")).arg(self.child.id().to_string()).status()?;
        if sent.success() { Ok(()) } else { Err(format!("kill: {sent}").into()) }
    }

    /// Waits for its end.
    pub(crate) fn wait(mut self) -> Result<Outcome> {
        let mut stderr = std::mem::take(&mut self.said);
        self.stderr.read_to_string(&mut stderr)?;
        let status = self.child.wait()?;
        let stdout = self.stdout.take().and_then(|reader| reader.join().ok()).unwrap_or_default();
        Ok(Outcome { status, stdout, stderr })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
