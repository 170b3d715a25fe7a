// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The IOMMU, and VFIO's conditions for providing a device.

use super::{
    Finding,
    drivers::Driver,
    host::{Access, Host},
    nic::Nic,
};
use std::path::{Path, PathBuf};

const GROUPS: &str = "/sys/kernel/iommu_groups";

/// Not every kernel has this file.
const UNSAFE_MODE: &str = "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode";

/// Why vfio-pci would not accept a NIC: the kernel uses no IOMMU, and VFIO's mode without IOMMU is off.
pub(super) fn off(host: &Host, driver: &Driver, nic: &str) -> Option<Finding> {
    if !host.names(GROUPS).is_empty() || is_yes(host, UNSAFE_MODE) {
        return None;
    }
    let table = ["DMAR", "IVRS"].into_iter().find(|table| host.exists(format!("/sys/firmware/acpi/tables/{table}")));
    let line = host.text("/proc/cmdline").unwrap_or_default();
    let switches = ["intel_iommu=off", "amd_iommu=off", "iommu=off"];
    let parameter = line.split_whitespace().find(|word| switches.contains(word)).map(str::to_owned);
    let without = if host.exists(UNSAFE_MODE) {
        Some(format!("echo 1 > {UNSAFE_MODE}"))
    } else {
        let uio = "uio_pci_generic";
        driver.works_with(uio).then(|| format!("modprobe {uio} && dpdk-devbind.py --bind={uio} {nic}"))
    };
    Some(Finding::IommuOff { table, parameter, without })
}

/// What prevents the use of a NIC that is bound to vfio-pci.
pub(super) fn of_bound(host: &Host, nic: &Nic) -> Vec<Finding> {
    let (Some(group), Some(bound)) = (&nic.group, &nic.driver) else { return Vec::new() };
    if !is_vfio(bound) {
        return Vec::new();
    }
    let files = [format!("/dev/vfio/{group}"), format!("/dev/vfio/noiommu-{group}")];
    let file = files.iter().find(|file| host.exists(file)).unwrap_or(&files[0]);
    let address = || nic.address.clone();
    let mut findings = Vec::new();
    findings.extend(["/dev/vfio/vfio", file].into_iter().find_map(|file| unusable(host, Path::new(file))));
    let holder = host.other_processes().into_iter().find(|process| {
        let folder = format!("/proc/{}/fd", process.pid);
        host.names(&folder)
            .iter()
            .any(|number| host.link(format!("{folder}/{number}")).is_some_and(|open| open == Path::new(file)))
    });
    findings.extend(holder.map(|process| Finding::GroupTaken { address: address(), group: group.clone(), process }));
    let others = others(host, group, &nic.address);
    if !others.is_empty() {
        findings.push(Finding::GroupShared { address: address(), group: group.clone(), others });
    }
    if file.contains("noiommu") {
        return findings;
    }
    if !host.has_module("vfio_iommu_type1") && !host.has_module("iommufd") {
        findings.push(Finding::VfioTypeMissing);
    } else if !remaps_interrupts(host) && !is_yes(host, UNSAFE_INTERRUPTS) {
        findings.push(Finding::NoInterruptRemapping);
    }
    findings.extend(locked_memory(host));
    findings
}

const UNSAFE_INTERRUPTS: &str = "/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts";

fn is_yes(host: &Host, parameter: &str) -> bool {
    host.text(parameter).is_some_and(|value| matches!(value.as_str(), "Y" | "1"))
}

fn is_vfio(driver: &str) -> bool {
    driver.contains("vfio")
}

/// A file that VFIO needs and that is missing, or that this user may not open.
fn unusable(host: &Host, file: &Path) -> Option<Finding> {
    let user = host.user();
    match host.metadata(file) {
        None => Some(Finding::VfioFileMissing { file: file.to_owned() }),
        Some(metadata) if user.may(Access::READ_WRITE, &metadata) => None,
        Some(_) => Some(Finding::VfioFileDenied { file: PathBuf::from(file), user: user.id }),
    }
}

/// Devices of the same group that are bound to a kernel driver. Bridges and the stub driver are harmless.
fn others(host: &Host, group: &str, address: &str) -> Vec<(String, String)> {
    let devices = host.names(format!("{GROUPS}/{group}/devices")).into_iter().filter(|device| device != address);
    let mut others = Vec::new();
    for device in devices {
        let folder = format!("/sys/bus/pci/devices/{device}");
        let is_bridge = host.text(format!("{folder}/class")).is_some_and(|class| class.starts_with("0x06"));
        let driver = host.link_name(format!("{folder}/driver"));
        if let Some(driver) = driver.filter(|driver| !is_bridge && !is_vfio(driver) && driver != "pci-stub") {
            others.push((device, driver));
        }
    }
    others
}

/// Whether interrupts pass through the IOMMU. On x86 the names of the interrupt controllers show it.
fn remaps_interrupts(host: &Host) -> bool {
    let interrupts = host.text("/proc/interrupts").unwrap_or_default();
    !interrupts.contains(" IO-APIC") || interrupts.contains(" IR-IO-APIC")
}

/// The limit on locked memory, which must cover all the memory that the NIC may write to.
fn locked_memory(host: &Host) -> Option<Finding> {
    let limits = host.text("/proc/self/limits")?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max locked memory"))?;
    let limit: u64 = line.split_whitespace().next()?.parse().ok()?;
    let user = host.user();
    (!user.may_lock_memory()).then_some(Finding::LockedMemoryLimited { limit_kb: limit / 1024, user: user.id })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::{UNSAFE_MODE, of_bound};
    use crate::diagnosis::{Finding, Process, drivers::Driver, nic::Nic, tree::Tree};
    use std::path::PathBuf;

    const NIC: &str = "0000:01:00.0";

    /// Group 7 has the NIC, which is bound to vfio-pci, and a bridge. Nothing prevents its use.
    fn machine() -> Tree {
        let device = |tree: Tree, address: &str, class: &str, driver: &str| {
            tree.file(&format!("/sys/bus/pci/devices/{address}/class"), class)
                .link(&format!("/sys/bus/pci/devices/{address}/driver"), format!("../../drivers/{driver}"))
                .link(&format!("/sys/bus/pci/devices/{address}/iommu_group"), "../../../kernel/iommu_groups/7")
                .folder(&format!("/sys/kernel/iommu_groups/7/devices/{address}"))
        };
        let tree = device(Tree::new(), NIC, "0x020000\n", "vfio-pci");
        device(tree, "0000:00:01.0", "0x060400\n", "pcieport")
            .file("/dev/vfio/vfio", "")
            .file("/dev/vfio/7", "")
            .file("/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts", "N\n")
            .file("/proc/interrupts", "  1:  9  IR-IO-APIC   1-edge  i8042\n")
            .file(
                "/proc/self/limits",
                "Max locked memory         8388608              8388608              bytes     \n",
            )
            .file("/proc/self/status", "Pid:\t7\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n")
    }

    fn found(tree: &Tree) -> Vec<Finding> {
        let host = tree.host();
        let nic = Nic::all(&host).into_iter().find(|nic| nic.address == NIC).unwrap();
        of_bound(&host, &nic)
    }

    #[test]
    fn nothing_in_the_way_is_no_finding() {
        assert_eq!(found(&machine()), []);
    }

    #[test]
    fn others_of_the_group_are_named() {
        let other = "0000:01:00.1";
        let tree = machine().folder(&format!("/sys/kernel/iommu_groups/7/devices/{other}"));
        assert_eq!(found(&tree), [], "one without driver does no harm");
        let tree = tree.link(&format!("/sys/bus/pci/devices/{other}/driver"), "../../drivers/e1000");
        let others = vec![(other.to_owned(), "e1000".to_owned())];
        assert_eq!(found(&tree), [Finding::GroupShared { address: NIC.to_owned(), group: "7".to_owned(), others }]);
    }

    #[test]
    fn holder_of_the_group_is_named() {
        let tree = machine().file("/proc/19/comm", "testpmd").link("/proc/19/fd/30", "/dev/vfio/7");
        let process = Process { pid: 19, name: "testpmd".to_owned() };
        assert_eq!(found(&tree), [Finding::GroupTaken { address: NIC.to_owned(), group: "7".to_owned(), process }]);
    }

    #[test]
    fn module_for_the_iommu_must_be_loaded() {
        let tree = machine();
        std::fs::remove_dir_all(tree.place("/sys/module/vfio_iommu_type1")).unwrap();
        assert_eq!(found(&tree), [Finding::VfioTypeMissing]);
        assert_eq!(found(&tree.folder("/sys/module/iommufd")), [], "which does the same");
    }

    #[test]
    fn interrupts_must_be_remapped_or_trusted() {
        let tree = machine().file("/proc/interrupts", "  1:  9   IO-APIC   1-edge  i8042\n");
        assert_eq!(found(&tree), [Finding::NoInterruptRemapping]);
        let tree = tree.file("/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts", "Y\n");
        assert_eq!(found(&tree), []);
    }

    #[test]
    fn files_and_limits_of_a_user_are_checked() {
        let status = "Pid:\t7\nUid:\t4000000\t4000000\t4000000\t4000000\nCapEff:\t0\n";
        let tree = machine().file("/proc/self/status", status).mode("/dev/vfio/vfio", 0o666).mode("/dev/vfio/7", 0o600);
        let denied = Finding::VfioFileDenied { file: PathBuf::from("/dev/vfio/7"), user: 4_000_000 };
        let limited = Finding::LockedMemoryLimited { limit_kb: 8192, user: 4_000_000 };
        assert_eq!(found(&tree), [denied, limited]);
        let unlimited = "Max locked memory         unlimited            unlimited            bytes     \n";
        assert_eq!(found(&tree.mode("/dev/vfio/7", 0o666).file("/proc/self/limits", unlimited)), []);
        let tree = machine();
        std::fs::remove_dir_all(tree.place("/dev/vfio")).unwrap();
        assert_eq!(found(&tree), [Finding::VfioFileMissing { file: PathBuf::from("/dev/vfio/vfio") }]);
    }

    #[test]
    fn vfio_without_iommu_needs_none_of_it() {
        let tree = machine().file("/dev/vfio/noiommu-7", "");
        std::fs::remove_file(tree.place("/dev/vfio/7")).unwrap();
        std::fs::remove_dir_all(tree.place("/sys/module/vfio_iommu_type1")).unwrap();
        assert_eq!(found(&tree), []);
    }

    fn off(tree: &Tree, modules: &str) -> Option<Finding> {
        let driver = format!(r#"{{"name": "net_em", "kmod": "{modules}", "pci_ids": []}}"#);
        super::off(&tree.host(), &Driver::parse(&driver).unwrap(), NIC)
    }

    #[test]
    fn iommu_that_is_off_is_explained_by_table_and_command_line() {
        for (table, line, expected_table, parameter) in [
            ("SSDT", "quiet", None, None),
            ("DMAR", "quiet intel_iommu=off x", Some("DMAR"), Some("intel_iommu=off")),
            ("IVRS", "", Some("IVRS"), None),
        ] {
            let tree = Tree::new().file("/proc/cmdline", line).file(&format!("/sys/firmware/acpi/tables/{table}"), "");
            let parameter = parameter.map(str::to_owned);
            let expected = Finding::IommuOff { table: expected_table, parameter, without: None };
            assert_eq!(off(&tree, "* igb_uio | vfio-pci"), Some(expected));
        }
        assert_eq!(off(&machine(), "* vfio-pci"), None, "there are groups");
    }

    #[test]
    fn way_without_iommu_is_the_one_that_there_is() {
        let without = |tree: &Tree, modules| match off(tree, modules) {
            Some(Finding::IommuOff { without, .. }) => without,
            other => panic!("{other:?}"),
        };
        let (tree, modules) = (Tree::new(), "* igb_uio | uio_pci_generic | vfio-pci");
        let uio = "modprobe uio_pci_generic && dpdk-devbind.py --bind=uio_pci_generic 0000:01:00.0";
        assert_eq!(without(&tree, modules).as_deref(), Some(uio));
        assert_eq!(without(&tree, "* igb_uio | vfio-pci"), None);
        let tree = tree.file(UNSAFE_MODE, "N\n");
        assert_eq!(without(&tree, modules), Some(format!("echo 1 > {UNSAFE_MODE}")));
        assert_eq!(off(&tree.file(UNSAFE_MODE, "Y\n"), modules), None);
    }
}
