// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What surrounds a target: the EAL, and a corpus.

use dpdk_rs::{Eal, EalOptions, Mempool, Packet, device::VirtualDevice};
use std::{
    env, fs,
    path::{Path, PathBuf},
    process,
};

/// The EAL of a target: without hugepages, PCI devices or root, and left alone until the process ends.
///
/// # Panics
/// If it does not start; a process has one.
pub fn eal(devices: &[VirtualDevice]) -> &'static Eal {
    let eal = start(devices.iter().cloned().fold(options().no_telemetry(), EalOptions::device));
    // A process may end in any way: nothing of it is to stay behind. Without a socket nobody looks into this folder.
    fs::remove_dir_all(runtime_folder()).expect("the folder is DPDK's own");
    eal
}

/// As [`eal`], without devices and with its telemetry socket.
pub(crate) fn eal_with_telemetry() -> &'static Eal {
    start(options())
}

/// Where DPDK has its files of this process, that socket among them: below a folder which depends on who runs it.
pub(crate) fn runtime_folder() -> PathBuf {
    let given = ["RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"].into_iter().filter_map(env::var_os).map(PathBuf::from);
    let roots = given.chain(["/var/run", "/tmp"].map(PathBuf::from));
    let mut folders = roots.map(|root| root.join("dpdk").join(prefix()));
    folders.find(|folder| folder.exists()).expect("DPDK has made a folder")
}

fn prefix() -> String {
    format!("fuzz-{}", process::id())
}

fn options() -> EalOptions {
    // The lcore floats over all processors: several fuzzers would otherwise share the first.
    let options = EalOptions::new().floating_lcores([0], cpus()).file_prefix(&prefix());
    options.no_huge().memory_mb(64).no_pci().no_shconf()
}

/// The processors that this process may use, which the kernel lists as `0-3,8`.
fn cpus() -> impl Iterator<Item = u32> {
    let status = fs::read_to_string("/proc/self/status").expect("Linux has this file");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("the file has this line");
    let number = |text: &str| text.parse::<u32>().expect("the list has numbers");
    let parts = list.trim().split(',').map(|part| part.split_once('-').unwrap_or((part, part)));
    parts.flat_map(move |(first, last)| number(first)..=number(last)).collect::<Vec<_>>().into_iter()
}

fn start(options: EalOptions) -> &'static Eal {
    let (eal, _) = Eal::init(options).expect("the EAL starts");
    Box::leak(Box::new(eal))
}

/// A packet with these segments.
///
/// # Panics
/// If the pool has too few mbufs, a segment is too long for one, or there is none.
#[must_use]
pub fn packet<'a>(pool: &Mempool, segments: impl Iterator<Item = &'a [u8]>) -> Packet {
    let packets = segments.map(|bytes| {
        let mut packet = pool.alloc().expect("the pool has mbufs for all segments");
        packet.append(bytes.len()).expect("a segment fits into an mbuf").copy_from_slice(bytes);
        packet
    });
    let chain = packets.reduce(|mut packet, tail| {
        assert!(packet.chain(tail).is_ok(), "the chain has room");
        packet
    });
    chain.expect("a frame has a segment")
}

/// Calls `target` with each file of the corpus of that name; `crate_folder` is that of the fuzz crate. The output of a test
/// that fails ends with the name of the file.
///
/// # Panics
/// If the corpus is not there, or has no file.
#[allow(clippy::print_stdout, reason = "shown if the test fails")]
pub fn replay(crate_folder: &str, corpus: &str, target: impl Fn(&[u8])) {
    let folder = Path::new(crate_folder).join("corpus").join(corpus);
    let files = fs::read_dir(&folder).expect("each target has a corpus");
    let mut files: Vec<_> = files.map(|file| file.expect("the folder can be read").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    for file in files {
        println!("{}", file.display());
        target(&fs::read(&file).expect("the file can be read"));
    }
}
