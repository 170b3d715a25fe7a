// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the kernel reports about the IOMMU between NICs and memory.

use super::driver;
use std::{fs, path::Path};

/// The folder with the kernel's reports.
pub(crate) const SYS: &str = "/sys";

/// The lowest bit of the field, in Intel's capability register, that is one less than the number of address bits.
const WIDTH_SHIFT: u32 = 16;
const WIDTH_MASK: u64 = 0x3f;

/// Whether a device is a PCI device on VFIO, by its name, which may have the form in which the user has written it.
pub(crate) fn is_on_vfio(sys: &Path, name: &str) -> bool {
    let Some([domain, bus, device, function]) = driver::pci_address(name) else {
        return false;
    };
    let link = format!("bus/pci/devices/{domain:04x}:{bus:02x}:{device:02x}.{function:x}/driver");
    fs::read_link(sys.join(link)).is_ok_and(|driver| driver.ends_with("vfio-pci"))
}

/// The number of address bits that every Intel IOMMU of this machine can translate; `None` if there is none. DPDK uses
/// the smallest number. Once it knows of memory beyond that, it can allocate no more memory at all.
pub(crate) fn width(sys: &Path) -> Option<u32> {
    let units = fs::read_dir(sys.join("class/iommu")).ok()?;
    let widths = units.flatten().filter_map(|unit| {
        let text = fs::read_to_string(unit.path().join("intel-iommu/cap")).ok()?;
        let register = u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()?;
        u32::try_from(register >> WIDTH_SHIFT & WIDTH_MASK).ok().map(|less| less + 1)
    });
    widths.min()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{is_on_vfio, width};
    use std::{env, fs, os::unix::fs::symlink, path::PathBuf, process};

    /// A folder that replaces `/sys`, removed after the test.
    struct Sys(PathBuf);

    impl Sys {
        fn new(name: &str) -> Self {
            let folder = env::temp_dir().join(format!("dpdk-rs-sys-{}-{name}", process::id()));
            fs::create_dir_all(&folder).unwrap();
            Self(folder)
        }

        fn folder(&self, path: &str) -> PathBuf {
            let folder = self.0.join(path);
            fs::create_dir_all(&folder).unwrap();
            folder
        }
    }

    impl Drop for Sys {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn nics_are_on_vfio_by_their_driver() {
        let sys = Sys::new("vfio");
        for (address, driver) in [("0000:01:00.0", "vfio-pci"), ("0000:02:0a.1", "uio_pci_generic")] {
            let target = format!("../../../../bus/pci/drivers/{driver}");
            symlink(target, sys.folder(&format!("bus/pci/devices/{address}")).join("driver")).unwrap();
        }
        sys.folder("bus/pci/devices/0000:03:00.0");
        for (name, is) in [
            ("0000:01:00.0", true),
            ("01:00.0", true),
            ("1:0.0", true),
            ("0000:02:0a.1", false),
            ("0000:03:00.0", false),
            ("0000:04:00.0", false),
            ("net_null0", false),
        ] {
            assert_eq!(is_on_vfio(&sys.0, name), is, "{name}");
        }
    }

    #[test]
    fn the_narrowest_iommu_counts() {
        let sys = Sys::new("width");
        assert_eq!(width(&sys.0), None);
        let unit = |name: &str, cap: &str| {
            fs::write(sys.folder(&format!("class/iommu/{name}/intel-iommu")).join("cap"), cap).unwrap();
        };
        sys.folder("class/iommu/ivhd0");
        assert_eq!(width(&sys.0), None);
        // The values of a Xeon, and of QEMU's default IOMMU.
        unit("dmar0", "8d2078c106f0466\n");
        assert_eq!(width(&sys.0), Some(48));
        unit("dmar1", "d2008c22260206\n");
        assert_eq!(width(&sys.0), Some(39));
    }
}
