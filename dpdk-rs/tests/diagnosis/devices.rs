// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Devices on the command line that do not become ports.

use crate::diagnose::{Diagnose, PLAIN, assert_parts};
use std::fs;

fn first(devices: &str) -> String {
    Diagnose::new().first(&format!("{PLAIN} {devices}"))
}

#[test]
fn devices_that_work_are_reported() {
    let report = Diagnose::new().report(&format!("{PLAIN} --vdev=net_null0 --vdev=net_ring0"));
    assert_parts(&report, &["lcore 0 on socket ", "memory is in hugepages: no", "port 0 (net_null0): net_null, "]);
    assert_parts(&report, &["port 1 (net_ring0): net_ring, "]);
}

#[test]
fn driver_that_does_not_exist() {
    let found = first("--vdev=net_nothing0");
    assert_parts(&found, &["there is no driver for device net_nothing0 in "]);
}

#[test]
fn name_that_is_no_device() {
    assert_parts(&first("-a nothing"), &["-a nothing is not the address of a device", "0000:01:00.0"]);
}

#[test]
fn address_of_no_device() {
    let found = Diagnose::new().first("--no-huge -m 64 --no-telemetry -a 7777:77:00.0");
    assert_parts(&found, &["there is no device 7777:77:00.0"]);
}

#[test]
fn key_that_the_driver_does_not_know() {
    let found = first("--vdev=net_null0,length=64");
    let listed = "device net_null0: its driver lists no key 'length', but: size=<int> copy=<int> no-rx=0|1";
    // A linker may leave out what the drivers say of themselves.
    let refused =
        "device net_null0 was given but is not among the ports: its driver refused it, and gives the reason in the log";
    assert!(found == listed || found.starts_with(refused), "{found}");
}

#[test]
fn file_that_is_not_there() {
    let found = first("--vdev=net_pcap0,rx_pcap=/nothing.pcap");
    assert_parts(&found, &["device net_pcap0: file /nothing.pcap for rx_pcap does not exist"]);
}

#[test]
fn interface_that_is_not_there() {
    let found = first("--vdev=net_af_packet0,iface=nothing7");
    assert_parts(&found, &["device net_af_packet0: network interface nothing7 does not exist: give one of ", "lo"]);
}

#[test]
fn file_that_the_driver_refuses() {
    let run = Diagnose::new();
    let file = run.folder().join("in.pcap");
    fs::write(&file, "not a capture").unwrap();
    let found = run.first(&format!("{PLAIN} --vdev=net_pcap0,rx_pcap={}", file.display()));
    assert_parts(&found, &["device net_pcap0 was given but is not among the ports: its driver refused it"]);
}

#[test]
fn nothing_to_make_a_port_of() {
    assert_parts(&first(""), &["--no-pci is given, so DPDK ignores all NICs", "--vdev=net_null0"]);
}

#[test]
fn pci_bus_without_a_port() {
    // Which NICs there are is the machine's business; that DPDK has none of them needs a reason.
    let findings = Diagnose::new().findings("--no-huge -m 64 --no-telemetry -b 0:0.0");
    assert!(findings.iter().any(|found| found.contains("NIC")), "{findings:?}");
}
