// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Why a NIC on the PCI bus is not a port.

use super::{
    Finding,
    arguments::Arguments,
    drivers::{Driver, Drivers},
    host::Host,
    iommu,
    nic::{DEVICES, Nic, Use},
};

/// The full form of a PCI address, such as `0000:01:00.0` for `01:00.0` or `pci:0000:01:00.0,…`.
pub(super) fn address(text: &str) -> Option<String> {
    let text = text.split(',').next()?;
    let text = text.strip_prefix("pci:").unwrap_or(text);
    let mut parts = text.rsplitn(3, ':');
    let (place, bus, domain) = (parts.next()?, parts.next()?, parts.next().unwrap_or("0"));
    let (device, function) = place.split_once('.')?;
    let number = |text| u32::from_str_radix(text, 16).ok();
    Some(format!("{:04x}:{:02x}:{:02x}.{:x}", number(domain)?, number(bus)?, number(device)?, number(function)?))
}

pub(super) fn is_address(text: &str) -> bool {
    address(text).is_some()
}

/// Why NICs are not among the ports: the NICs of `-a`, or all NICs if there is no port.
pub(super) fn of_ports(args: &Arguments, host: &Host, drivers: &Drivers, ports: &[String]) -> Vec<Finding> {
    let nics = Nic::all(host);
    let addresses = || nics.iter().map(|nic| nic.address.clone()).collect::<Vec<_>>();
    let asked: Vec<String> = args.all("allow").filter_map(address).collect();
    let virtual_only = asked.is_empty() && args.all("vdev").chain(args.all("allow")).next().is_some();
    if virtual_only || asked.is_empty() && !ports.is_empty() {
        return Vec::new();
    }
    if args.has("no-pci") {
        return vec![Finding::PciOff { nics: addresses() }];
    }
    if nics.is_empty() && asked.is_empty() {
        return vec![Finding::NoNic];
    }
    let mut findings: Vec<Finding> = asked
        .iter()
        .filter(|asked| !host.exists(format!("{DEVICES}/{asked}")))
        .map(|asked| Finding::NicMissing { address: asked.clone(), nics: addresses() })
        .collect();
    let blocked: Vec<String> = args.all("block").filter_map(address).collect();
    let wanted = |nic: &&Nic| {
        let is_port = ports.iter().filter_map(|port| address(port)).any(|port| port == nic.address);
        !is_port && !blocked.contains(&nic.address) && (asked.is_empty() || asked.contains(&nic.address))
    };
    let mut wanted: Vec<(Use, &Nic)> = nics.iter().filter(wanted).map(|nic| (nic.use_of(host), nic)).collect();
    // Unused NICs first.
    wanted.sort_by_key(|(used, _)| *used);
    for (used, nic) in wanted {
        for finding in of_nic(host, drivers, nic, used) {
            // Findings about the machine are reported once.
            let is_off = |finding: &Finding| matches!(finding, Finding::IommuOff { .. });
            if !findings.iter().any(|other| *other == finding || is_off(other) && is_off(&finding)) {
                findings.push(finding);
            }
        }
    }
    findings
}

/// Vendors whose NICs DPDK shares with the kernel's driver: NVIDIA (Mellanox) and Microsoft.
const LEFT_TO_THE_KERNEL: [u16; 2] = [0x15b3, 0x1414];

fn of_nic(host: &Host, drivers: &Drivers, nic: &Nic, used: Use) -> Vec<Finding> {
    let address = nic.address.clone();
    let usual = Driver::usual();
    let driver = match drivers.of_nic(nic.ids) {
        Some(driver) => driver,
        None if drivers.are_described() => {
            return vec![Finding::NicDriverMissing { address, id: nic.id(), searched: drivers.searched.clone() }];
        }
        None if LEFT_TO_THE_KERNEL.contains(&nic.ids[0]) => return Vec::new(),
        None => &usual,
    };
    match &nic.driver {
        Some(bound) if driver.works_with(bound) => iommu::of_bound(host, nic),
        Some(bound) if nic.interfaces.is_empty() => {
            let (bound, driver, wanted) = (bound.clone(), driver.name.clone(), driver.wanted().to_owned());
            vec![Finding::NicBoundWrong { address, bound, driver, wanted }]
        }
        bound => {
            let unbound = Finding::NicNotBound {
                address,
                bound: bound.clone(),
                interfaces: nic.interfaces.clone(),
                used,
                wanted: driver.wanted().to_owned(),
            };
            let off = if driver.wanted() == "vfio-pci" { iommu::off(host, driver, &nic.address) } else { None };
            off.into_iter().chain([unbound]).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Use, address, of_ports};
    use crate::diagnosis::{
        Finding,
        arguments::Arguments,
        drivers::{
            DriverSource, Drivers,
            tests::{FOLDER, shared},
        },
        tree::Tree,
    };

    fn nic(tree: Tree, address: &str, vendor: u16, device: u16, driver: Option<&str>, interface: Option<&str>) -> Tree {
        let folder = format!("/sys/bus/pci/devices/{address}");
        let mut tree = tree
            .file(&format!("{folder}/class"), "0x020000\n")
            .file(&format!("{folder}/vendor"), &format!("0x{vendor:04x}\n"))
            .file(&format!("{folder}/device"), &format!("0x{device:04x}\n"));
        if let Some(driver) = driver {
            tree = tree.link(&format!("{folder}/driver"), format!("../../../bus/pci/drivers/{driver}"));
        }
        if let Some(interface) = interface {
            tree = tree.folder(&format!("{folder}/net/{interface}"));
        }
        tree
    }

    /// A machine with an IOMMU and a disk controller.
    fn machine() -> Tree {
        shared().folder("/sys/kernel/iommu_groups/0").file("/sys/bus/pci/devices/0000:00:1f.2/class", "0x010601\n")
    }

    fn found(tree: &Tree, line: &str, ports: &[&str]) -> Vec<Finding> {
        let args = Arguments::new(&line.split(' ').collect::<Vec<_>>());
        let ports: Vec<String> = ports.iter().map(|port| (*port).to_owned()).collect();
        of_ports(&args, &tree.host(), &Drivers::new(&args, &tree.host(), |_| false), &ports)
    }

    fn not_bound(address: &str, bound: Option<&str>, interface: Option<&str>, used: Use) -> Finding {
        Finding::NicNotBound {
            address: address.to_owned(),
            bound: bound.map(str::to_owned),
            interfaces: interface.map(str::to_owned).into_iter().collect(),
            used,
            wanted: "vfio-pci".to_owned(),
        }
    }

    const FIRST: &str = "0000:01:00.0";
    const SECOND: &str = "0000:02:00.0";

    #[test]
    fn nics_of_the_kernel_are_named_the_idle_ones_first() {
        let tree = nic(machine(), FIRST, 0x8086, 0x100e, Some("e1000"), Some("eth0"));
        let tree = nic(tree, SECOND, 0x8086, 0x10ca, Some("igb"), Some("eth1"))
            .file("/sys/class/net/eth0/flags", "0x1003\n")
            .file("/sys/class/net/eth1/flags", "0x1002\n");
        let first = |used| not_bound(FIRST, Some("e1000"), Some("eth0"), used);
        let second = || not_bound(SECOND, Some("igb"), Some("eth1"), Use::None);
        assert_eq!(found(&tree, "x", &[]), [second(), first(Use::Up)]);
        let tree = tree.file("/proc/net/route", "Iface\tDestination\tGateway\neth0\t00000000\t0100A8C0\n");
        assert_eq!(found(&tree, "x", &[]), [second(), first(Use::DefaultRoute)]);
        assert_eq!(found(&tree, "x -a 02:00.0", &[]), [second()]);
        assert_eq!(found(&tree, "x -b 0000:01:00.0", &[]), [second()]);
    }

    #[test]
    fn interface_of_a_virtio_nic_hangs_one_deeper() {
        let tree = nic(machine(), FIRST, 0x8086, 0x100e, Some("virtio-pci"), None)
            .folder(&format!("/sys/bus/pci/devices/{FIRST}/virtio0/net/eth0"));
        assert_eq!(found(&tree, "x", &[]), [not_bound(FIRST, Some("virtio-pci"), Some("eth0"), Use::None)]);
    }

    #[test]
    fn ports_are_no_finding() {
        let tree = nic(machine(), FIRST, 0x8086, 0x100e, Some("e1000"), Some("eth0"));
        for (line, ports) in [
            ("x", &["net_null0"][..]),
            ("x --vdev=net_null0", &["net_null0"]),
            ("x --vdev=net_null0", &[]),
            ("x -a 0000:01:00.0", &["0000:01:00.0"]),
            ("x -a 01:00.0", &["01:00.0"]),
            ("x -a net_null0", &[]),
        ] {
            assert_eq!(found(&tree, line, ports), [], "{line} {ports:?}");
        }
    }

    #[test]
    fn iommu_comes_before_binding() {
        let tree = nic(shared(), FIRST, 0x8086, 0x100e, None, None);
        let tree = nic(tree, SECOND, 0x8086, 0x100e, None, None);
        let unbound = |address| not_bound(address, None, None, Use::None);
        let without = format!("modprobe uio_pci_generic && dpdk-devbind.py --bind=uio_pci_generic {FIRST}");
        let off = Finding::IommuOff { table: None, parameter: None, without: Some(without) };
        assert_eq!(found(&tree, "x", &[]), [off, unbound(FIRST), unbound(SECOND)]);
    }

    #[test]
    fn other_drivers_of_the_kernel_are_wrong() {
        let tree = nic(machine(), FIRST, 0x8086, 0x10ca, Some("uio_pci_generic"), None);
        let tree = nic(tree, SECOND, 0x15b3, 0x1019, Some("vfio-pci"), None);
        let wrong = |address: &str, bound: &str, driver: &str, wanted: &str| Finding::NicBoundWrong {
            address: address.to_owned(),
            bound: bound.to_owned(),
            driver: driver.to_owned(),
            wanted: wanted.to_owned(),
        };
        let first = wrong(FIRST, "uio_pci_generic", "net_igb", "vfio-pci");
        assert_eq!(found(&tree, "x", &[]), [first, wrong(SECOND, "vfio-pci", "mlx5_eth", "mlx5_core")]);
        let tree = nic(machine(), FIRST, 0x15b3, 0x1019, Some("mlx5_core"), Some("eth0"));
        assert_eq!(found(&tree, "x", &[]), [], "where it should be");
    }

    #[test]
    fn nic_that_no_driver_takes_is_named() {
        let tree = nic(machine(), FIRST, 0x10ec, 0x8168, Some("vfio-pci"), None);
        let searched = DriverSource::Folder { folder: FOLDER.into(), plugins: 5 };
        let expected = Finding::NicDriverMissing { address: FIRST.to_owned(), id: "10ec:8168".to_owned(), searched };
        assert_eq!(found(&tree, "x", &[]), [expected]);
    }

    #[test]
    fn nics_are_looked_at_where_no_driver_is_described() {
        let linked = Tree::new().folder("/sys/kernel/iommu_groups/0");
        let tree = nic(linked, FIRST, 0x10ec, 0x8168, Some("r8169"), Some("eth0"));
        let tree = nic(tree, SECOND, 0x15b3, 0x1019, Some("mlx5_core"), Some("eth1"));
        assert_eq!(found(&tree, "x", &[]), [not_bound(FIRST, Some("r8169"), Some("eth0"), Use::None)]);
    }

    #[test]
    fn address_that_is_nowhere_is_named() {
        let tree = nic(machine(), FIRST, 0x8086, 0x100e, Some("e1000"), None);
        let expected = Finding::NicMissing { address: "0000:77:00.0".to_owned(), nics: vec![FIRST.to_owned()] };
        assert_eq!(found(&tree, "x -a 77:00.0", &["net_null0"]), [expected]);
        assert_eq!(found(&tree, "x -a 00:1f.2", &[]), [], "a device that is no NIC is none of our business");
    }

    #[test]
    fn machines_without_nic_and_options_that_hide_it_are_reported() {
        assert_eq!(found(&machine(), "x", &[]), [Finding::NoNic]);
        let tree = nic(machine(), FIRST, 0x8086, 0x100e, Some("e1000"), None);
        assert_eq!(found(&tree, "x --no-pci", &[]), [Finding::PciOff { nics: vec![FIRST.to_owned()] }]);
    }

    #[test]
    fn addresses_are_read_in_every_form() {
        for text in ["0000:01:00.0", "01:00.0", "1:0.0", "pci:0000:01:00.0", "01:00.0,key=value"] {
            assert_eq!(address(text).as_deref(), Some("0000:01:00.0"), "{text}");
        }
        for text in ["", "net_null0", "01:00", "foo", "a.b", "0:zz:0.0", "auxiliary:mlx5_core.sf.4"] {
            assert_eq!(address(text), None, "{text}");
        }
    }
}
