// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Memory for the EAL and for pools: whether there is enough, where it was requested, and accessible to this user.

use super::{
    Finding, Process,
    arguments::Arguments,
    host::{Access, Host},
    hugetlb::{self, Mount, Pool, Reservation, size_kb},
};
use crate::SocketId;
use core::{cmp::Reverse, fmt::Display};
use dpdk_sys as sys;
use std::path::{Path, PathBuf};

/// What prevents the EAL from allocating its memory.
pub(super) fn of_start(args: &Arguments, host: &Host) -> Vec<Finding> {
    if !args.uses_hugepages() {
        return Vec::new();
    }
    let pools = Pool::all(host);
    if pools.iter().all(|pool| pool.total == 0 && pool.available == 0) {
        return vec![Finding::NoHugepages { sizes_kb: pools.iter().map(|pool| pool.size_kb).collect() }];
    }
    let mut usable: Vec<&Pool> = pools.iter().filter(|pool| pool.total > 0 || pool.available > 0).collect();
    let mut findings = Vec::new();
    if !args.has("in-memory") {
        let mounts = Mount::all(host);
        if let Some(folder) = args.last("huge-dir") {
            let fits = |mount: &&Mount| Path::new(folder).starts_with(&mount.folder);
            // Of nested mounts, the innermost.
            let Some(mount) = mounts.iter().filter(fits).max_by_key(|mount| mount.folder.as_os_str().len()) else {
                return vec![Finding::HugeDirNotMounted { folder: PathBuf::from(folder) }];
            };
            usable.retain(|pool| pool.size_kb == mount.size_kb);
            findings.extend(refused(host, mount, Path::new(folder)));
        } else {
            let first = |pool: &Pool| mounts.iter().find(|mount| mount.size_kb == pool.size_kb);
            if usable.iter().all(|pool| first(pool).is_none()) {
                let pages = usable.iter().map(|pool| (pool.size_kb, pool.total)).collect();
                return vec![Finding::HugetlbfsNotMounted { pages }];
            }
            usable.retain(|pool| first(pool).is_some());
            findings.extend(
                usable.iter().filter_map(|pool| first(pool)).find_map(|mount| refused(host, mount, &mount.folder)),
            );
        }
    }
    if usable.iter().all(|pool| pool.available == 0) {
        let held = |process: Process| Some((hugetlb_mb(host, process.pid).filter(|mb| *mb > 0)?, process));
        let mut holders: Vec<_> = host.other_processes().into_iter().filter_map(held).collect();
        holders.sort_by_key(|(mb, _)| Reverse(*mb));
        let total_mb = usable.iter().map(|pool| pool.total * pool.size_kb / 1024).sum();
        let own_mb = hugetlb_mb(host, "self").unwrap_or(0);
        let by_socket: u64 = args.socket_memory_mb().iter().sum();
        let asked_mb = args.memory_mb().unwrap_or(by_socket).max(LEAST_MB);
        let more = Reservation::beyond(host, hugetlb::KERNEL, asked_mb);
        findings.push(Finding::HugepagesTaken { total_mb, own_mb, holders, more });
        return findings;
    }
    let sizes: Vec<u64> = usable.iter().map(|pool| pool.size_kb).collect();
    let by_socket = args.socket_memory_mb();
    findings.extend(
        by_socket
            .iter()
            .zip(0..)
            .filter(|(asked, _)| **asked > 0)
            .filter_map(|(asked_mb, socket)| on_socket(host, &sizes, SocketId::new(socket), *asked_mb)),
    );
    let free_mb = usable.iter().map(|pool| pool.available_mb()).sum();
    if let Some(asked_mb) = args.memory_mb().filter(|asked_mb| *asked_mb > free_mb) {
        findings.push(too_small(host, asked_mb, free_mb));
    }
    findings
}

fn too_small(host: &Host, asked_mb: u64, free_mb: u64) -> Finding {
    let more = Reservation::beyond(host, hugetlb::KERNEL, asked_mb.saturating_sub(free_mb));
    Finding::MemoryTooSmall { asked_mb, free_mb, more }
}

/// Why no files can be created in a folder of a hugetlbfs.
fn refused(host: &Host, mount: &Mount, folder: &Path) -> Option<Finding> {
    if mount.read_only {
        return Some(Finding::HugetlbfsReadOnly { folder: mount.folder.clone() });
    }
    let metadata = host.metadata(folder)?;
    let user = host.user();
    let denied = !user.may(Access::ENTER_AND_WRITE, &metadata);
    denied.then(|| Finding::HugetlbfsDenied { folder: folder.to_owned(), user: user.id })
}

/// The size of the hugepages that a process has mapped, in MB.
fn hugetlb_mb(host: &Host, pid: impl Display) -> Option<u64> {
    let pages = host.field(format!("/proc/{pid}/status"), "HugetlbPages")?;
    size_kb(&pages).map(|kb| kb / 1024)
}

/// Whether a socket has less memory than is requested there.
fn on_socket(host: &Host, sizes_kb: &[u64], socket: SocketId, asked_mb: u64) -> Option<Finding> {
    let nodes = hugetlb::nodes(host);
    if nodes.is_empty() {
        return None;
    }
    if !nodes.contains(&socket.get()) {
        return Some(Finding::NoSuchSocket { socket, sockets: nodes.into_iter().map(SocketId::new).collect() });
    }
    let folder = hugetlb::node_folder(socket.get());
    let pages = hugetlb::in_folder(host, &folder, socket);
    let usable = pages.iter().filter(|pages| sizes_kb.contains(&pages.size_kb));
    let free_mb = usable.map(|pages| pages.free * pages.size_kb / 1024).sum();
    let missing_mb = asked_mb.checked_sub(free_mb).filter(|missing| *missing > 0)?;
    let more = Reservation::beyond(host, &folder, missing_mb);
    Some(Finding::NoMemoryOnSocket { socket, asked_mb, free_mb, more })
}

/// Why there was no memory for a pool of `size` mbufs.
pub(super) fn of_pool(args: &Arguments, host: &Host, size: u32, socket: SocketId) -> Option<Finding> {
    let asked_mb = (u64::from(size) * MBUF_BYTES).div_ceil(1 << 20);
    if !args.uses_hugepages() {
        let given_mb = args.memory_mb().unwrap_or(DEFAULT_MB_WITHOUT_HUGEPAGES);
        return Some(Finding::NoHugeMemoryTooSmall { asked_mb, given_mb });
    }
    let sizes: Vec<u64> = Pool::all(host).iter().map(|pool| pool.size_kb).collect();
    if socket != SocketId::ANY {
        return on_socket(host, &sizes, socket, asked_mb);
    }
    let free_mb = Pool::all(host).iter().map(Pool::available_mb).sum();
    (free_mb < asked_mb).then(|| too_small(host, asked_mb, free_mb))
}

/// The size of an mbuf with its header in the pool and the default data room.
const MBUF_BYTES: u64 = 64 + sys::DPDK_SYS_MBUF_SIZE as u64 + sys::RTE_MBUF_DEFAULT_BUF_SIZE as u64;

/// How much to reserve when the requested amount is unknown: enough for most programs.
const LEAST_MB: u64 = 512;

/// The EAL's memory without hugepages and without `-m` (`MEMSIZE_IF_NO_HUGE_PAGE`).
const DEFAULT_MB_WITHOUT_HUGEPAGES: u64 = 64;

#[cfg(test)]
pub(super) mod tests {
    use super::{Finding, Process, of_pool, of_start};
    use crate::{
        SocketId,
        diagnosis::{arguments::Arguments, hugetlb::Reservation, tree::Tree},
    };
    use std::path::PathBuf;

    pub(in crate::diagnosis) const MOUNTED: &str = "hugetlbfs /dev/hugepages hugetlbfs rw,relatime,pagesize=2M 0 0\n";

    /// A machine with two nodes and pages of 2 MB and 1 GB: `total` pages of 2 MB, of which `free` are free on each
    /// node.
    pub(in crate::diagnosis) fn machine(total: u64, free: [u64; 2], mounts: &str) -> Tree {
        let mut tree = Tree::new()
            .file("/proc/meminfo", "MemTotal: 9 kB\nHugepagesize:       2048 kB\n")
            .file("/proc/mounts", &format!("proc /proc proc rw 0 0\n{mounts}"))
            .file("/proc/self/status", "Pid:\t7\nUid:\t0\t0\t0\t0\nCapEff:\t3fffffffff\nHugetlbPages:\t       0 kB\n")
            .folder("/dev/hugepages");
        let small = format!("{total}\n");
        let pools = [("/sys/kernel/mm/hugepages", small.as_str(), free[0] + free[1])];
        let nodes = [
            ("/sys/devices/system/node/node0/hugepages", small.as_str(), free[0]),
            ("/sys/devices/system/node/node1/hugepages", "0\n", free[1]),
        ];
        for (folder, total, free) in pools.into_iter().chain(nodes) {
            tree = tree
                .file(&format!("{folder}/hugepages-2048kB/nr_hugepages"), total)
                .file(&format!("{folder}/hugepages-2048kB/free_hugepages"), &format!("{free}\n"))
                .file(&format!("{folder}/hugepages-1048576kB/nr_hugepages"), "0\n")
                .file(&format!("{folder}/hugepages-1048576kB/free_hugepages"), "0\n");
        }
        tree
    }

    const POOLS: &str = "/sys/kernel/mm/hugepages";

    fn more(folder: &str, pages: u64) -> Option<Reservation> {
        Some(Reservation { file: format!("{folder}/hugepages-2048kB/nr_hugepages").into(), size_kb: 2048, pages })
    }

    fn on_socket(socket: i32, asked_mb: u64, free_mb: u64, pages: u64) -> Finding {
        let more = more(&format!("/sys/devices/system/node/node{socket}/hugepages"), pages);
        Finding::NoMemoryOnSocket { socket: SocketId::new(socket), asked_mb, free_mb, more }
    }

    fn arguments(line: &str) -> Arguments {
        Arguments::new(&line.split(' ').collect::<Vec<_>>())
    }

    fn found(tree: &Tree, line: &str) -> Vec<Finding> {
        of_start(&arguments(line), &tree.host())
    }

    #[test]
    fn enough_hugepages_are_no_finding() {
        let machine = machine(512, [256, 256], MOUNTED);
        for line in ["x", "x -m 1024", "x --socket-mem=512,512", "x --in-memory", "x --huge-dir=/dev/hugepages"] {
            assert_eq!(found(&machine, line), [], "{line}");
        }
    }

    #[test]
    fn no_hugepages_are_one_finding() {
        let machine = machine(0, [0, 0], "");
        for line in ["x", "x --in-memory", "x -m 64"] {
            assert_eq!(found(&machine, line), [Finding::NoHugepages { sizes_kb: vec![2048, 1_048_576] }], "{line}");
        }
        assert_eq!(found(&machine, "x --no-huge"), []);
        let beyond = machine.file("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_overcommit_hugepages", "64\n");
        assert_eq!(found(&beyond, "x --in-memory"), [], "the kernel makes them when they are asked for");
    }

    #[test]
    fn pages_need_a_mounted_file_system_of_their_size() {
        let expected = [Finding::HugetlbfsNotMounted { pages: vec![(2048, 512)] }];
        for mounts in ["", "none /mnt/huge hugetlbfs rw,pagesize=1024M 0 0\n"] {
            let machine = machine(512, [256, 256], mounts);
            assert_eq!(found(&machine, "x"), expected);
            assert_eq!(found(&machine, "x --in-memory"), []);
        }
        let machine = machine(512, [256, 256], "none /dev/hugepages hugetlbfs rw 0 0\n");
        assert_eq!(found(&machine, "x"), [], "without a size it is the default one");
    }

    #[test]
    fn folder_of_the_option_must_be_on_such_a_mount() {
        let machine = machine(512, [256, 256], MOUNTED).folder("/dev/hugepages/sub");
        assert_eq!(found(&machine, "x --huge-dir=/dev/hugepages/sub"), []);
        for folder in ["/mnt/huge", "/dev/hugepages2"] {
            let expected = [Finding::HugeDirNotMounted { folder: PathBuf::from(folder) }];
            assert_eq!(found(&machine, &format!("x --huge-dir {folder}")), expected);
        }
    }

    #[test]
    fn who_may_not_write_there_is_reported() {
        let status = "Pid:\t7\nUid:\t4000000\t4000000\t4000000\t4000000\nCapEff:\t0\n";
        let machine = machine(512, [256, 256], MOUNTED).file("/proc/self/status", status).mode("/dev/hugepages", 0o755);
        let expected = [Finding::HugetlbfsDenied { folder: PathBuf::from("/dev/hugepages"), user: 4_000_000 }];
        assert_eq!(found(&machine, "x"), expected);
        assert_eq!(found(&machine, "x --in-memory"), []);
        assert_eq!(found(&machine.mode("/dev/hugepages", 0o777), "x"), []);
    }

    #[test]
    fn read_only_mount_is_reported() {
        let machine = machine(512, [256, 256], "x /dev/hugepages hugetlbfs ro,pagesize=2M 0 0\n");
        assert_eq!(found(&machine, "x"), [Finding::HugetlbfsReadOnly { folder: PathBuf::from("/dev/hugepages") }]);
    }

    #[test]
    fn holders_of_taken_pages_are_named() {
        let machine = machine(512, [0, 0], MOUNTED)
            .file("/proc/19/comm", "qemu\n")
            .file("/proc/19/status", "HugetlbPages:\t  262144 kB\n")
            .file("/proc/20/comm", "l2fwd-rs\n")
            .file("/proc/20/status", "HugetlbPages:\t  786432 kB\n")
            .file("/proc/21/status", "HugetlbPages:\t  0 kB\n");
        let process = |pid, name: &str| Process { pid, name: name.to_owned() };
        let holders = vec![(768, process(20, "l2fwd-rs")), (256, process(19, "qemu"))];
        let more = more(POOLS, 512 + 256);
        assert_eq!(found(&machine, "x"), [Finding::HugepagesTaken { total_mb: 1024, own_mb: 0, holders, more }]);
    }

    #[test]
    fn memory_asked_for_is_compared_with_what_is_free() {
        let machine = machine(512, [64, 16], MOUNTED);
        let little = Finding::MemoryTooSmall { asked_mb: 161, free_mb: 160, more: more(POOLS, 513) };
        assert_eq!(found(&machine, "x -m 161"), [little]);
        assert_eq!(found(&machine, "x -m 160"), []);
        assert_eq!(found(&machine, "x --socket-mem=128,32"), []);
        assert_eq!(found(&machine, "x --socket-mem=130,33"), [on_socket(0, 130, 128, 513), on_socket(1, 33, 32, 1)]);
        let sockets = vec![SocketId::new(0), SocketId::new(1)];
        assert_eq!(
            found(&machine, "x --numa-mem=0,0,8"),
            [Finding::NoSuchSocket { socket: SocketId::new(2), sockets }]
        );
    }

    #[test]
    fn pools_are_compared_with_what_is_free() {
        let machine = machine(512, [16, 8], MOUNTED);
        let found = |line: &str, size, socket| of_pool(&arguments(line), &machine.host(), size, SocketId::new(socket));
        assert_eq!(found("x", 8191, 0), None);
        assert_eq!(found("x", 8191, 1), Some(on_socket(1, 19, 16, 2)));
        let little = Finding::MemoryTooSmall { asked_mb: 148, free_mb: 48, more: more(POOLS, 562) };
        assert_eq!(found("x", 65_535, -1), Some(little));
        let without = Finding::NoHugeMemoryTooSmall { asked_mb: 148, given_mb: 64 };
        assert_eq!(found("x --no-huge", 65_535, 0), Some(without));
    }
}
