// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Devices of `--vdev` and `-a`: whether a driver for them exists, and why a device did not become a port.

use super::{
    Finding,
    arguments::Arguments,
    drivers::{Driver, Drivers},
    host::Host,
    pci,
};

/// A device of the command line: `net_pcap0,rx_pcap=file`.
struct Device<'a> {
    name: &'a str,
    keys: Vec<(&'a str, &'a str)>,
}

impl<'a> Device<'a> {
    fn parse(text: &'a str) -> Self {
        let (name, keys) = text.split_once(',').unwrap_or((text, ""));
        let name = name.strip_prefix("vdev:").unwrap_or(name);
        Self { name, keys: keys.split(',').filter_map(|pair| pair.split_once('=')).collect() }
    }

    fn value(&self, key: &str) -> Option<&'a str> {
        self.keys.iter().find(|(own, _)| *own == key).map(|(_, value)| *value)
    }

    /// Whether the device becomes a port. Drivers of other kinds of devices do not create ports. The alternative names
    /// of some drivers are documented nowhere.
    fn is_port(&self) -> bool {
        self.name.starts_with("net_")
    }
}

/// The virtual devices of both options.
fn devices(args: &Arguments) -> Vec<Device<'_>> {
    let all = args.all("vdev").chain(args.all("allow").filter(|text| !pci::is_address(text)));
    all.map(Device::parse).collect()
}

/// Devices that the EAL cannot identify.
pub(super) fn of_start(args: &Arguments, drivers: &Drivers) -> Vec<Finding> {
    let mut findings = Vec::new();
    for device in devices(args) {
        let known = drivers.has(device.name);
        if device.is_port() && !known {
            let name = device.name.to_owned();
            findings.push(Finding::DriverMissing { device: name, searched: drivers.searched.clone() });
        } else if !known && args.all("allow").any(|text| text == device.name) && !device.name.contains([':', '=', '_'])
        {
            findings.push(Finding::DeviceNameUnknown { name: device.name.to_owned() });
        }
    }
    findings
}

/// Why devices of `--vdev` are not among the ports.
pub(super) fn of_ports(args: &Arguments, host: &Host, drivers: &Drivers, ports: &[String]) -> Vec<Finding> {
    let is_port = |device: &Device<'_>| ports.iter().any(|port| port == device.name);
    let refused = devices(args).into_iter().filter(|device| device.is_port() && !is_port(device));
    refused.map(|device| why(&device, host, drivers)).collect()
}

/// Why the driver of this device rejected it.
pub(super) fn of_refusal(args: &Arguments, host: &Host, drivers: &Drivers, name: &str) -> Vec<Finding> {
    devices(args).into_iter().filter(|device| device.name == name).map(|device| why(&device, host, drivers)).collect()
}

fn why(device: &Device<'_>, host: &Host, drivers: &Drivers) -> Finding {
    let name = device.name.to_owned();
    if !drivers.has(device.name) {
        return Finding::DriverMissing { device: name, searched: drivers.searched.clone() };
    }
    if let Some((key, known)) = drivers.of_virtual(device.name).and_then(|driver| unknown_key(device, driver)) {
        return Finding::DeviceKeyUnknown { device: name, key, known };
    }
    let is = |driver: &str| device.name.starts_with(driver);
    let server = device.value("server") == Some("1");
    let takes_file = |key| is("net_pcap") && key == "rx_pcap" || is("net_virtio_user") && key == "path" && !server;
    let takes_interface = |key| {
        let of_pcap = ["iface", "rx_iface", "rx_iface_in", "tx_iface"];
        is("net_pcap") && of_pcap.contains(&key) || (is("net_af_packet") || is("net_af_xdp")) && key == "iface"
    };
    for (key, value) in &device.keys {
        if takes_file(*key) && !host.exists(value) {
            return Finding::DeviceFileMissing { device: name, key: (*key).to_owned(), file: value.into() };
        }
        if takes_interface(*key) && !host.exists(format!("/sys/class/net/{value}")) {
            let interfaces = host.names("/sys/class/net");
            return Finding::InterfaceMissing { device: name, interface: (*value).to_owned(), interfaces };
        }
    }
    Finding::DeviceRefused { device: name }
}

/// A key that is not in the driver's own list of keys, and that list.
fn unknown_key(device: &Device<'_>, driver: &Driver) -> Option<(String, String)> {
    let listed = |key: &str| driver.keys.is_empty() || driver.keys.contains(&format!("{key}="));
    let (key, _) = device.keys.iter().find(|(key, _)| !listed(key))?;
    Some(((*key).to_owned(), driver.keys.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::{of_ports, of_start};
    use crate::diagnosis::{
        Finding,
        arguments::Arguments,
        drivers::{
            DriverSource, Drivers,
            tests::{FOLDER, shared},
        },
        tree::Tree,
    };

    fn started(line: &str) -> Vec<Finding> {
        let (tree, args) = (shared(), Arguments::new(&line.split(' ').collect::<Vec<_>>()));
        of_start(&args, &Drivers::new(&args, &tree.host(), |_| false))
    }

    fn ports(tree: &Tree, line: &str, ports: &[&str]) -> Vec<Finding> {
        let args = Arguments::new(&line.split(' ').collect::<Vec<_>>());
        let ports: Vec<String> = ports.iter().map(|port| (*port).to_owned()).collect();
        of_ports(&args, &tree.host(), &Drivers::new(&args, &tree.host(), |_| false), &ports)
    }

    fn missing(device: &str) -> Finding {
        let searched = DriverSource::Folder { folder: FOLDER.into(), plugins: 5 };
        Finding::DriverMissing { device: device.to_owned(), searched }
    }

    #[test]
    fn device_without_driver_is_named() {
        for line in ["x --vdev=net_null0,size=64", "x -a net_null0", "x --vdev vdev:net_null0"] {
            assert_eq!(started(line), [missing("net_null0")], "{line}");
        }
        for line in ["x --vdev=net_ring0", "x --vdev=crypto_null0", "x --vdev=eth_ring0", "x --vdev=virtio_user0", "x"]
        {
            assert_eq!(started(line), [], "{line}");
        }
    }

    #[test]
    fn word_of_dpdk_counts_where_nothing_is_described() {
        let tree = Tree::new();
        let args = Arguments::new(&["x", "--vdev=net_null0,size=a", "--vdev=net_nothing0"]);
        let drivers = Drivers::new(&args, &tree.host(), |name| name.starts_with("net_null"));
        let device = "net_nothing0".to_owned();
        let missing = Finding::DriverMissing { device, searched: DriverSource::Program };
        assert_eq!(of_start(&args, &drivers), std::slice::from_ref(&missing));
        let refused = Finding::DeviceRefused { device: "net_null0".to_owned() };
        assert_eq!(of_ports(&args, &tree.host(), &drivers, &[]), [refused, missing]);
    }

    #[test]
    fn name_that_nothing_knows_is_reported() {
        assert_eq!(started("x -a foo"), [Finding::DeviceNameUnknown { name: "foo".to_owned() }]);
        for line in ["x -a 0000:01:00.0", "x -a 01:00.0", "x -a auxiliary:mlx5_core.sf.4", "x -a class=eth"] {
            assert_eq!(started(line), [], "{line}");
        }
    }

    #[test]
    fn device_that_is_a_port_is_no_finding() {
        assert_eq!(ports(&shared(), "x --vdev=net_ring0,odd=1 --vdev=crypto_null0", &["net_ring0"]), []);
    }

    #[test]
    fn key_that_the_driver_does_not_list_is_named() {
        let expected = Finding::DeviceKeyUnknown {
            device: "net_pcap0".to_owned(),
            key: "rx".to_owned(),
            known: "rx_pcap=<string> iface=<ifc>".to_owned(),
        };
        assert_eq!(ports(&shared(), "x --vdev=net_pcap0,rx=/a", &[]), [expected]);
    }

    #[test]
    fn file_and_interface_must_exist() {
        let tree = shared().file("/tmp/in.pcap", "").folder("/sys/class/net/eth0");
        let file = |path: &str| Finding::DeviceFileMissing {
            device: "net_pcap0".to_owned(),
            key: "rx_pcap".to_owned(),
            file: path.into(),
        };
        let refused = || Finding::DeviceRefused { device: "net_pcap0".to_owned() };
        let interface = Finding::InterfaceMissing {
            device: "net_pcap0".to_owned(),
            interface: "eth7".to_owned(),
            interfaces: vec!["eth0".to_owned()],
        };
        assert_eq!(ports(&tree, "x --vdev=net_pcap0,rx_pcap=/nothing", &[]), [file("/nothing")]);
        assert_eq!(ports(&tree, "x --vdev=net_pcap0,rx_pcap=/tmp/in.pcap", &[]), [refused()]);
        assert_eq!(ports(&tree, "x --vdev=net_pcap0,iface=eth7", &[]), [interface]);
        assert_eq!(ports(&tree, "x --vdev=net_pcap0,iface=eth0", &[]), [refused()]);
    }
}
