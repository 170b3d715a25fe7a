// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Another process with the same file prefix.

use super::{Finding, arguments::Arguments, host::Host};
use std::{fs::Metadata, os::unix::fs::MetadataExt, path::PathBuf};

/// How a process with a given command line shares DPDK with others.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Sharing {
    pub(crate) prefix: String,
    /// The file that a primary process with this prefix locks.
    pub(crate) config: PathBuf,
    /// The value of `--proc-type`.
    pub(crate) process_type: Option<String>,
    /// An option that prevents sharing, without its dashes.
    pub(crate) hindrance: Option<&'static str>,
}

/// How a process that is started with these arguments shares DPDK with others.
pub(crate) fn sharing(args: &[String]) -> Sharing {
    sharing_on(&Arguments::new(args), &Host::this())
}

fn sharing_on(args: &Arguments, host: &Host) -> Sharing {
    let prefix = args.file_prefix().to_owned();
    Sharing {
        config: host.runtime_folder().join(&prefix).join("config"),
        process_type: args.last("proc-type").map(str::to_owned),
        hindrance: ["no-huge", "no-shconf", "in-memory"].into_iter().find(|option| args.has(option)),
        prefix,
    }
}

/// The process that holds a primary process's lock on its configuration.
pub(super) fn of_start(args: &Arguments, host: &Host) -> Option<Finding> {
    if !args.shares_files() {
        return None;
    }
    let prefix = args.file_prefix();
    let file = host.runtime_folder().join(prefix).join("config");
    let metadata = host.metadata(&file)?;
    let locks = host.text("/proc/locks")?;
    let holders: Vec<Lock> =
        locks.lines().filter_map(Lock::parse).filter(|lock| lock.inode == metadata.ino()).collect();
    // The failed start may hold the lock itself, so only other processes count.
    let process = host.other_processes().into_iter().find(|process| {
        let lock = holders.iter().find(|lock| lock.pid == process.pid);
        lock.is_some_and(|lock| lock.device == device(&metadata) || has_open(host, process.pid, &metadata))
    })?;
    Some(Finding::PrefixInUse { prefix: prefix.to_owned(), file, process })
}

/// A write lock, parsed from a line such as `1: POSIX  ADVISORY  WRITE 1234 00:18:567 64 72`.
struct Lock {
    pid: u32,
    device: (u64, u64),
    inode: u64,
}

impl Lock {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace().skip_while(|word| *word != "WRITE").skip(1);
        let pid = words.next()?.parse().ok()?;
        let mut file = words.next()?.split(':');
        let mut device = || u64::from_str_radix(file.next()?, 16).ok();
        let device = (device()?, device()?);
        Some(Self { pid, device, inode: file.next()?.parse().ok()? })
    }
}

/// The device of a file, in the form of /proc. Some file systems show another device there than to `stat`.
fn device(file: &Metadata) -> (u64, u64) {
    let number = file.dev();
    (number >> 8 & 0xfff | number >> 32 & !0xfff, number & 0xff | number >> 12 & 0xff_ff00)
}

fn has_open(host: &Host, pid: u32, file: &Metadata) -> bool {
    let folder = format!("/proc/{pid}/fd");
    let open = host.names(&folder).into_iter().filter_map(|number| host.metadata(format!("{folder}/{number}")));
    open.into_iter().any(|open| (open.dev(), open.ino()) == (file.dev(), file.ino()))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Sharing, device, of_start, sharing_on};
    use crate::diagnosis::{Finding, arguments::Arguments, host::Process, tree::Tree};
    use std::{fs, os::unix::fs::MetadataExt, path::PathBuf};

    const CONFIG: &str = "/var/run/dpdk/mine/config";

    /// Process 7 runs the diagnosis. Process 19 holds the lock, on the device that `shown` returns.
    fn machine(holder: u32, shown: impl Fn((u64, u64)) -> (u64, u64)) -> Tree {
        let tree = Tree::new()
            .file("/proc/self/status", "Pid:\t7\nUid:\t0\t0\t0\t0\n")
            .file("/proc/7/comm", "diagnose\n")
            .file("/proc/19/comm", "l2fwd-rs\n")
            .file("/proc/20/comm", "sh\n")
            .file(CONFIG, "");
        let file = fs::metadata(tree.place(CONFIG)).unwrap();
        let (major, minor) = shown(device(&file));
        let locks = format!(
            "1: FLOCK  ADVISORY  WRITE 20 00:1:1 0 EOF\n\
             2: POSIX  ADVISORY  WRITE {holder} {major:02x}:{minor:02x}:{} 0 EOF\n",
            file.ino()
        );
        tree.file("/proc/locks", &locks)
    }

    fn found(tree: &Tree, line: &str) -> Option<Finding> {
        of_start(&Arguments::new(&line.split(' ').collect::<Vec<_>>()), &tree.host())
    }

    fn expected() -> Option<Finding> {
        let process = Process { pid: 19, name: "l2fwd-rs".to_owned() };
        Some(Finding::PrefixInUse { prefix: "mine".to_owned(), file: PathBuf::from(CONFIG), process })
    }

    #[test]
    fn holder_of_the_lock_is_named() {
        let machine = machine(19, |device| device);
        assert_eq!(found(&machine, "x --file-prefix=mine"), expected());
        for line in
            ["x", "x --file-prefix=mine --in-memory", "x --file-prefix=mine --no-shconf", "x --file-prefix=other"]
        {
            assert_eq!(found(&machine, line), None, "{line}");
        }
    }

    #[test]
    fn a_command_line_says_how_processes_share() {
        let machine = machine(19, |device| device);
        let sharing = |line: &str| sharing_on(&Arguments::new(&line.split(' ').collect::<Vec<_>>()), &machine.host());
        let plain =
            Sharing { prefix: "mine".to_owned(), config: PathBuf::from(CONFIG), process_type: None, hindrance: None };
        assert_eq!(sharing("x --file-prefix=mine -l 1"), plain);
        assert_eq!(sharing("x -l 1").config, PathBuf::from("/var/run/dpdk/rte/config"));
        assert_eq!(sharing("x --proc-type auto").process_type.as_deref(), Some("auto"));
        for option in ["no-huge", "no-shconf", "in-memory"] {
            assert_eq!(sharing(&format!("x --{option} -l 1")).hindrance, Some(option));
        }
    }

    #[test]
    fn own_lock_is_no_other_process() {
        assert_eq!(found(&machine(7, |device| device), "x --file-prefix=mine"), None);
    }

    #[test]
    fn file_decides_where_the_device_is_shown_differently() {
        let machine = machine(19, |(major, minor)| (major, minor + 1));
        assert_eq!(found(&machine, "x --file-prefix=mine"), None);
        let config = machine.place(CONFIG);
        let machine = machine.link("/proc/19/fd/5", config);
        assert_eq!(found(&machine, "x --file-prefix=mine"), expected());
    }
}
