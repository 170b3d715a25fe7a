// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The programs and the commands of the guide, run as they are printed.

use crate::{
    capture,
    chapters::{block, blocks, rows, text},
    process::{Finished, example_program, finish, keep_runtime_files, new_prefix, patience, remove_leftovers},
};
use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const FORWARDER: &str = "docs/forwarder.md";

/// What stands above the program in its file: who owns it, and a lint that this repository has and its readers do not.
const HEAD: &str = "// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors
#![allow(clippy::print_stdout)]

";

/// The EAL's and the program's arguments in a printed command, which may go on in the next line.
fn arguments<'a>(command: &'a str, program: &str) -> Vec<&'a str> {
    let arguments = command.strip_prefix(program).unwrap_or_else(|| panic!("{command} does not start with {program}"));
    arguments.split_whitespace().filter(|word| *word != "\\").collect()
}

/// Runs an example with printed arguments, beside whatever else runs on the machine.
fn run(name: &str, arguments: &[&str], folder: &Path) -> Finished {
    let prefix = new_prefix();
    let mut command = Command::new(example_program(name));
    keep_runtime_files(&mut command, &prefix);
    let finished = finish(command.arg(format!("--file-prefix={prefix}")).args(arguments).current_dir(folder));
    remove_leftovers(&prefix);
    finished
}

/// As [`run`], for arguments with which all goes well; what the example wrote to stdout.
fn output(name: &str, arguments: &[&str], folder: &Path) -> String {
    let finished = run(name, arguments, folder);
    assert!(finished.status.success(), "{}; stderr:\n{}", finished.status, finished.stderr);
    finished.stdout
}

/// A folder for the files of one test, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guide").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn the_forwarder_is_the_example_byte_for_byte() {
    let printed = block(&text(FORWARDER), "rust,no_run", "fn main");
    assert_eq!(text("examples/forwarder.rs"), format!("{HEAD}{printed}"));
    assert!(printed.lines().count() <= 50, "{} lines", printed.lines().count());
}

#[test]
fn the_forwarder_runs_on_null_devices_as_printed() {
    let page = text(FORWARDER);
    let command = block(&page, "sh", "--vdev=net_null0");
    let output = output("forwarder", &arguments(&command, "cargo run --release --"), &folder("null"));
    assert_eq!(output, block(&page, "text", "net_null0"));
}

#[test]
fn the_forwarder_carries_every_frame_of_a_capture() {
    let folder = folder("capture");
    let frames: Vec<Vec<u8>> =
        (0..100).map(|number| (0..60 + 14 * number).map(|place| (number * 101 + place * 7) as u8).collect()).collect();
    capture::write(&folder.join("in.pcap"), &frames);
    let command = block(&text(FORWARDER), "sh", "rx_pcap=in.pcap");
    output("forwarder", &arguments(&command, "cargo run --release --"), &folder);
    assert_eq!(capture::read(&folder.join("out.pcap")), frames);
}

#[test]
fn without_a_port_the_forwarder_says_so() {
    let finished = run("forwarder", &["--no-huge", "-m", "64", "--no-pci"], &folder("no_port"));
    assert_eq!(finished.status.code(), Some(1));
    assert!(finished.stderr.contains("no port: give one with --vdev or -a"), "{}", finished.stderr);
}

/// Runs the printed script in namespaces of its own: of networks, and of mounts for the names of the former.
const NAMESPACES: &str =
    "mount -t tmpfs none /run && mkdir -p /run/netns && mount -t sysfs none /sys && exec \"$0\" \"$@\"";

/// Set for the process inside the namespaces.
const INSIDE: &str = "DPDK_RS_TEST_INSIDE";

#[test]
fn the_forwarder_carries_a_ping() {
    if env::var_os(INSIDE).is_some() {
        return ping_through_the_forwarder();
    }
    let unshare = |program: &str| {
        let mut command = Command::new("unshare");
        command.args(["--net", "--mount", "sh", "-c", NAMESPACES, program]);
        command
    };
    let possible = finish(unshare("sh").args(["-c", "ip -V && ping -V"]));
    if !possible.status.success() || !Path::new("/dev/net/tun").exists() {
        println!("skipped: this needs root, /dev/net/tun, ip and ping: {}", possible.stderr.replace('\n', "; "));
        return;
    }
    let this = env::current_exe().unwrap();
    let finished = finish(
        unshare(this.to_str().unwrap())
            .args(["--exact", "commands::the_forwarder_carries_a_ping", "--nocapture"])
            .env(INSIDE, "1"),
    );
    assert!(finished.status.success(), "{}\n{}", finished.stdout, finished.stderr);
    let expected = block(&text(FORWARDER), "text", "packets transmitted");
    assert!(finished.stdout.contains(expected.trim_end()), "{}\n{}", finished.stdout, finished.stderr);
}

/// A forwarder through which no ping has come by then carries none.
const PING_DEADLINE: Duration = Duration::from_secs(120);

fn ping_through_the_forwarder() {
    let page = text(FORWARDER);
    let command = block(&page, "sh", "--vdev=net_tap0");
    let prefix = new_prefix();
    let mut command_line = Command::new(example_program("forwarder"));
    keep_runtime_files(&mut command_line, &prefix);
    let mut forwarder = command_line
        .args(arguments(&command, "target/release/forwarder"))
        .arg(format!("--file-prefix={prefix}"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The program names its ports before it forwards.
    let lines = BufReader::new(forwarder.stdout.take().unwrap()).lines();
    let ports = lines.map(Result::unwrap).take(2).filter(|line| line.contains("link up")).count();
    let script = block(&page, "sh", "ip netns exec");
    let (hosts, ping) = script.trim_end().rsplit_once('\n').unwrap();
    assert!(ping.starts_with("ip netns exec left ping -c 3 "), "{ping}");
    let made = finish(Command::new("sh").args(["-ec", hosts]));
    // A second after its last request ping takes what has not come for lost. On a machine with more to do the forwarder may have had no
    // turn by then: it is asked until all have come back in time.
    let answered = block(&page, "text", "packets transmitted");
    let deadline = Instant::now() + patience(PING_DEADLINE);
    let pinged = loop {
        let pinged = finish(Command::new("sh").args(["-ec", ping]));
        if pinged.stdout.contains(answered.trim_end()) || Instant::now() > deadline || ports != 2 {
            break pinged;
        }
    };
    forwarder.kill().unwrap();
    forwarder.wait().unwrap();
    remove_leftovers(&prefix);
    println!("{}{}{}", made.stderr, pinged.stdout, pinged.stderr);
    assert_eq!(ports, 2);
    assert!(made.status.success() && pinged.status.success(), "{}, {}", made.status, pinged.status);
}

#[test]
fn the_costs_are_measured_by_the_printed_command() {
    let page = text("docs/performance.md");
    let command = block(&page, "sh", "--example costs");
    let mut arguments = arguments(&command, "cargo run --release -p dpdk-rs --example costs --");
    // Its figures are of no interest here, so one round is enough.
    arguments.extend(["--", "1"]);
    let output = output("costs", &arguments, &folder("costs"));
    let printed: Vec<String> = rows(&page, "Costs of the steps").into_iter().map(|row| row[0].clone()).collect();
    let measured: Vec<(&str, f64)> = output
        .lines()
        .map(|line| line.rsplit_once(' ').map(|(what, cycles)| (what.trim_end(), cycles.parse().unwrap())).unwrap())
        .collect();
    assert_eq!(measured.iter().map(|(what, _)| *what).collect::<Vec<_>>(), printed);
    assert!(measured.iter().all(|(_, cycles)| cycles.is_finite() && *cycles > 0.0), "{output}");
}

#[test]
fn every_command_of_the_forwarder_is_known() {
    // A block that is added needs a test above, or a reason here: these install, or need a NIC.
    let elsewhere = ["apt-get install", "cargo new forwarder", "sysctl -w"];
    let tested = ["--vdev=net_null0", "rx_pcap=in.pcap", "--vdev=net_tap0", "ip netns exec"];
    for command in blocks(&text(FORWARDER), "sh") {
        assert!(elsewhere.iter().chain(&tested).any(|words| command.contains(words)), "not tested:\n{command}");
    }
}
