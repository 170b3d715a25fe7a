// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The stack of a client whose connections carry many bytes.

use crate::control::Load;
use dpdk_rs::{Eal, MacAddr, Mempool};
use dpdk_sockets::wire::{QueuePair, checksum_offloads};
use dpdk_sockets::{Config, IpNet, Stack};
use std::error::Error;
use testbed_load::{CLIENT_MAC, PREFIX_LEN, first_client};

/// So many bytes count as a request and its answer.
pub(super) const UNIT: u64 = 1_024;
/// For a segment that the device of the server would have cut, and its headers.
const LONG_ROOM: u16 = 17_408;
const MBUFS: u32 = 4_095;

/// Connections on such a stack.
pub(super) trait BulkLoad: Load {
    /// Takes what has come, and sends on. Returns whether there was nothing.
    fn poll(&mut self) -> bool;
}

/// On the first port.
pub(super) fn stack(eal: &Eal) -> Result<Stack<QueuePair>, Box<dyn Error>> {
    let long: Mempool = Mempool::builder("long").size(MBUFS).data_room(LONG_ROOM).build(eal)?;
    let pool: Mempool = Mempool::builder("pool").size(MBUFS).build(eal)?;
    let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;
    // What the server's device would have written, the vhost device knows to be right.
    let config = checksum_offloads(&port.info()?);
    let (_port, mut rx, mut tx) = port.configure(&config, &long)?.start()?;
    let wire = QueuePair::new(eal, rx.remove(0), tx.remove(0), pool);
    let config = Config::new(MacAddr(CLIENT_MAC.0), IpNet::new_assert(first_client().into(), PREFIX_LEN));
    Ok(Stack::new(wire, config)?)
}
