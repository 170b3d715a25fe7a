// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A server on an interface of the kernel, in a network namespace of its own.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;
use std::{env, thread};

/// One test after the other: the server of each keeps a core busy.
static TURN: Mutex<()> = Mutex::new(());

/// Set for the process in the namespace.
const INSIDE: &str = "DPDK_SOCKETS_TEST_INSIDE";

/// A connection on which nothing happens for so long hangs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// A test that takes longer hangs, unless a variable asks for more of it.
const LONGEST: Duration = Duration::from_secs(600);
const MORE: [&str; 2] = ["DPDK_SOCKETS_CONNECTIONS", "DPDK_SOCKETS_MEGABYTES"];

/// What a test that hangs waits for, and the end of what it has started.
const SHOW: &str =
    "ss -tinmop; ip neigh; ps -eLo pid,lwp,ppid,etimes,stat,wchan:30,args | grep -v ']$'; pkill -KILL -P $PPID";

const SERVER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
const CONNECTIONS: usize = 200;
const BYTES: usize = 20_000;

/// What joins the server to the kernel, whose interface is `linux0`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Medium {
    /// The server's device.
    pub(crate) device: &'static str,
    /// The server's lcores, for `-l`.
    pub(crate) lcores: &'static str,
    /// Commands for the shell, before the server starts and after it has ended.
    pub(crate) create: &'static str,
    pub(crate) delete: &'static str,
}

/// A tap interface, which comes and goes with the device.
pub(crate) const TAP: Medium = Medium { device: "net_tap0,iface=linux0", lcores: "0", create: "", delete: "" };

/// A program that runs on an interface of the kernel.
pub(crate) struct Server {
    pub(crate) process: Child,
    medium: Medium,
    lines: Lines<BufReader<ChildStdout>>,
    /// A folder of its own for DPDK.
    pub(crate) runtime: PathBuf,
}

impl Server {
    pub(crate) fn start(medium: Medium, program: &Path, words: &[&str]) -> Self {
        shell(medium.create);
        let name = program.file_name().unwrap().display();
        let runtime = env::temp_dir().join(format!("dpdk-sockets-{name}-{}", std::process::id()));
        std::fs::create_dir(&runtime).unwrap();
        let mut process = Command::new(program)
            .args(["--no-huge", "-m", "128", "--no-pci", "-l", medium.lcores, "--vdev", medium.device, "--"])
            .args(words)
            .env("RUNTIME_DIRECTORY", &runtime)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let ready = lines.by_ref().map_while(Result::ok).find(|line| line.contains("TCP port"));
        assert!(ready.is_some(), "the server did not start");
        shell(
            "ip address add 192.0.2.2/24 dev linux0; ip link set linux0 up
            ip address add 2001:db8::2/64 dev linux0 nodad",
        );
        Self { process, medium, lines, runtime }
    }

    /// The next line of its output that is so.
    #[allow(dead_code, reason = "not every test reads lines")]
    pub(crate) fn line(&mut self, is: impl Fn(&str) -> bool) -> String {
        self.lines.by_ref().map_while(Result::ok).find(|line| is(line)).unwrap()
    }

    /// The last line of its output.
    pub(crate) fn stop(mut self) -> String {
        self.signal();
        let last = self.lines.by_ref().map_while(Result::ok).last();
        assert!(self.process.wait().unwrap().success());
        last.unwrap_or_default()
    }

    pub(crate) fn signal(&self) {
        kill(Pid::from_raw(self.process.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test that failed has not stopped it.
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.runtime);
        let _ = Command::new("sh").args(["-ec", self.medium.delete]).status();
    }
}

/// Runs commands, the first of which that fails ends them and the test.
pub(crate) fn shell(script: &str) {
    assert!(Command::new("sh").args(["-ec", script]).status().unwrap().success(), "{script}");
}

/// Sends bytes, which are other ones for each connection, and reads them again.
fn exchange(server: IpAddr, number: usize) {
    let sent: Vec<_> = (0..BYTES).map(|position| (position * 7 + number) as u8).collect();
    let mut stream = TcpStream::connect((server, 7)).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.set_write_timeout(Some(DEADLINE)).unwrap();
    stream.write_all(&sent).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).unwrap();
    assert!(received == sent, "connection {number} gets other bytes than it sends");
}

/// An echo server at this address gives every byte back. Returns how many.
#[allow(dead_code, reason = "not every test has other addresses")]
pub(crate) fn echo_at(server: IpAddr) -> usize {
    exchange(server, 0);
    BYTES
}

/// An echo server gives every byte back.
pub(crate) fn echo(medium: Medium, program: &Path) {
    let server = Server::start(medium, program, &[]);
    thread::scope(|scope| {
        for first in 0..4 {
            scope.spawn(move || (first..CONNECTIONS).step_by(4).for_each(|number| exchange(SERVER, number)));
        }
    });
    assert!(
        TcpStream::connect("192.0.2.1:8").is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
    );
    assert_eq!(server.stop(), format!("echoed {} bytes", CONNECTIONS * BYTES));
}

/// Runs a test in a network namespace, where this function returns `true`: it starts this program once more for that.
pub(crate) fn is_inside(test: &str) -> bool {
    if env::var_os(INSIDE).is_some() {
        if MORE.iter().all(|variable| env::var_os(variable).is_none()) {
            thread::spawn(|| end_after(LONGEST));
        }
        return true;
    }
    if !Path::new("/dev/net/tun").exists() {
        println!("skipped: the kernel has no /dev/net/tun");
        return false;
    }
    if !Command::new("unshare").args(["--net", "true"]).output().is_ok_and(|output| output.status.success()) {
        println!("skipped: no network namespace can be made: this needs root");
        return false;
    }
    let _turn = TURN.lock();
    // Each connection has a file, and perhaps one at its other end.
    let mut command = Command::new("sh");
    command.args(["-ec", "ulimit -n $(ulimit -Hn); exec unshare --net \"$0\" \"$@\""]).arg(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(INSIDE, "1");
    assert!(command.status().unwrap().success());
    false
}

/// Ends the process, and shows what it waited for.
fn end_after(time: Duration) {
    thread::sleep(time);
    println!("not done after {time:?}:");
    let _ = Command::new("sh").args(["-c", SHOW]).status();
    std::process::abort();
}
