// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The kernel's hugepages: their number, sizes, nodes, and mounts.

use super::host::Host;
use crate::SocketId;
use core::fmt;
use std::path::PathBuf;

/// The hugepages of one size on one NUMA node.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hugepages {
    /// The node; [`SocketId::ANY`] on a kernel that does not count by node.
    pub socket: SocketId,
    /// The size of a page in kB.
    pub size_kb: u64,
    /// The number of pages.
    pub total: u64,
    /// The number of unused pages.
    pub free: u64,
}

pub(super) const KERNEL: &str = "/sys/kernel/mm/hugepages";
const NODES: &str = "/sys/devices/system/node";

/// The kernel's folder for the hugepages of one node.
pub(super) fn node_folder(node: i32) -> String {
    format!("{NODES}/node{node}/hugepages")
}

/// The hugepages of each node and size.
pub(super) fn hugepages(host: &Host) -> Vec<Hugepages> {
    let mut found = Vec::new();
    for node in nodes(host) {
        found.extend(in_folder(host, &node_folder(node), SocketId::new(node)));
    }
    if found.is_empty() { in_folder(host, KERNEL, SocketId::ANY) } else { found }
}

/// The machine's NUMA nodes; empty if the kernel does not list them.
pub(super) fn nodes(host: &Host) -> Vec<i32> {
    let names = host.names(NODES).into_iter();
    let mut nodes: Vec<i32> = names.filter_map(|name| name.strip_prefix("node")?.parse().ok()).collect();
    nodes.sort_unstable();
    nodes
}

pub(super) fn in_folder(host: &Host, folder: &str, socket: SocketId) -> Vec<Hugepages> {
    let sizes = host.names(folder).into_iter();
    let mut pages: Vec<Hugepages> = sizes
        .filter_map(|name| {
            let size_kb = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
            let count = |file| host.number(format!("{folder}/{name}/{file}"));
            Some(Hugepages { socket, size_kb, total: count("nr_hugepages")?, free: count("free_hugepages")? })
        })
        .collect();
    pages.sort_by_key(|pages| pages.size_kb);
    pages
}

/// The pages of one size on the whole machine, as the EAL counts them.
pub(super) struct Pool {
    pub(super) size_kb: u64,
    pub(super) total: u64,
    /// Pages that are free and not reserved for any process, or that can be allocated beyond the reserved pages.
    pub(super) available: u64,
}

impl Pool {
    pub(super) fn all(host: &Host) -> Vec<Self> {
        let pool = |pages: Hugepages| {
            let count = |file| host.number(format!("{KERNEL}/hugepages-{}kB/{file}", pages.size_kb)).unwrap_or(0);
            let beyond = count("nr_overcommit_hugepages").saturating_sub(count("surplus_hugepages"));
            let available = pages.free.saturating_sub(count("resv_hugepages")) + beyond;
            Self { size_kb: pages.size_kb, total: pages.total, available }
        };
        in_folder(host, KERNEL, SocketId::ANY).into_iter().map(pool).collect()
    }

    pub(super) const fn available_mb(&self) -> u64 {
        self.available * self.size_kb / 1024
    }
}

/// A mounted hugetlbfs.
pub(super) struct Mount {
    pub(super) folder: PathBuf,
    pub(super) size_kb: u64,
    pub(super) read_only: bool,
}

/// The kernel's default page size in kB.
fn default_size_kb(host: &Host) -> Option<u64> {
    host.field("/proc/meminfo", "Hugepagesize").and_then(|size| size_kb(&size))
}

impl Mount {
    pub(super) fn all(host: &Host) -> Vec<Self> {
        let default = default_size_kb(host);
        let mounts = host.text("/proc/mounts").unwrap_or_default();
        mounts.lines().filter_map(|line| Self::parse(line, default)).collect()
    }

    fn parse(line: &str, default_kb: Option<u64>) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let [_, folder, "hugetlbfs", options, ..] = words[..] else { return None };
        let size = options.split(',').find_map(|option| option.strip_prefix("pagesize="));
        Some(Self {
            // The kernel encodes white space in octal.
            folder: PathBuf::from(folder.replace("\\040", " ").replace("\\011", "\t")),
            size_kb: size.map_or(default_kb, size_kb)?,
            read_only: options.split(',').any(|option| option == "ro"),
        })
    }
}

/// Parses `2M`, `1G`, `1024M` and `2048 kB`.
pub(super) fn size_kb(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let number: u64 = digits.parse().ok()?;
    Some(match text.get(digits.len()..)?.trim().chars().next() {
        Some('k' | 'K') => number,
        Some('M') => number << 10,
        Some('G') => number << 20,
        _ => number >> 10,
    })
}

/// A number of hugepages to reserve.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reservation {
    /// The file to write the number to.
    pub file: PathBuf,
    /// The size of a page in kB.
    pub size_kb: u64,
    /// The number of pages.
    pub pages: u64,
}

impl Reservation {
    /// A reservation of `missing_mb` more than in one of the kernel's folders, of the default size if the folder has
    /// it.
    pub(super) fn beyond(host: &Host, folder: &str, missing_mb: u64) -> Option<Self> {
        let pages = in_folder(host, folder, SocketId::ANY);
        let default = default_size_kb(host);
        let pages = pages.iter().find(|pages| Some(pages.size_kb) == default).or(pages.first())?;
        Some(Self {
            file: format!("{folder}/hugepages-{}kB/nr_hugepages", pages.size_kb).into(),
            size_kb: pages.size_kb,
            pages: pages.total + (missing_mb * 1024).div_ceil(pages.size_kb),
        })
    }
}

impl fmt::Display for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "echo {} > {}", self.pages, self.file.display())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Mount, Reservation, hugepages, size_kb};
    use crate::diagnosis::memory::tests::{MOUNTED, machine};
    use std::path::Path;

    #[test]
    fn sizes_are_read_in_every_spelling() {
        for (text, kb) in [("2M", 2048), ("2048 kB", 2048), ("1G", 1 << 20), ("1024M", 1 << 20), ("65536", 64)] {
            assert_eq!(size_kb(text), Some(kb), "{text}");
        }
        assert_eq!(size_kb("none"), None);
    }

    #[test]
    fn mounts_are_read() {
        let mount = Mount::parse("none /mnt/my\\040pages hugetlbfs rw,pagesize=1G 0 0", Some(2048)).unwrap();
        assert_eq!(
            (mount.folder.as_path(), mount.size_kb, mount.read_only),
            (Path::new("/mnt/my pages"), 1 << 20, false)
        );
        assert!(Mount::parse("proc /proc proc rw 0 0", Some(2048)).is_none());
    }

    #[test]
    fn pages_are_counted_by_node_and_size() {
        let counted: Vec<_> = hugepages(&machine(512, [64, 16], MOUNTED).host())
            .into_iter()
            .map(|pages| (pages.socket.get(), pages.size_kb, pages.total, pages.free))
            .collect();
        assert_eq!(counted, [(0, 2048, 512, 64), (0, 1_048_576, 0, 0), (1, 2048, 0, 16), (1, 1_048_576, 0, 0)]);
    }

    #[test]
    fn reservations_add_to_what_is_there() {
        let machine = machine(512, [64, 16], MOUNTED);
        let more = |folder: &str, mb| Reservation::beyond(&machine.host(), folder, mb).unwrap().to_string();
        let file = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
        assert_eq!(more("/sys/kernel/mm/hugepages", 3), format!("echo 514 > {file}"));
        let file = "/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages";
        assert_eq!(more("/sys/devices/system/node/node1/hugepages", 64), format!("echo 32 > {file}"));
    }
}
