// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the diagnosis can find, and its messages.

use super::words::{
    addresses, driver_remedy, iommu_off, list, not_bound, or_reserve, pairs, reserved, sizes, some, taken, too_few,
};
use super::{drivers::DriverSource, host::Process, hugetlb::Reservation, nic::Use, numbers::ranges};
use crate::SocketId;
use std::path::PathBuf;

/// A reason why DPDK does not start, or why a device is not a port, with the observed values.
///
/// Its message says what is wrong, and which command or step fixes it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Finding {
    /// The running library has another release than the headers with which the program was built.
    #[error(
        "the program was built with DPDK {built}, and {} is DPDK {running}: build the program again here, or run \
         it with the library of DPDK {built}: LD_LIBRARY_PATH=FOLDER",
        .library.as_ref().map_or("the library".to_owned(), |library| library.display().to_string())
    )]
    Version {
        /// The release of the headers.
        built: String,
        /// The version of the library.
        running: String,
        /// The path of the library.
        library: Option<PathBuf>,
    },
    /// Two versions of DPDK are loaded.
    #[error(
        "two versions of DPDK are loaded, {} and {}, and the drivers of one are not known to the other: remove \
         the plug-in that loads the second one from -d, or build it for the first",
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
        "CPU {} is requested, this machine has {}: give CPUs that exist, such as -l {}",
        ranges(.cpus), ranges(.online), ranges(.online)
    )]
    CpusMissing {
        /// The missing CPUs.
        cpus: Vec<u32>,
        /// The existing CPUs.
        online: Vec<u32>,
    },
    /// Lcores have higher numbers than this build of DPDK allows.
    #[error(
        "lcore {} is requested, and {most} is the highest of this DPDK: give the CPU a lower number, as in \
         --lcores={instead}",
        ranges(.lcores)
    )]
    LcoresTooHigh {
        /// The numbers that are too high.
        lcores: Vec<u32>,
        /// The highest allowed number.
        most: u32,
        /// The same CPUs with lower lcore numbers.
        instead: String,
    },
    /// CPUs are not in the process's control group.
    #[error(
        "CPU {} is requested, but the control group of this process has only {}: give one of these, or widen the \
         group (docker run --cpuset-cpus, AllowedCPUs= of systemd)",
        ranges(.cpus), ranges(.allowed)
    )]
    CpusNotAllowed {
        /// The requested CPUs that are not in the group.
        cpus: Vec<u32>,
        /// The CPUs of the group.
        allowed: Vec<u32>,
    },
    /// The EAL has fewer lcores than the program needs.
    #[error("{}", too_few(*.wanted, .lcores, .option.as_deref(), .usable))]
    TooFewLcores {
        /// How many lcores the program needs.
        wanted: usize,
        /// The EAL's lcores.
        lcores: Vec<u32>,
        /// The option that chose them. Without one, the process's affinity did.
        option: Option<String>,
        /// The usable CPUs.
        usable: Vec<u32>,
    },
    /// The folder for run-time files does not exist.
    #[error(
        "{} does not exist, but DPDK creates its run-time files there: create it, or set RUNTIME_DIRECTORY to another \
         folder",
        .folder.display()
    )]
    RuntimeFolderMissing {
        /// The folder.
        folder: PathBuf,
    },
    /// The user may not write to DPDK's run-time files.
    #[error(
        "user {user} may not write to {}, where DPDK creates its run-time files: run as its owner, or set \
         RUNTIME_DIRECTORY to a folder of user {user}",
        .path.display()
    )]
    RuntimeFolderDenied {
        /// The folder or file.
        path: PathBuf,
        /// The user.
        user: u32,
    },
    /// A plug-in of `-d` does not exist.
    #[error("{} does not exist: give -d a driver's library, or a folder of them", .plugin.display())]
    PluginMissing {
        /// The path that was given.
        plugin: PathBuf,
    },
    /// Plug-ins are in a folder to which everybody may write.
    #[error(
        "everybody may write to {}, so DPDK loads nothing from {}: move that elsewhere, or chmod o-w {}",
        .folder.display(), .plugin.display(), .folder.display()
    )]
    PluginFolderOpen {
        /// The plug-in or the folder of plug-ins.
        plugin: PathBuf,
        /// The folder to which everybody may write: this one or one above it.
        folder: PathBuf,
    },
    /// No driver exists for a virtual device.
    #[error("there is no driver for device {device} in {}", driver_remedy(.searched))]
    DriverMissing {
        /// The device.
        device: String,
        /// Where drivers were searched for.
        searched: DriverSource,
    },
    /// A device of `-a` is neither an address nor a device that a driver knows.
    #[error(
        "-a {name} is not the address of a device: give one such as 0000:01:00.0, as dpdk-devbind.py --status-dev \
         net lists them"
    )]
    DeviceNameUnknown {
        /// The name that was given.
        name: String,
    },
    /// Another process is running with the same prefix.
    #[error(
        "process {} ({}) runs under the file prefix '{prefix}' and holds {}: choose another prefix, such as \
         --file-prefix={prefix}2, or end that process",
        .process.pid, .process.name, .file.display()
    )]
    PrefixInUse {
        /// The prefix.
        prefix: String,
        /// The file that the process has locked.
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
        /// The page sizes that the kernel supports, in kB.
        sizes_kb: Vec<u64>,
    },
    /// Hugepages are reserved, but no hugetlbfs of their size is mounted.
    #[error(
        "{}, but no hugetlbfs for that size is mounted: mkdir -p /dev/hugepages && mount -t hugetlbfs -o \
         pagesize={}K hugetlbfs /dev/hugepages, or give --in-memory",
        reserved(.pages), .pages.first().map_or(2048, |(size_kb, _)| *size_kb)
    )]
    HugetlbfsNotMounted {
        /// The size of a page in kB, and the number of pages.
        pages: Vec<(u64, u64)>,
    },
    /// The folder of `--huge-dir` is not on a mounted hugetlbfs.
    #[error(
        "{} is not on a mounted hugetlbfs: mount one there (mount -t hugetlbfs hugetlbfs {}), or leave --huge-dir \
         out",
        .folder.display(), .folder.display()
    )]
    HugeDirNotMounted {
        /// The path that was given.
        folder: PathBuf,
    },
    /// The hugetlbfs is mounted read-only.
    #[error(
        "the hugetlbfs on {} is mounted read-only: mount -o remount,rw {}, or give --in-memory",
        .folder.display(), .folder.display()
    )]
    HugetlbfsReadOnly {
        /// The folder.
        folder: PathBuf,
    },
    /// The user may not create files in the hugetlbfs.
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
        "none of the {total_mb} MB of hugepages is free: {}. End the processes that have them{}",
        taken(*.own_mb, .holders), or_reserve(.more.as_ref())
    )]
    HugepagesTaken {
        /// The total size of the hugepages in MB.
        total_mb: u64,
        /// How much of it this process has, in MB.
        own_mb: u64,
        /// The processes that use hugepages, with their shares in MB, largest first. The remaining hugepages belong to
        /// files in a hugetlbfs.
        holders: Vec<(u64, Process)>,
        /// The number of pages that would be enough.
        more: Option<Reservation>,
    },
    /// The free hugepages are smaller than the required memory.
    #[error(
        "{asked_mb} MB of hugepages are needed, {free_mb} MB are free: request less{}", or_reserve(.more.as_ref())
    )]
    MemoryTooSmall {
        /// The required memory in MB.
        asked_mb: u64,
        /// The free memory in MB.
        free_mb: u64,
        /// The number of pages that would be enough.
        more: Option<Reservation>,
    },
    /// Without hugepages, the EAL has too little memory.
    #[error(
        "about {asked_mb} MB are needed, and without hugepages there are the {given_mb} MB of -m, for everything: \
         give more, as in -m {}",
        (given_mb + asked_mb).next_power_of_two()
    )]
    NoHugeMemoryTooSmall {
        /// The required memory in MB.
        asked_mb: u64,
        /// The EAL's memory in MB.
        given_mb: u64,
    },
    /// A socket has less free memory than is required there.
    #[error(
        "{asked_mb} MB are needed on socket {socket}, {free_mb} MB of hugepages are free there: use another socket{}",
        or_reserve(.more.as_ref())
    )]
    NoMemoryOnSocket {
        /// The socket.
        socket: SocketId,
        /// The required memory in MB.
        asked_mb: u64,
        /// The free memory in MB.
        free_mb: u64,
        /// The number of pages that would be enough.
        more: Option<Reservation>,
    },
    /// The socket does not exist.
    #[error("memory is requested on socket {socket}, this machine has {}: request it on one of these", list(.sockets))]
    NoSuchSocket {
        /// The requested socket.
        socket: SocketId,
        /// The sockets of the machine.
        sockets: Vec<SocketId>,
    },
    /// The mempool driver that pools need is missing.
    #[error(
        "{} lacks librte_mempool_ring.so, without which there are no pools: install it (Debian: apt-get install \
         librte-meta-mempool)",
        .folder.display()
    )]
    PoolDriverMissing {
        /// DPDK's plug-in folder.
        folder: PathBuf,
    },
    /// A virtual device has a key that its driver does not list.
    #[error("device {device}: its driver lists no key '{key}', but: {known}")]
    DeviceKeyUnknown {
        /// The device.
        device: String,
        /// The key.
        key: String,
        /// The driver's keys, in its own words.
        known: String,
    },
    /// A file that a virtual device needs does not exist.
    #[error("device {device}: file {} for {key} does not exist: give the path of an existing file", .file.display())]
    DeviceFileMissing {
        /// The device.
        device: String,
        /// The key.
        key: String,
        /// The file.
        file: PathBuf,
    },
    /// A network interface that a virtual device needs does not exist.
    #[error("device {device}: network interface {interface} does not exist: give one of {}", .interfaces.join(", "))]
    InterfaceMissing {
        /// The device.
        device: String,
        /// The requested interface.
        interface: String,
        /// The interfaces of the machine.
        interfaces: Vec<String>,
    },
    /// A virtual device is not among the ports, for an unknown reason.
    #[error(
        "device {device} was given but is not among the ports: its driver refused it, and gives the reason in the log \
         above"
    )]
    DeviceRefused {
        /// The device.
        device: String,
    },
    /// `--no-pci` hides the NICs.
    #[error(
        "--no-pci is given, so DPDK ignores all NICs ({}): leave it out, or give a virtual device, as in \
         --vdev=net_null0",
        some(.nics)
    )]
    PciOff {
        /// The machine's NICs.
        nics: Vec<String>,
    },
    /// The machine has no NIC, and the command line names no virtual device.
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
    /// No driver supports a NIC.
    #[error("there is no driver for NIC {address} ({id}) in {}", driver_remedy(.searched))]
    NicDriverMissing {
        /// The NIC.
        address: String,
        /// Its vendor and device numbers.
        id: String,
        /// Where drivers were searched for.
        searched: DriverSource,
    },
    /// A NIC is bound to a kernel driver, or to no driver.
    #[error("{}", not_bound(.address, .bound.as_deref(), .interfaces, *.used, .wanted))]
    NicNotBound {
        /// The NIC.
        address: String,
        /// The kernel driver to which it is bound.
        bound: Option<String>,
        /// Its network interfaces.
        interfaces: Vec<String>,
        /// The kernel's use of it.
        used: Use,
        /// The kernel driver to which it should be bound.
        wanted: String,
    },
    /// A NIC is bound to a kernel driver that DPDK's driver does not support.
    #[error(
        "NIC {address} is bound to {bound}, which {driver} cannot use: modprobe {wanted} && dpdk-devbind.py \
         --bind={wanted} {address}"
    )]
    NicBoundWrong {
        /// The NIC.
        address: String,
        /// The kernel driver to which it is bound.
        bound: String,
        /// DPDK's driver for the NIC.
        driver: String,
        /// The kernel driver to which it should be bound.
        wanted: String,
    },
    /// The kernel uses no IOMMU, so vfio-pci accepts no device.
    #[error("{}", iommu_off(*.table, .parameter.as_deref(), .without.as_deref()))]
    IommuOff {
        /// The firmware's table that describes an IOMMU, if it has one.
        table: Option<&'static str>,
        /// The parameter on the kernel's command line that disables it.
        parameter: Option<String>,
        /// How to do without an IOMMU, if this kernel can.
        without: Option<String>,
    },
    /// VFIO's module for the IOMMU is not loaded.
    #[error("vfio-pci is loaded, but vfio_iommu_type1 is not, so VFIO cannot use the IOMMU: modprobe vfio_iommu_type1")]
    VfioTypeMissing,
    /// The IOMMU does not remap interrupts, so VFIO provides no device.
    #[error(
        "the IOMMU does not remap interrupts, so VFIO provides no device: enable interrupt remapping (x2APIC) in \
         the firmware and remove intremap=off from the kernel's command line, or accept that a NIC can forge \
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
        /// The other devices, and the kernel drivers to which they are bound.
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
    /// A VFIO file does not exist, as in a container.
    #[error(
        "{} does not exist, though vfio-pci has the NIC: give it to the container (docker run --device=/dev/vfio)",
        .file.display()
    )]
    VfioFileMissing {
        /// The file.
        file: PathBuf,
    },
    /// The user may not open a VFIO file.
    #[error("user {user} may not open {}: as root run chown {user} {}", .file.display(), .file.display())]
    VfioFileDenied {
        /// The file.
        file: PathBuf,
        /// The user.
        user: u32,
    },
    /// The user's limit of locked memory is low.
    #[error(
        "user {user} may lock {limit_kb} kB, and VFIO locks all memory that the NIC may write to: ulimit -l \
         unlimited (memlock in /etc/security/limits.conf)"
    )]
    LockedMemoryLimited {
        /// The limit in kB.
        limit_kb: u64,
        /// The user.
        user: u32,
    },
}
