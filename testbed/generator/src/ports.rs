// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Sets up and starts the ports, and waits for their links.

use crate::{
    args::Options,
    error::{Error, warn},
    frame::FCS_LEN,
    transmit::{BURST_MAX, Written},
};
use core::time::Duration;
use dpdk_rs::{
    Eal, MacAddr, Mempool, Port, PortConfig, PortError, PrivateData, RxQueue, TxQueue,
    port::{Configured, Started, Unconfigured},
};
use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Instant,
};

const HEADROOM: usize = 128;
const ETHERNET_LEN: u16 = 14;
/// Room in received frames for a VLAN tag or an FCS that the device does not strip.
const RX_EXTRA: usize = 32;
const DEFAULT_DATA_ROOM: usize = 2048 + HEADROOM;
/// Mbufs in the cache of an lcore.
const CACHE: u32 = 512;
/// In addition to the frames in queues and bursts: a cache may hold one and a half times its size.
const SPARE: usize = CACHE as usize * 3 / 2 + 2 * BURST_MAX;
/// The usual size of the rings in virtual devices.
const DEVICE_HOLDS: usize = 1024;
const LINK_POLL: Duration = Duration::from_millis(20);

const ENOTSUP: i32 = 95;

/// A started port with its queues.
#[derive(Debug)]
pub(crate) struct GeneratorPort {
    pub(crate) port: Port<Started>,
    pub(crate) mac: MacAddr,
    pub(crate) rx: Vec<RxQueue>,
    pub(crate) tx: Vec<TxQueue>,
    /// The source of the frames that it sends.
    pub(crate) pool: Mempool<Written>,
}

/// Starts the ports that the options name, in their order.
pub(crate) fn start_ports(eal: &Eal, options: &Options) -> Result<Vec<GeneratorPort>, Error> {
    let mut free = eal.ports();
    if free.is_empty() {
        let remedy = "bind a NIC to a DPDK driver, or add a virtual device such as --vdev=net_ring0 before the --";
        return Err(Error::Failed(format!("no Ethernet ports: {remedy}")));
    }
    let present: Vec<String> = free.iter().map(|port| port.id().to_string()).collect();
    let mut chosen = Vec::new();
    for id in &options.ports {
        let Some(index) = free.iter().position(|port| port.id().get() == *id) else {
            let present = present.join(", ");
            return Err(Error::Failed(format!("port {id} does not exist: choose from {present} with --ports")));
        };
        chosen.push(free.swap_remove(index));
    }
    chosen.into_iter().map(|port| start_port(eal, port, options)).collect()
}

fn start_port(eal: &Eal, port: Port<Unconfigured>, options: &Options) -> Result<GeneratorPort, Error> {
    let len = usize::from(options.longest()) - FCS_LEN;
    let rx_pool = make_pool::<()>(eal, &port, "rx", (options.rx_descriptors, options.queues), len + RX_EXTRA)?;
    let pool = make_pool(eal, &port, "tx", (options.tx_descriptors, options.queues), len)?;
    let config = PortConfig::default()
        .rx_queues(options.queues)
        .tx_queues(options.queues)
        .rx_descriptors(options.rx_descriptors)
        .tx_descriptors(options.tx_descriptors);
    let port = port.configure(&config, &rx_pool).map_err(Error::failed)?;
    raise_mtu(&port, options.longest() - FCS_LEN as u16 - ETHERNET_LEN)?;
    let (port, rx, tx) = port.start().map_err(Error::failed)?;
    // Forwarders choose the destination addresses of the frames that they send back.
    if let Err(error) = port.set_promiscuous(true)
        && !is_unsupported(&error)
    {
        warn(error);
    }
    let mac = port.mac_addr().map_err(Error::failed)?;
    Ok(GeneratorPort { port, mac, rx, tx, pool })
}

fn make_pool<P: PrivateData>(
    eal: &Eal,
    port: &Port<Unconfigured>,
    direction: &str,
    (descriptors, queues): (u16, u16),
    frame_len: usize,
) -> Result<Mempool<P>, Error> {
    Mempool::builder(format!("generator-{direction}-{}", port.id()))
        .size(pool_size(descriptors, queues))
        .data_room(data_room(frame_len))
        .cache(CACHE)
        .socket(port.socket())
        .build(eal)
        .map_err(|error| {
            let remedy = format!("give the EAL more memory (hugepages, -m), or fewer descriptors with --{direction}d");
            Error::Failed(format!("{error}: {remedy}"))
        })
}

/// Some devices (memif) carry long frames although they refuse a larger MTU, so a refusal is only a warning.
fn raise_mtu(port: &Port<Configured>, needed: u16) -> Result<(), Error> {
    if port.mtu().map_err(Error::failed)? >= needed {
        return Ok(());
    }
    if let Err(error) = port.set_mtu(needed)
        && !is_unsupported(&error)
    {
        warn(format!("{error}; continuing, since the device may carry longer frames anyway"));
    }
    Ok(())
}

fn is_unsupported(error: &PortError) -> bool {
    matches!(error, PortError::Refused { errno, .. } if errno.get() == ENOTSUP)
}

/// Enough for full queues, and for the frames that a device such as a ring holds in addition.
fn pool_size(descriptors: u16, queues: u16) -> u32 {
    let mbufs = (usize::from(descriptors) + DEVICE_HOLDS) * usize::from(queues) + SPARE;
    // A power of two minus one uses the least memory.
    mbufs.next_power_of_two() as u32 - 1
}

fn data_room(len: usize) -> u16 {
    (HEADROOM + len).next_multiple_of(64).max(DEFAULT_DATA_ROOM) as u16
}

/// Waits until every link is up, at most for the time of `--wait-link`.
///
/// Returns false if `stop` was set first.
pub(crate) fn wait_for_links(ports: &[GeneratorPort], options: &Options, stop: &AtomicBool) -> Result<bool, Error> {
    let start = Instant::now();
    for GeneratorPort { port, .. } in ports {
        let mut told = options.quiet;
        while !port.link().map_err(Error::failed)?.up {
            if stop.load(Relaxed) {
                return Ok(false);
            }
            if start.elapsed() >= options.wait_link {
                return Err(Error::Failed(format!(
                    "port {} ({}): the link is still down after {} s: start the peer, or wait longer with --wait-link",
                    port.id(),
                    port.name(),
                    options.wait_link.as_secs_f64(),
                )));
            }
            if !told {
                eprintln!("waiting for the link of port {} ({})", port.id(), port.name());
                told = true;
            }
            thread::sleep(LINK_POLL);
        }
    }
    Ok(!stop.load(Relaxed))
}

#[cfg(test)]
mod tests {
    use super::{data_room, pool_size};

    #[test]
    fn pools_hold_full_queues_and_bursts() {
        assert_eq!(pool_size(64, 1), 4095);
        assert_eq!(pool_size(1024, 1), 4095);
        assert_eq!(pool_size(4096, 1), 8191);
        assert_eq!(pool_size(u16::MAX, 1), 131_071);
    }

    #[test]
    fn data_rooms_hold_the_longest_frame() {
        assert_eq!(data_room(60), 2176);
        assert_eq!(data_room(2048), 2176);
        assert_eq!(data_room(2049), 2240);
        assert_eq!(data_room(8996 + 32), 9216);
    }
}
