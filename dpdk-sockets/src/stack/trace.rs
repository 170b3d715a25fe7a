// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The events for `tracing`, in functions of their own, so that what a segment passes stays short.

use crate::demux::Flow;
use crate::engine::PathMtu;
use crate::event::Ended;
use core::net::{IpAddr, Ipv6Addr};
use ipnet::IpNet;
use tracing::{debug, info};

#[cold]
pub(super) fn opened(flow: Flow, is_accepted: bool) {
    let (local, peer) = (flow.local(), flow.remote());
    debug!(%local, %peer, "{}", if is_accepted { "connection accepted" } else { "connection established" });
}

#[cold]
pub(super) fn ended(flow: Flow, how: Ended) {
    debug!(local = %flow.local(), peer = %flow.remote(), ?how, "connection ended");
}

#[cold]
pub(super) fn overflow(connections: usize, overflows: u64) {
    info!(connections, overflows, "too many connections: handshakes are ignored");
}

#[cold]
pub(super) fn cookies_begin(port: u16, backlog: usize) {
    info!(port, backlog, "too many incomplete handshakes: SYNs are answered by cookies");
}

#[cold]
pub(super) fn unreachable(host: IpAddr) {
    info!(%host, "no answer to ARP or neighbor discovery");
}

#[cold]
pub(super) fn addresses(own: &[IpNet]) {
    info!(?own, "the network has given other addresses");
}

#[cold]
pub(super) fn duplicate(address: Ipv6Addr) {
    info!(%address, "another host has this address: it is not used");
}

#[cold]
pub(super) fn path_mtu_lowered(peer: IpAddr, path: PathMtu) {
    info!(%peer, mtu = path.bytes(), "packets to this host become shorter");
}
