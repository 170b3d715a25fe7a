// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What can be found, and how it is told.

mod words;

use super::{drivers::DriverSource, host::Process, hugetlb::Reservation, numbers::ranges, pci::Use};
use crate::SocketId;
use std::path::PathBuf;
use words::{
    addresses, driver_remedy, iommu_off, list, not_bound, or_reserve, pairs, reserved, sizes, some, taken, too_few,
};

/// Something that keeps DPDK from starting, or a device from being a port, with the values that were seen.
///
/// It prints what is wrong, and the command or the step that remedies it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Finding {
    /// The library that runs is of another release than the headers that the program was built with.
    #[error(
        "the program was built with DPDK {built}, and {} is DPDK {running}: build the program again here, or run \
         it with the library of DPDK {built}: LD_LIBRARY_PATH=FOLDER",
        .library.as_ref().map_or("the library".to_owned(), |library| library.display().to_string())
    )]
    Version {
        /// Release of the headers.
        built: String,
        /// Version of the library.
        running: String,
        /// The library.
        library: Option<PathBuf>,
    },
    /// Two versions of DPDK are loaded.
    #[error(
        "two versions of DPDK are loaded, {} and {}, and the drivers of one are not known to the other: take the \
         plug-in that brings the second one out of -d, or build it for the first",
        .first.display(), .second.display()
    )]
    TwoVersions {
        /// One library.
        first: PathBuf,
        /// The other.
        second: PathBuf,
    },
    /// CPUs of `-l`, `-c` or `--lcores` do not exist, or are offline.
    #[error(
        "CPU {} is asked for, this machine has {}: give CPUs that are there, such as -l {}",
        ranges(.cpus), ranges(.online), ranges(.online)
    )]
    CpusMissing {
        /// Those that are missing.
        cpus: Vec<u32>,
        /// Those that are there.
        online: Vec<u32>,
    },
    /// Lcores have higher numbers than this DPDK was built for.
    #[error(
        "lcore {} is asked for, and {most} is the highest of this DPDK: give the CPU a lower number, as in \
         --lcores={instead}",
        ranges(.lcores)
    )]
    LcoresTooHigh {
        /// Those that are too high.
        lcores: Vec<u32>,
        /// The highest.
        most: u32,
        /// The same CPUs under lower numbers.
        instead: String,
    },
    /// CPUs that the process's control group does not have.
    #[error(
        "CPU {} is asked for, and the control group of this process has {} only: give one of these, or widen the \
         group (docker run --cpuset-cpus, AllowedCPUs= of systemd)",
        ranges(.cpus), ranges(.allowed)
    )]
    CpusNotAllowed {
        /// Those asked for in vain.
        cpus: Vec<u32>,
        /// Those of the group.
        allowed: Vec<u32>,
    },
    /// The EAL has fewer lcores than the program needs.
    #[error("{}", too_few(*.wanted, .lcores, .option.as_deref(), .usable))]
    TooFewLcores {
        /// How many the program needs.
        wanted: usize,
        /// Those that the EAL has.
        lcores: Vec<u32>,
        /// The option that chose them; without one, the process's affinity did.
        option: Option<String>,
        /// The CPUs that could be used.
        usable: Vec<u32>,
    },
    /// The folder for run-time files does not exist.
    #[error(
        "{} does not exist, and DPDK's run-time files belong there: make it, or set RUNTIME_DIRECTORY to another \
         folder",
        .folder.display()
    )]
    RuntimeFolderMissing {
        /// The folder.
        folder: PathBuf,
    },
    /// The user may not write where DPDK's run-time files are.
    #[error(
        "user {user} may not write to {}, where DPDK's run-time files belong: run as its owner, or set \
         RUNTIME_DIRECTORY to a folder of user {user}",
        .path.display()
    )]
    RuntimeFolderDenied {
        /// The folder or file.
        path: PathBuf,
        /// The user.
        user: u32,
    },
    /// A plug-in of `-d` is not there.
    #[error("{} does not exist: give -d a driver's library, or a folder of them", .plugin.display())]
    PluginMissing {
        /// As it was given.
        plugin: PathBuf,
    },
    /// Plug-ins lie where everybody may put one.
    #[error(
        "everybody may write to {}, so DPDK loads nothing from {}: move that elsewhere, or chmod o-w {}",
        .folder.display(), .plugin.display(), .folder.display()
    )]
    PluginFolderOpen {
        /// The plug-in or folder of plug-ins.
        plugin: PathBuf,
        /// The folder above it, or itself, that everybody may write to.
        folder: PathBuf,
    },
    /// There is no driver for a virtual device.
    #[error("there is no driver for device {device} in {}", driver_remedy(.searched))]
    DriverMissing {
        /// The device.
        device: String,
        /// Where drivers were looked for.
        searched: DriverSource,
    },
    /// A device of `-a` is neither an address nor a device that a driver knows.
    #[error(
        "-a {name} is not the address of a device: give one such as 0000:01:00.0, as dpdk-devbind.py --status-dev \
         net lists them"
    )]
    DeviceNameUnknown {
        /// As it was given.
        name: String,
    },
    /// Another process runs under the same prefix.
    #[error(
        "process {} ({}) runs under the file prefix '{prefix}' and holds {}: give this one another, as in \
         --file-prefix={prefix}2, or end that one",
        .process.pid, .process.name, .file.display()
    )]
    PrefixInUse {
        /// The prefix.
        prefix: String,
        /// The file that it has locked.
        file: PathBuf,
        /// The process.
        process: Process,
    },
    /// No hugepages are reserved.
    #[error(
        "no hugepages are reserved{}: reserve some, as in sysctl -w vm.nr_hugepages=512, or do without: --no-huge \
         -m 512",
        sizes(.sizes_kb)
    )]
    NoHugepages {
        /// The sizes that the kernel has.
        sizes_kb: Vec<u64>,
    },
    /// Hugepages are reserved, and no hugetlbfs of their size is mounted.
    #[error(
        "{}, but no hugetlbfs for that size is mounted: mkdir -p /dev/hugepages && mount -t hugetlbfs -o \
         pagesize={}K hugetlbfs /dev/hugepages, or give --in-memory",
        reserved(.pages), .pages.first().map_or(2048, |(size_kb, _)| *size_kb)
    )]
    HugetlbfsNotMounted {
        /// The size of a page in kB, and how many there are.
        pages: Vec<(u64, u64)>,
    },
    /// The folder of `--huge-dir` is not on a mounted hugetlbfs.
    #[error(
        "{} is not on a mounted hugetlbfs: mount one there (mount -t hugetlbfs hugetlbfs {}), or leave --huge-dir \
         out",
        .folder.display(), .folder.display()
    )]
    HugeDirNotMounted {
        /// As it was given.
        folder: PathBuf,
    },
    /// The hugetlbfs is mounted read-only.
    #[error(
        "the hugetlbfs on {} is mounted read-only: mount -o remount,rw {}, or give --in-memory",
        .folder.display(), .folder.display()
    )]
    HugetlbfsReadOnly {
        /// Where.
        folder: PathBuf,
    },
    /// The user may not make files in the hugetlbfs.
    #[error(
        "user {user} may not write to {}, where hugepages come from: as root run chown {user} {}, or give \
         --in-memory",
        .folder.display(), .folder.display()
    )]
    HugetlbfsDenied {
        /// The folder.
        folder: PathBuf,
        /// The user.
        user: u32,
    },
    /// All hugepages are in use.
    #[error(
        "none of the {total_mb} MB of hugepages is free: {}. End who has them{}",
        taken(*.own_mb, .holders), or_reserve(.more.as_ref())
    )]
    HugepagesTaken {
        /// How much memory they are in all.
        total_mb: u64,
        /// How much of it this process has.
        own_mb: u64,
        /// Who has how much, in MB: the largest first. Hugepages of nobody belong to files in a hugetlbfs.
        holders: Vec<(u64, Process)>,
        /// What would be enough.
        more: Option<Reservation>,
    },
    /// There is less memory in free hugepages than is needed.
    #[error(
        "{asked_mb} MB of hugepages are needed, {free_mb} MB are free: ask for less{}", or_reserve(.more.as_ref())
    )]
    MemoryTooSmall {
        /// What is needed.
        asked_mb: u64,
        /// What is free.
        free_mb: u64,
        /// What would be enough.
        more: Option<Reservation>,
    },
    /// The EAL has too little memory without hugepages.
    #[error(
        "about {asked_mb} MB are needed, and without hugepages there are the {given_mb} MB of -m, for everything: \
         give more, as in -m {}",
        (given_mb + asked_mb).next_power_of_two()
    )]
    NoHugeMemoryTooSmall {
        /// What is needed.
        asked_mb: u64,
        /// What the EAL was given.
        given_mb: u64,
    },
    /// A socket has less free memory than is needed there.
    #[error(
        "{asked_mb} MB are needed on socket {socket}, {free_mb} MB of hugepages are free there: use another socket{}",
        or_reserve(.more.as_ref())
    )]
    NoMemoryOnSocket {
        /// The socket.
        socket: SocketId,
        /// What is needed.
        asked_mb: u64,
        /// What is free.
        free_mb: u64,
        /// What would be enough.
        more: Option<Reservation>,
    },
    /// There is no such socket.
    #[error("memory is wanted on socket {socket}, this machine has {}: ask for it on one of these", list(.sockets))]
    NoSuchSocket {
        /// The socket asked for.
        socket: SocketId,
        /// Those of the machine.
        sockets: Vec<SocketId>,
    },
    /// A pool has no driver to keep its mbufs.
    #[error(
        "{} lacks librte_mempool_ring.so, without which there are no pools: install it (Debian: apt-get install \
         librte-meta-mempool)",
        .folder.display()
    )]
    PoolDriverMissing {
        /// DPDK's plug-in folder.
        folder: PathBuf,
    },
    /// A virtual device was given a key that its driver does not list.
    #[error("device {device}: its driver lists no key '{key}', but: {known}")]
    DeviceKeyUnknown {
        /// The device.
        device: String,
        /// The key.
        key: String,
        /// The driver's keys, in its own words.
        known: String,
    },
    /// A file that a virtual device needs is not there.
    #[error("device {device}: there is no file {} for {key}: give the path of one that exists", .file.display())]
    DeviceFileMissing {
        /// The device.
        device: String,
        /// The key.
        key: String,
        /// The file.
        file: PathBuf,
    },
    /// An interface that a virtual device needs is not there.
    #[error("device {device}: there is no network interface {interface}: give one of {}", .interfaces.join(", "))]
    InterfaceMissing {
        /// The device.
        device: String,
        /// The interface asked for.
        interface: String,
        /// Those of the machine.
        interfaces: Vec<String>,
    },
    /// A virtual device is not among the ports, and what was looked at does not say why.
    #[error(
        "device {device} was given, and is not among the ports: its driver refused it, and says why in the log \
         above"
    )]
    DeviceRefused {
        /// The device.
        device: String,
    },
    /// `--no-pci` hides the NICs.
    #[error(
        "--no-pci is given, so DPDK looks at no NIC ({}): leave it out, or give a virtual device, as in \
         --vdev=net_null0",
        some(.nics)
    )]
    PciOff {
        /// The machine's NICs.
        nics: Vec<String>,
    },
    /// The machine has no NIC, and no virtual device was given.
    #[error("this machine has no PCI NIC: give a virtual device, as in --vdev=net_null0")]
    NoNic,
    /// A device of `-a` does not exist.
    #[error("there is no device {address}: give a NIC of this machine ({})", some(.nics))]
    NicMissing {
        /// The address.
        address: String,
        /// The machine's NICs.
        nics: Vec<String>,
    },
    /// No driver takes a NIC.
    #[error("there is no driver for NIC {address} ({id}) in {}", driver_remedy(.searched))]
    NicDriverMissing {
        /// The NIC.
        address: String,
        /// Its vendor and device.
        id: String,
        /// Where drivers were looked for.
        searched: DriverSource,
    },
    /// A NIC belongs to the kernel, or to nobody.
    #[error("{}", not_bound(.address, .bound.as_deref(), .interfaces, *.used, .wanted))]
    NicNotBound {
        /// The NIC.
        address: String,
        /// The driver of the kernel that has it.
        bound: Option<String>,
        /// Its network interfaces.
        interfaces: Vec<String>,
        /// What the kernel does with it.
        used: Use,
        /// The driver of the kernel that it should be bound to.
        wanted: String,
    },
    /// A NIC is bound to a driver of the kernel that DPDK's cannot use.
    #[error(
        "NIC {address} is bound to {bound}, which {driver} cannot use: modprobe {wanted} && dpdk-devbind.py \
         --bind={wanted} {address}"
    )]
    NicBoundWrong {
        /// The NIC.
        address: String,
        /// What it is bound to.
        bound: String,
        /// DPDK's driver for it.
        driver: String,
        /// The driver of the kernel that it should be bound to.
        wanted: String,
    },
    /// The kernel has no IOMMU in use, so vfio-pci takes no device.
    #[error("{}", iommu_off(*.table, .parameter.as_deref(), .without.as_deref()))]
    IommuOff {
        /// The firmware's table that describes one, if it has it.
        table: Option<&'static str>,
        /// What turns it off on the kernel's command line.
        parameter: Option<String>,
        /// How to go without one, if this kernel can.
        without: Option<String>,
    },
    /// VFIO lacks its part for the IOMMU.
    #[error("vfio-pci is loaded, and vfio_iommu_type1 is not, so VFIO cannot use the IOMMU: modprobe vfio_iommu_type1")]
    VfioTypeMissing,
    /// The IOMMU does not remap interrupts, so VFIO hands out no device.
    #[error(
        "the IOMMU does not remap interrupts, so VFIO hands out no device: turn interrupt remapping (x2APIC) on in \
         the firmware and take intremap=off off the kernel's command line, or accept that a NIC can forge \
         interrupts: echo 1 > /sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts"
    )]
    NoInterruptRemapping,
    /// A NIC shares its IOMMU group with devices that the kernel uses.
    #[error(
        "NIC {address} shares IOMMU group {group} with {}: bind these to vfio-pci too (dpdk-devbind.py \
         --bind=vfio-pci {}), or put the NIC into another slot",
        pairs(.others), addresses(.others)
    )]
    GroupShared {
        /// The NIC.
        address: String,
        /// The group.
        group: String,
        /// The others, and the drivers of the kernel that they are bound to.
        others: Vec<(String, String)>,
    },
    /// Another process uses a NIC.
    #[error(
        "NIC {address} is in use by process {} ({}), which has /dev/vfio/{group} open: end it, or use another NIC",
        .process.pid, .process.name
    )]
    GroupTaken {
        /// The NIC.
        address: String,
        /// Its IOMMU group.
        group: String,
        /// The process.
        process: Process,
    },
    /// A file of VFIO is not there, as in a container.
    #[error(
        "{} does not exist, though vfio-pci has the NIC: give it to the container (docker run --device=/dev/vfio)",
        .file.display()
    )]
    VfioFileMissing {
        /// The file.
        file: PathBuf,
    },
    /// The user may not open a file of VFIO.
    #[error("user {user} may not open {}: as root run chown {user} {}", .file.display(), .file.display())]
    VfioFileDenied {
        /// The file.
        file: PathBuf,
        /// The user.
        user: u32,
    },
    /// The user may lock little memory.
    #[error(
        "user {user} may lock {limit_kb} kB, and VFIO locks all memory that the NIC may write to: ulimit -l \
         unlimited (memlock in /etc/security/limits.conf)"
    )]
    LockedMemoryLimited {
        /// The limit.
        limit_kb: u64,
        /// The user.
        user: u32,
    },
}
