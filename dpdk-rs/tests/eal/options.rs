// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Options and devices that a program chooses itself, without text that DPDK would have to be trusted with.
#![forbid(unsafe_code)]

use crate::{
    capture,
    frames::{bytes, frame, pool, receive, start},
    namespace::namespace,
    others::lacks_hugepages,
    process::{folder, isolated, isolated_bare, isolated_in, prefix, runtime_folder},
};
use dpdk_rs::{
    Eal, EalError, EalOptions, HotplugError, Mempool,
    device::{AfPacket, Null, Pcap, PciAddress, Ring, Tap, VirtualDevice},
    diagnosis,
    log::Level,
};
use std::{fs, path::Path};

/// Options that need neither root nor hugepages nor PCI devices.
fn options() -> EalOptions {
    EalOptions::new().no_huge().memory_mb(128).no_telemetry().no_pci().file_prefix(&prefix())
}

#[test]
fn a_program_starts_the_eal_with_its_own_options() {
    let output = isolated_bare(|| {
        let options = options().floating_lcores([0, 3, 5], [0]).main_lcore(3).no_shconf().log_level(Level::Error);
        let (eal, own_args) = Eal::init(options.device(Ring::new(4)).device(Null::new(0).size(100))).unwrap();
        assert_eq!(own_args, [""; 0]);
        let lcores: Vec<u32> = eal.lcores().iter().map(|lcore| lcore.id().get()).collect();
        assert_eq!((lcores, eal.main_lcore().get()), (vec![0, 3, 5], 3));
        assert!(!eal.has_hugepages());
        let mut ports = eal.ports();
        let names: Vec<&str> = ports.iter().map(|port| port.name()).collect();
        assert_eq!(names, ["net_ring4", "net_null0"]);
        let pool: Mempool = pool(&eal, "pool");
        let (_port, mut rx, _tx) = start(ports.remove(1), &pool);
        assert_eq!(receive(&mut rx).len(), 100);
        assert!(!runtime_folder().join("config").exists());
    });
    assert!(!output.contains("EAL: "), "only errors are in the log:\n{output}");
}

#[test]
fn processes_have_their_own_files() {
    isolated_bare(|| {
        let (_eal, _) = Eal::init(options().lcores([0]).allow("0000:ff:1f.7".parse().unwrap())).unwrap();
        assert!(runtime_folder().join("config").exists(), "the file prefix names the folder");
    });
}

#[test]
fn no_file_is_made_in_memory() {
    if lacks_hugepages() {
        return;
    }
    isolated_bare(|| {
        let options = EalOptions::new().file_prefix(&prefix()).lcores([0]).no_pci().memory_mb(32).in_memory();
        let (eal, _) = Eal::init(options).unwrap();
        assert!(eal.has_hugepages() && !runtime_folder().join("config").exists());
    });
}

/// Paths with each letter that is not refused, next to each other: DPDK opens the very file.
#[test]
fn drivers_read_values_as_they_were_meant() {
    isolated(&[], |eal| {
        let letters = || (' '..='~').chain(['é', '\u{a0}', '\u{1f980}']);
        let device = |name: &str| Pcap::new(3).rx_file(folder().join(name)).tx_file(folder().join("out"));
        let refused = |name: &str| match eal.attach(device(name)) {
            Err(HotplugError::Value(error)) => error.value == folder().join(name).to_str().unwrap(),
            Err(HotplugError::Driver { .. }) => false,
            other => panic!("{name}: {other:?}"),
        };
        let (wrong, right): (Vec<char>, Vec<char>) = letters().partition(|letter| refused(&format!("a{letter}b")));
        assert_eq!(wrong, ['"', '\'', '(', ')', ',', '=', '[', '\\', ']', '{', '}']);
        let right: Vec<char> = right.into_iter().filter(|letter| *letter != '/' && !letter.is_alphanumeric()).collect();
        for (first, second) in right.iter().flat_map(|first| right.iter().map(move |second| (first, second))) {
            let name = format!("{first}{second}");
            if name == ".." {
                continue;
            }
            capture::write(&folder().join(&name), &[frame(1, 60)]);
            let ports = eal.attach(device(&name)).unwrap();
            assert_eq!(ports[0].name(), "net_pcap3", "{name}");
            drop(ports);
            eal.detach("net_pcap3").unwrap();
            fs::remove_file(folder().join(&name)).unwrap();
        }
    });
}

#[test]
fn frames_come_from_the_file_that_was_named() {
    isolated(&[], |eal| {
        let (first, second) = (folder().join("first file"), folder().join("second"));
        capture::write(&first, &[frame(1, 60)]);
        capture::write(&second, &[frame(2, 60)]);
        let device = Pcap::new(0).rx_file(&first);
        assert_eq!(device.name(), "net_pcap0");
        let pool: Mempool = pool(&eal, "pool");
        let (_port, mut rx, _tx) = start(eal.attach(device).unwrap().remove(0), &pool);
        assert_eq!(bytes(&receive(&mut rx)), frame(1, 60));
    });
}

/// Values with which a program, or whoever it has them from, would add an argument or an option.
#[test]
fn values_cannot_be_other_arguments() {
    isolated(&["net_ring1"], |eal| {
        let devices: [VirtualDevice; 9] = [
            Pcap::new(0).rx_file("in.pcap,infinite_rx=1").into(),
            Pcap::new(0).rx_file("in.pcap=out").into(),
            Pcap::new(0).tx_file("").into(),
            Pcap::new(0).tx_file("a\0b").into(),
            Pcap::new(0).tx_file("[a").into(),
            Tap::new(0).interface("left,remote=eth0").into(),
            Tap::new(0).interface("a=b").into(),
            AfPacket::new(0, "lo,framesz=1").into(),
            AfPacket::new(0, "-").into(),
        ];
        for device in devices {
            let Err(HotplugError::Value(error)) = eal.attach(device.clone()) else {
                panic!("{device:?} was not refused")
            };
            assert!(error.to_string().contains(&format!("{:?} cannot be used: give ", error.value)), "{error}");
            assert!(error.what.ends_with(device.name()), "{error}");
        }
        let names: Vec<String> = eal.ports().iter().map(|port| port.name().to_owned()).collect();
        assert_eq!(names, ["net_ring1"], "no device was made");
    });
    for text in ["", "a/..", "..", "a -d evil.so", "--help", "a%", "a\0", "a,b", &"a".repeat(49)] {
        let error = Eal::init(EalOptions::new().file_prefix(text)).unwrap_err();
        assert!(matches!(&error, EalError::Value(error) if error.value == text), "{error}");
    }
    assert!("0000:01:00.0,queues=2".parse::<PciAddress>().is_err());
}

#[test]
fn interfaces_of_the_kernel_are_devices() {
    if !Path::new("/dev/net/tun").exists() {
        println!("skipped: the kernel has no /dev/net/tun");
        return;
    }
    let Some(namespace) = namespace("") else { return };
    isolated_in(&namespace, &[], |eal| {
        let taps = eal.attach(Tap::new(0).interface("typed0")).unwrap();
        assert!(fs::read_to_string("/proc/net/dev").unwrap().contains("typed0:"));
        let ports = eal.attach(AfPacket::new(0, "typed0")).unwrap();
        assert_eq!((taps[0].name(), ports[0].name()), ("net_tap0", "net_af_packet0"));
    });
}

/// `bus` and `class` begin DPDK's other syntax of devices, in which it looks up what follows without a check.
#[test]
fn devices_of_the_diagnosis_are_only_looked_up() {
    isolated(&["net_ring0"], |eal| {
        let errno = eal.detach("net_ring7").unwrap_err().errno().unwrap();
        for name in ["bus", "class", "bus=", "bus=vdev", "net_ring0/bus", "driver", "name=x", ""] {
            let args = ["x", "--vdev", name, "-a", name];
            drop(diagnosis::of_ports(&args, &eal));
            drop(diagnosis::of_start(&args, &EalError::Init(errno)));
        }
    });
}
