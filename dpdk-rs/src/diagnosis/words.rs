// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The parts of findings that depend on their values.

use super::{drivers::DriverSource, host::Process, hugetlb::Reservation, nic::Use, numbers::ranges};
use crate::SocketId;

pub(super) fn too_few(wanted: usize, lcores: &[u32], option: Option<&str>, usable: &[u32]) -> String {
    let (have, usable) = (lcores.len(), ranges(usable));
    let by = option.map_or_else(
        || "the affinity that the process was started with (taskset)".to_owned(),
        |option| format!("the option {option}"),
    );
    format!("{wanted} lcores are needed, and {by} gives {have}, lcore {}: give more, as in -l {usable}", ranges(lcores))
}

/// Continues a message after "there is no driver in".
pub(super) fn driver_remedy(searched: &DriverSource) -> String {
    match searched {
        DriverSource::Program => {
            "this program: link its archive librte_net_….a too, or link DPDK's shared libraries".to_owned()
        }
        DriverSource::Folder { folder, plugins } => format!(
            "{} ({plugins} plug-ins): install its plug-in (Debian: apt-get install librte-meta-net), or give it by -d",
            folder.display()
        ),
    }
}

pub(super) fn sizes(sizes_kb: &[u64]) -> String {
    let sizes: Vec<String> = sizes_kb.iter().map(|size_kb| format!("{size_kb} kB: 0")).collect();
    if sizes.is_empty() { String::new() } else { format!(" ({})", sizes.join(", ")) }
}

pub(super) fn reserved(pages: &[(u64, u64)]) -> String {
    let pages: Vec<String> =
        pages.iter().map(|(size_kb, count)| format!("{count} hugepages of {size_kb} kB")).collect();
    format!("{} are reserved", pages.join(" and "))
}

pub(super) fn taken(own_mb: u64, holders: &[(u64, Process)]) -> String {
    let others = holders.iter().take(3);
    let mut by: Vec<String> = others
        .map(|(mb, process)| format!("process {} ({}) has {mb} MB", process.pid, process.name))
        .chain((own_mb > 0).then(|| format!("this start has {own_mb} MB")))
        .collect();
    if by.is_empty() {
        by.push("files in a hugetlbfs have them".to_owned());
    }
    by.join(", ")
}

pub(super) fn or_reserve(more: Option<&Reservation>) -> String {
    more.map_or_else(String::new, |more| format!(", or reserve more: {more}"))
}

pub(super) fn list(sockets: &[SocketId]) -> String {
    let sockets: Vec<String> = sockets.iter().map(ToString::to_string).collect();
    format!("socket {}", sockets.join(", "))
}

pub(super) fn some(nics: &[String]) -> String {
    if nics.is_empty() { "it has none".to_owned() } else { nics.join(", ") }
}

pub(super) fn not_bound(address: &str, bound: Option<&str>, interfaces: &[String], used: Use, wanted: &str) -> String {
    let has = match (bound, interfaces) {
        (Some(bound), []) => format!("is bound to {bound} of the kernel"),
        (Some(bound), names) => format!("is bound to {bound} of the kernel (interface {})", names.join(", ")),
        (None, _) => "is bound to no driver".to_owned(),
    };
    let warning = match used {
        Use::None => "",
        Use::Up => ". Its interface is up: what uses it loses it",
        Use::DefaultRoute => {
            ". The default route leads through it: whoever is logged in through it loses the connection"
        }
    };
    format!("NIC {address} {has}: modprobe {wanted} && dpdk-devbind.py --bind={wanted} {address}{warning}")
}

pub(super) fn iommu_off(table: Option<&str>, parameter: Option<&str>, without: Option<&str>) -> String {
    let line = "the kernel's command line and reboot";
    let remedy = match (parameter, table) {
        (Some(parameter), Some(_)) => format!("remove {parameter} from {line}"),
        (None, Some("DMAR")) => format!("add intel_iommu=on to {line}"),
        (None, Some(_)) => format!("add amd_iommu=on to {line}"),
        (_, None) => "enable it in the firmware (VT-d, AMD-Vi), or give the virtual machine one".to_owned(),
    };
    let without = without.map(|way| format!(". To do without one, so that a NIC can write anywhere: {way}"));
    format!("the kernel uses no IOMMU, so vfio-pci takes no NIC: {remedy}{}", without.unwrap_or_default())
}

pub(super) fn pairs(others: &[(String, String)]) -> String {
    let others: Vec<String> = others.iter().map(|(address, driver)| format!("{address} ({driver})")).collect();
    others.join(", ")
}

pub(super) fn addresses(others: &[(String, String)]) -> String {
    let others: Vec<&str> = others.iter().map(|(address, _)| address.as_str()).collect();
    others.join(" ")
}

#[cfg(test)]
mod tests {
    use super::{DriverSource, Process, Reservation, SocketId, Use};
    use crate::diagnosis::Finding;
    use std::path::PathBuf;

    fn words(finding: &Finding, expected: &str) {
        assert_eq!(finding.to_string(), expected);
    }

    fn process(pid: u32, name: &str) -> Process {
        Process { pid, name: name.to_owned() }
    }

    #[test]
    fn lists_of_cpus_are_ranges() {
        words(
            &Finding::CpusMissing { cpus: vec![4, 5, 9], online: vec![0, 1, 2, 3] },
            "CPU 4-5,9 is requested, this machine has 0-3: give CPUs that exist, such as -l 0-3",
        );
    }

    #[test]
    fn too_few_lcores_name_the_option_or_the_affinity() {
        let few = |option: Option<&str>| Finding::TooFewLcores {
            wanted: 3,
            lcores: vec![0, 1],
            option: option.map(str::to_owned),
            usable: vec![0, 1, 2, 3],
        };
        words(
            &few(Some("-l 0-1")),
            "3 lcores are needed, and the option -l 0-1 gives 2, lcore 0-1: give more, as in -l 0-3",
        );
        words(
            &few(None),
            "3 lcores are needed, and the affinity that the process was started with (taskset) gives 2, lcore 0-1: \
             give more, as in -l 0-3",
        );
    }

    #[test]
    fn hugepages_that_are_taken_name_who_has_them() {
        let more = Reservation { file: PathBuf::from("/f"), size_kb: 2048, pages: 512 };
        let taken =
            |own_mb, holders| Finding::HugepagesTaken { total_mb: 64, own_mb, holders, more: Some(more.clone()) };
        words(
            &taken(2, vec![(62, process(7, "qemu"))]),
            "none of the 64 MB of hugepages is free: process 7 (qemu) has 62 MB, this start has 2 MB. End the processes that have them, \
             or reserve more: echo 512 > /f",
        );
        words(
            &taken(0, Vec::new()),
            "none of the 64 MB of hugepages is free: files in a hugetlbfs have them. End the processes that have them, or reserve more: \
             echo 512 > /f",
        );
    }

    #[test]
    fn hugepages_that_are_nowhere_name_the_sizes() {
        words(
            &Finding::NoHugepages { sizes_kb: vec![2048, 1_048_576] },
            "no hugepages are reserved (2048 kB: 0, 1048576 kB: 0): reserve some, as in sysctl -w vm.nr_hugepages=512, \
             or do without: --no-huge -m 512",
        );
        words(
            &Finding::HugetlbfsNotMounted { pages: vec![(2048, 512)] },
            "512 hugepages of 2048 kB are reserved, but no hugetlbfs for that size is mounted: mkdir -p /dev/hugepages && \
             mount -t hugetlbfs -o pagesize=2048K hugetlbfs /dev/hugepages, or give --in-memory",
        );
    }

    #[test]
    fn memory_that_is_short_names_the_command() {
        let file = PathBuf::from("/f");
        let more = Some(Reservation { file, size_kb: 2048, pages: 9 });
        let (asked_mb, free_mb) = (18, 16);
        words(
            &Finding::NoMemoryOnSocket { socket: SocketId::new(1), asked_mb, free_mb, more: more.clone() },
            "18 MB are needed on socket 1, 16 MB of hugepages are free there: use another socket, or reserve more: \
             echo 9 > /f",
        );
        words(
            &Finding::MemoryTooSmall { asked_mb, free_mb, more },
            "18 MB of hugepages are needed, 16 MB are free: request less, or reserve more: echo 9 > /f",
        );
    }

    #[test]
    fn missing_drivers_name_where_they_were_looked_for() {
        let device = "net_null0".to_owned();
        let searched = DriverSource::Folder { folder: PathBuf::from("/pmds"), plugins: 3 };
        words(
            &Finding::DriverMissing { device, searched },
            "there is no driver for device net_null0 in /pmds (3 plug-ins): install its plug-in (Debian: apt-get install \
             librte-meta-net), or give it by -d",
        );
        let (address, id) = ("0000:01:00.0".to_owned(), "8086:10d3".to_owned());
        words(
            &Finding::NicDriverMissing { address, id, searched: DriverSource::Program },
            "there is no driver for NIC 0000:01:00.0 (8086:10d3) in this program: link its archive librte_net_….a too, or \
             link DPDK's shared libraries",
        );
    }

    #[test]
    fn nics_of_the_kernel_come_with_a_warning_where_they_are_in_use() {
        let nic = |bound: Option<&str>, interfaces: &[&str], used| Finding::NicNotBound {
            address: "0000:01:00.0".to_owned(),
            bound: bound.map(str::to_owned),
            interfaces: interfaces.iter().map(|name| (*name).to_owned()).collect(),
            used,
            wanted: "vfio-pci".to_owned(),
        };
        let remedy = "modprobe vfio-pci && dpdk-devbind.py --bind=vfio-pci 0000:01:00.0";
        words(&nic(None, &[], Use::None), &format!("NIC 0000:01:00.0 is bound to no driver: {remedy}"));
        words(
            &nic(Some("igb"), &["eth0"], Use::DefaultRoute),
            &format!(
                "NIC 0000:01:00.0 is bound to igb of the kernel (interface eth0): {remedy}. The default route leads \
                 through it: whoever is logged in through it loses the connection"
            ),
        );
    }

    #[test]
    fn iommu_that_is_off_names_the_switch() {
        let off = |table, parameter: Option<&str>, without: Option<&str>| {
            let (parameter, without) = (parameter.map(str::to_owned), without.map(str::to_owned));
            Finding::IommuOff { table, parameter, without }.to_string()
        };
        assert!(
            off(Some("DMAR"), Some("intel_iommu=off"), None).contains(": remove intel_iommu=off from the kernel's")
        );
        assert!(off(Some("DMAR"), None, None).contains(": add intel_iommu=on to the kernel's"));
        assert!(off(Some("IVRS"), None, None).contains(": add amd_iommu=on to the kernel's"));
        assert!(off(None, None, None).ends_with(", or give the virtual machine one"));
        assert!(off(None, Some("intel_iommu=off"), None).contains(": enable it in the firmware"), "that comes first");
        let expected = "virtual machine one. To do without one, so that a NIC can write anywhere: echo 1 > /f";
        assert!(off(None, None, Some("echo 1 > /f")).ends_with(expected));
    }

    #[test]
    fn groups_that_are_shared_name_the_others() {
        let other = |address: &str| (address.to_owned(), "e1000".to_owned());
        words(
            &Finding::GroupShared {
                address: "0000:02:01.0".to_owned(),
                group: "7".to_owned(),
                others: vec![other("0000:02:02.0"), other("0000:02:03.0")],
            },
            "NIC 0000:02:01.0 shares IOMMU group 7 with 0000:02:02.0 (e1000), 0000:02:03.0 (e1000): bind these to \
             vfio-pci too (dpdk-devbind.py --bind=vfio-pci 0000:02:02.0 0000:02:03.0), or put the NIC into another slot",
        );
    }
}
