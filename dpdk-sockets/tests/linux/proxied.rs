// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Programs of Linux talk to each other through the example `proxy`: the stack is the server of one and the client of the other.

use crate::start;
use crate::tap::Medium;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::{env, fs, thread};

/// A server of Linux. It is ended when this is dropped.
struct Daemon(Child);

impl Daemon {
    /// Starts a server, and waits until it says that it listens.
    fn start(command: &mut Command) -> Self {
        let (reader, writer) = std::io::pipe().unwrap();
        let daemon = Self(command.stdout(writer.try_clone().unwrap()).stderr(writer).spawn().unwrap());
        // The pipe ends with the server.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut lines = BufReader::new(reader).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains("Server listening")), "{command:?} did not start");
        thread::spawn(move || lines.for_each(drop));
        daemon
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// 8 MB to the server, and 8 MB from it.
pub(crate) fn iperf3(medium: Medium) {
    let proxy = start(medium, "proxy", &["192.0.2.1/24", "5201", "192.0.2.2:5201"]);
    let _server = Daemon::start(Command::new("iperf3").args(["--server", "--forceflush", "--bind", "192.0.2.2"]));
    for direction in [&[][..], &["--reverse"]] {
        let words = ["--client", "192.0.2.1", "--bytes", "8M", "--format", "M"];
        let Output { status, stdout, stderr } = Command::new("iperf3").args(words).args(direction).output().unwrap();
        let report = String::from_utf8_lossy(&stdout) + String::from_utf8_lossy(&stderr);
        assert!(status.success() && report.contains("receiver"), "{report}");
        println!("{report}");
    }
    assert_eq!(proxy.stop(), "0 connections were reset");
}

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A command of ssh gives back what it is given.
pub(crate) fn ssh(medium: Medium) {
    let folder = Folder(env::temp_dir().join(format!("dpdk-sockets-ssh-{}", std::process::id())));
    fs::create_dir(&folder.0).unwrap();
    let file = |name: &str| folder.0.join(name).display().to_string();
    for key in ["host", "user"] {
        let words = ["-q", "-t", "ed25519", "-N", "", "-f", &file(key)];
        assert!(Command::new("ssh-keygen").args(words).status().unwrap().success());
    }
    let config = format!(
        "ListenAddress 192.0.2.2:22\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\n\
         PermitRootLogin yes\nPasswordAuthentication no\nUsePAM yes\n",
        file("host"),
        file("user.pub")
    );
    fs::write(file("config"), config).unwrap();
    // Where sshd locks itself in; a distribution's own service makes it too.
    fs::create_dir_all("/run/sshd").unwrap();

    let proxy = start(medium, "proxy", &["192.0.2.1/24", "22", "192.0.2.2:22"]);
    let _server = Daemon::start(Command::new("/usr/sbin/sshd").args(["-D", "-e", "-f", &file("config")]));
    let known = format!("UserKnownHostsFile={}", file("known"));
    let options = ["BatchMode=yes", "StrictHostKeyChecking=accept-new", "IdentitiesOnly=yes", &known];
    let mut ssh = Command::new("ssh")
        .args(["-F", "none", "-i", &file("user")])
        .args(options.into_iter().flat_map(|option| ["-o", option]))
        .args(["root@192.0.2.1", "cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let sent: Vec<_> = (0..3_000_000_u32).map(|position| (position * 7 + position / 256) as u8).collect();
    let mut stdin = ssh.stdin.take().unwrap();
    let output = thread::scope(|scope| {
        let sent = &sent;
        scope.spawn(move || stdin.write_all(sent).unwrap());
        ssh.wait_with_output().unwrap()
    });
    assert!(output.status.success() && output.stdout == sent, "{}", output.status);
    assert_eq!(proxy.stop(), "0 connections were reset");
}
