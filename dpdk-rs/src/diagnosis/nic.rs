// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! NICs on the PCI bus, and the kernel's use of them.

use super::host::Host;

pub(super) const DEVICES: &str = "/sys/bus/pci/devices";

/// A network device, as described by the kernel.
pub(super) struct Nic {
    pub(super) address: String,
    /// The vendor and device numbers, then those of the subsystem.
    pub(super) ids: [u16; 4],
    /// The kernel driver to which it is bound.
    pub(super) driver: Option<String>,
    /// Its IOMMU group.
    pub(super) group: Option<String>,
    /// Its network interfaces.
    pub(super) interfaces: Vec<String>,
}

impl Nic {
    /// The NICs of the machine.
    pub(super) fn all(host: &Host) -> Vec<Self> {
        host.names(DEVICES).into_iter().filter_map(|address| Self::new(host, address)).collect()
    }

    fn new(host: &Host, address: String) -> Option<Self> {
        let folder = format!("{DEVICES}/{address}");
        let number = |file| {
            let text = host.text(format!("{folder}/{file}"))?;
            u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()
        };
        if number("class")? >> 16 != 0x02 {
            return None;
        }
        let id = |file| number(file).and_then(|id| u16::try_from(id).ok()).unwrap_or(0);
        let ids = [id("vendor"), id("device"), id("subsystem_vendor"), id("subsystem_device")];
        // The interface of a virtio NIC belongs to a device below the NIC.
        let inner = host.names(&folder).into_iter().filter(|name| name.starts_with("virtio"));
        let folders = inner.map(|name| format!("{folder}/{name}/net")).chain([format!("{folder}/net")]);
        let interfaces = folders.flat_map(|folder| host.names(folder)).collect();
        let (driver, group) =
            (host.link_name(format!("{folder}/driver")), host.link_name(format!("{folder}/iommu_group")));
        Some(Self { address, ids, driver, group, interfaces })
    }

    pub(super) fn id(&self) -> String {
        let [vendor, device, ..] = self.ids;
        format!("{vendor:04x}:{device:04x}")
    }

    /// What would be lost if the NIC were bound to another driver.
    pub(super) fn use_of(&self, host: &Host) -> Use {
        let flags = |interface: &String| host.text(format!("/sys/class/net/{interface}/flags"));
        let is_up = |interface: &String| {
            let flags = flags(interface).and_then(|flags| u32::from_str_radix(flags.trim_start_matches("0x"), 16).ok());
            flags.is_some_and(|flags| flags & IFF_UP != 0)
        };
        let routes = host.text("/proc/net/route").unwrap_or_default();
        let default = routes.lines().filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?, words.next()?))
        });
        let default: Vec<&str> = default.filter(|(_, target)| *target == "00000000").map(|(name, _)| name).collect();
        if self.interfaces.iter().any(|interface| default.contains(&interface.as_str())) {
            Use::DefaultRoute
        } else if self.interfaces.iter().any(is_up) {
            Use::Up
        } else {
            Use::None
        }
    }
}

const IFF_UP: u32 = 1;

/// The kernel's use of a NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Use {
    /// The kernel does not use it.
    None,
    /// An interface of the NIC is up.
    Up,
    /// The default route goes through it.
    DefaultRoute,
}
