// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! dnsmasq gives the example `echo` its addresses.

use crate::start;
use crate::tap::{Medium, echo_at, shell};
use core::net::IpAddr;
use std::process::{Child, Command};

/// Ends with the test.
struct Dnsmasq(Child);

impl Drop for Dnsmasq {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// By DHCP and by a router's advertisement.
pub(crate) fn addresses(medium: Medium) {
    let mut server = start(medium, "echo", &["automatic"]);
    // Without this, the interface has the MAC address of the port, and takes what that one makes of it.
    shell(
        "ip link set linux0 down; ip link set linux0 address 02:00:00:00:00:02
        sysctl -qw net.ipv6.conf.linux0.accept_dad=0; ip link set linux0 up
        ip address replace 2001:db8::2/64 dev linux0",
    );
    let words =
        ["--conf-file=/dev/null", "--keep-in-foreground", "--port=0", "--user=root", "--leasefile-ro", "--no-ping"];
    let served = ["--interface=linux0", "--bind-interfaces", "--enable-ra"];
    let ranges = ["--dhcp-range=192.0.2.100,192.0.2.110,1h", "--dhcp-range=2001:db8::,ra-only"];
    let process = Command::new("dnsmasq").args(words).args(served).args(ranges).spawn().unwrap();
    let _dnsmasq = Dnsmasq(process);
    let line = server.line(|line| line.contains("192.0.2.10") && line.contains("2001:db8:"));
    let given: Vec<IpAddr> = line
        .trim_start_matches("addresses: ")
        .split(',')
        .map(|net| net.split('/').next().unwrap().parse().unwrap())
        .filter(|address| !matches!(address, IpAddr::V6(address) if address.is_unicast_link_local()))
        .collect();
    assert_eq!(given.len(), 2, "{line}");
    let echoed: usize = given.into_iter().map(echo_at).sum();
    assert_eq!(server.stop(), format!("echoed {echoed} bytes"));
}
