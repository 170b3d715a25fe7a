// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The available DPDK drivers: linked in, or in the plug-ins that DPDK loads. Each file describes its drivers by their
//! names and the devices they support, for `dpdk-pmdinfo.py` and for this module.

use super::{arguments::Arguments, host::Host};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// Where DPDK finds its drivers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DriverSource {
    /// In the program itself, which is linked with DPDK's archives.
    Program,
    /// In DPDK's plug-in folder.
    Folder {
        /// The path of the folder.
        folder: PathBuf,
        /// The number of plug-ins in it.
        plugins: usize,
    },
}

/// A driver, as described by its file.
pub(super) struct Driver {
    pub(super) name: String,
    /// The argument keys of a virtual device, in words.
    pub(super) keys: String,
    /// The kernel modules that it works with.
    modules: Vec<String>,
    /// The vendor and device numbers, then those of the subsystem.
    devices: Vec<[u16; 4]>,
}

/// Matches any number in a list of devices.
const ANY: u16 = u16::MAX;

impl Driver {
    /// A driver with the properties that almost all NICs' drivers have.
    pub(super) fn usual() -> Self {
        let modules = ["vfio-pci", "uio_pci_generic", "igb_uio"].map(str::to_owned).to_vec();
        Self { name: "DPDK's driver".to_owned(), keys: String::new(), modules, devices: Vec::new() }
    }

    pub(super) fn takes(&self, ids: [u16; 4]) -> bool {
        self.devices.iter().any(|own| own.iter().zip(ids).all(|(own, id)| *own == ANY || *own == id))
    }

    /// Whether the driver can use a device that is bound to this kernel driver.
    pub(super) fn works_with(&self, module: &str) -> bool {
        self.modules.iter().any(|own| own == module || own == "vfio" && module == "vfio-pci")
    }

    /// The kernel driver to which a device should be bound.
    pub(super) fn wanted(&self) -> &str {
        let find = |fits: fn(&str) -> bool| self.modules.iter().map(String::as_str).find(|own| fits(own));
        match find(|own| own.starts_with("vfio")) {
            Some(_) => "vfio-pci",
            // Drivers that leave the device to the kernel list its main module under such a name.
            None => find(|own| own.ends_with("_core"))
                .or_else(|| find(|own| own == "uio_pci_generic"))
                .or_else(|| find(|_| true))
                .unwrap_or("vfio-pci"),
        }
    }
}

/// All drivers that are available with these arguments.
pub(super) struct Drivers {
    drivers: Vec<Driver>,
    pub(super) searched: DriverSource,
    known: Known,
}

/// Whether a driver that DPDK has loaded matches a device of this name.
pub(super) type Known = fn(&str) -> bool;

impl Drivers {
    pub(super) fn new(args: &Arguments, host: &Host, known: Known) -> Self {
        let mapped = mapped(host);
        let mut files: Vec<PathBuf> = mapped.iter().filter(|file| is_driver(file)).cloned().collect();
        files.extend(host.link("/proc/self/exe"));
        for plugin in args.all("d") {
            let names = host.names(plugin);
            files.extend(names.iter().filter(|name| name.contains(".so")).map(|name| Path::new(plugin).join(name)));
            files.push(PathBuf::from(plugin));
        }
        let searched = plugin_folder(host, &mapped).map_or(DriverSource::Program, |folder| {
            let plugins: Vec<String> = host.names(&folder).into_iter().filter(|name| name.contains(".so")).collect();
            files.extend(plugins.iter().map(|name| folder.join(name)).filter(|file| is_driver(file)));
            let plugins = distinct(host, plugins.into_iter().map(|name| folder.join(name))).len();
            DriverSource::Folder { folder, plugins }
        });
        let texts = distinct(host, files.into_iter()).into_iter().filter_map(|file| host.bytes(file));
        Self { drivers: texts.flat_map(|bytes| described(&bytes)).collect(), searched, known }
    }

    /// The driver of a virtual device: the one whose name is the start of the device's name.
    pub(super) fn of_virtual(&self, device: &str) -> Option<&Driver> {
        let fitting = self.drivers.iter().filter(|driver| device.starts_with(&driver.name));
        fitting.max_by_key(|driver| driver.name.len())
    }

    /// Whether a driver exists for a virtual device. Either source counts: plug-ins may not be loaded yet, and a linker
    /// may omit the descriptions.
    pub(super) fn has(&self, device: &str) -> bool {
        self.of_virtual(device).is_some() || (self.known)(device)
    }

    /// Whether a driver without a description is missing.
    pub(super) fn are_described(&self) -> bool {
        !self.drivers.is_empty() || self.searched != DriverSource::Program
    }

    pub(super) fn of_nic(&self, ids: [u16; 4]) -> Option<&Driver> {
        self.drivers.iter().find(|driver| driver.takes(ids))
    }
}

/// The files that are mapped into this process.
pub(super) fn mapped(host: &Host) -> Vec<PathBuf> {
    let maps = host.text("/proc/self/maps").unwrap_or_default();
    let paths: BTreeSet<&str> = maps.lines().filter_map(|line| Some(line.get(line.find('/')?..)?.trim_end())).collect();
    paths.into_iter().map(PathBuf::from).collect()
}

/// The existing files, each once under any of its names.
fn distinct(host: &Host, files: impl Iterator<Item = PathBuf>) -> BTreeSet<PathBuf> {
    let real = files.filter_map(|file| host.real(file));
    real.filter(|file| host.metadata(file).is_some_and(|metadata| metadata.is_file())).collect()
}

fn named(file: &Path, start: &str) -> bool {
    file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start))
}

fn is_driver(file: &Path) -> bool {
    named(file, "librte_net_")
}

/// The loaded DPDK libraries: several if several versions are loaded.
pub(super) fn environments(host: &Host) -> Vec<PathBuf> {
    mapped(host).into_iter().filter(|file| named(file, "librte_eal.so")).collect()
}

/// The folder from which the shared EAL loads plug-ins; `None` for an EAL that is linked in.
pub(super) fn plugin_folder(host: &Host, mapped: &[PathBuf]) -> Option<PathBuf> {
    let library = host.bytes(mapped.iter().find(|file| named(file, "librte_eal.so"))?)?;
    let folder = strings(&library, b"DPDK_PLUGIN_PATH=").into_iter().next()?;
    (!folder.is_empty()).then(|| PathBuf::from(folder))
}

/// The texts after each `mark` in a file, up to the NUL byte.
fn strings(bytes: &[u8], mark: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = bytes;
    while let Some(at) = find(rest, mark) {
        rest = rest.get(at + mark.len()..).unwrap_or_default();
        let text = rest.split(|byte| *byte == 0).next().unwrap_or_default();
        found.push(String::from_utf8_lossy(text).into_owned());
    }
    found
}

/// The first position of `mark`.
fn find(bytes: &[u8], mark: &[u8]) -> Option<usize> {
    let first = *mark.first()?;
    let mut from = 0;
    loop {
        from += bytes.get(from..)?.iter().position(|byte| *byte == first)?;
        if bytes.get(from..)?.starts_with(mark) {
            return Some(from);
        }
        from += 1;
    }
}

/// The drivers that a file describes.
fn described(bytes: &[u8]) -> Vec<Driver> {
    strings(bytes, b"PMD_INFO_STRING= ").iter().filter_map(|text| Driver::parse(text)).collect()
}

impl Driver {
    /// Parses `{"name": "…", "params": "…", "kmod": "…", "pci_ids": [[1, 2, 65535, 65535], …]}`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let value = |key: &str| Some(text.split_once(&format!("\"{key}\": \""))?.1.split_once('"')?.0.to_owned());
        let modules = value("kmod").unwrap_or_default();
        let (_, lists) = text.split_once("\"pci_ids\": [")?;
        let devices = lists.split('[').filter_map(|list| {
            let mut numbers = list.split_once(']')?.0.split(',').map(|number| number.trim().parse().ok());
            Some([numbers.next()??, numbers.next()??, numbers.next()??, numbers.next()??])
        });
        Some(Self {
            name: value("name")?,
            keys: value("params").unwrap_or_default(),
            modules: modules.split(['*', '|', '&', ' ']).filter(|word| !word.is_empty()).map(str::to_owned).collect(),
            devices: devices.collect(),
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(super) mod tests {
    use super::{Driver, DriverSource, Drivers, strings};
    use crate::diagnosis::{arguments::Arguments, tree::Tree};
    use std::path::PathBuf;

    pub(in crate::diagnosis) const FOLDER: &str = "/usr/lib/dpdk/pmds-23.0";

    const RING: &str =
        r#"PMD_INFO_STRING= {"name": "net_ring", "params": "nodeaction=name:node:action", "pci_ids": []}"#;
    const PCAP: &str =
        r#"PMD_INFO_STRING= {"name": "net_pcap", "params": "rx_pcap=<string> iface=<ifc>", "pci_ids": []}"#;
    const E1000: &str = concat!(
        r#"PMD_INFO_STRING= {"name": "net_igb", "kmod": "* igb_uio | vfio-pci", "#,
        r#""pci_ids": [[32902, 4298, 65535, 65535]]}"#,
        "\0\u{1}\0",
        r#"PMD_INFO_STRING= {"name": "net_em", "kmod": "* igb_uio | uio_pci_generic | vfio-pci", "#,
        r#""pci_ids": [[32902, 4110, 65535, 65535], [32902, 4307, 1, 2]]}"#
    );
    const MLX5: &str = concat!(
        r#"PMD_INFO_STRING= {"name": "mlx5_eth", "kmod": "* ib_uverbs & mlx5_core & mlx5_ib", "#,
        r#""pci_ids": [[5555, 4121, 65535, 65535]]}"#
    );

    /// A machine with a shared DPDK, whose plug-ins are those of the ring, pcap, e1000 and mlx5 drivers.
    pub(in crate::diagnosis) fn shared() -> Tree {
        let maps = "55-56 r-xp 0 08:01 1  /usr/bin/app\n\
                    7f-80 r-xp 00 08:01 2   /usr/lib/librte_eal.so.23.0\n\
                    90-91 rw-p 0 0:0 0\n";
        Tree::new()
            .file("/proc/self/maps", maps)
            .link("/proc/self/exe", "/usr/bin/app")
            .file("/usr/bin/app", "no driver")
            .file("/usr/lib/librte_eal.so.23.0", &format!("\0x\0DPDK_PLUGIN_PATH={FOLDER}\0"))
            .file(&format!("{FOLDER}/librte_net_ring.so.23.0"), &format!("ELF\0{RING}\0"))
            .link(&format!("{FOLDER}/librte_net_ring.so"), "librte_net_ring.so.23.0")
            .file(&format!("{FOLDER}/librte_net_pcap.so.23.0"), &format!("ELF\0{PCAP}\0"))
            .file(&format!("{FOLDER}/librte_net_e1000.so.23.0"), &format!("ELF\0{E1000}\0"))
            .file(&format!("{FOLDER}/librte_net_mlx5.so.23.0"), &format!("ELF\0{MLX5}\0"))
            .file(&format!("{FOLDER}/librte_mempool_ring.so.23.0"), "ELF")
    }

    fn arguments(line: &str) -> Arguments {
        Arguments::new(&line.split(' ').collect::<Vec<_>>())
    }

    fn names(drivers: &Drivers) -> Vec<&str> {
        let mut names: Vec<&str> = drivers.drivers.iter().map(|driver| driver.name.as_str()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn drivers_are_those_of_the_plugins() {
        let drivers = Drivers::new(&arguments("x"), &shared().host(), |_| false);
        assert_eq!(names(&drivers), ["mlx5_eth", "net_em", "net_igb", "net_pcap", "net_ring"]);
        assert_eq!(drivers.searched, DriverSource::Folder { folder: PathBuf::from(FOLDER), plugins: 5 });
    }

    #[test]
    fn drivers_are_those_of_the_program_that_they_are_linked_into() {
        let tree = Tree::new()
            .file("/proc/self/maps", "55-56 r-xp 0 08:01 1  /usr/bin/app\n")
            .link("/proc/self/exe", "/usr/bin/app")
            .file("/usr/bin/app", &format!("ELF\0{RING}\0{E1000}\0"));
        let drivers = Drivers::new(&arguments("x"), &tree.host(), |_| false);
        assert_eq!(
            (names(&drivers), &drivers.searched),
            (vec!["net_em", "net_igb", "net_ring"], &DriverSource::Program)
        );
    }

    #[test]
    fn plugins_of_the_command_line_count() {
        let tree = shared().file("/opt/pmd/mine.so", r#"PMD_INFO_STRING= {"name": "net_mine", "pci_ids": []}"#);
        for line in ["x -d /opt/pmd/mine.so", "x -d /opt/pmd"] {
            let drivers = Drivers::new(&arguments(line), &tree.host(), |_| false);
            assert!(drivers.of_virtual("net_mine0").is_some(), "{line}");
        }
    }

    #[test]
    fn devices_find_their_driver() {
        let drivers = Drivers::new(&arguments("x"), &shared().host(), |_| false);
        let nic = |ids| drivers.of_nic(ids).map(|driver| driver.name.as_str());
        assert_eq!(nic([0x8086, 0x100e, 7, 8]), Some("net_em"));
        assert_eq!(nic([0x8086, 0x10ca, 7, 8]), Some("net_igb"));
        assert_eq!(nic([0x8086, 0x10d3, 1, 2]), Some("net_em"));
        assert_eq!(nic([0x8086, 0x10d3, 1, 3]), None, "another subsystem");
        let virtual_driver = |name| drivers.of_virtual(name).map(|driver| driver.name.as_str());
        assert_eq!((virtual_driver("net_ring0"), virtual_driver("net_null0")), (Some("net_ring"), None));
    }

    #[test]
    fn drivers_say_what_they_work_with() {
        let driver =
            |modules: &str| Driver::parse(&format!(r#"{{"name": "x", "kmod": "{modules}", "pci_ids": []}}"#)).unwrap();
        let usual = driver("* igb_uio | uio_pci_generic | vfio-pci");
        assert!(usual.works_with("vfio-pci") && usual.works_with("uio_pci_generic") && !usual.works_with("e1000e"));
        assert_eq!(usual.wanted(), "vfio-pci");
        assert!(driver("* igb_uio | vfio").works_with("vfio-pci"));
        assert_eq!(driver("* igb_uio | vfio").wanted(), "vfio-pci");
        assert_eq!(driver("* ib_uverbs & mlx5_core & mlx5_ib").wanted(), "mlx5_core");
        assert_eq!(driver("* igb_uio | uio_pci_generic").wanted(), "uio_pci_generic");
        assert_eq!(driver("* uio_hv_generic").wanted(), "uio_hv_generic");
    }

    #[test]
    fn strings_are_found_wherever_they_stand() {
        assert_eq!(strings(b"xAA=1\0AA=2\0AAA=3\0A", b"AA="), ["1", "2", "3"]);
        assert_eq!(strings(b"", b"AA="), [""; 0]);
        assert_eq!(strings(b"AA=end", b"AA="), ["end"]);
    }
}
