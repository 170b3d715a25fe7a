// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The ports: limits, pools, set-up.

use crate::{
    args::Options,
    error::{Error, warn},
    topology::{PortPair, in_mask},
};
use dpdk_rs::{
    Eal, MacAddr, Mempool, MempoolError, Port, PortConfig, RxQueue, TxQueue,
    port::{DescriptorLimits, Unconfigured},
};
use std::{
    collections::BTreeMap,
    io::{self, Write},
};

const POOL_CACHE: u32 = 256;
const POOL_MIN: u64 = 8192;
/// Frames with an MTU above this may need several mbufs (`RTE_ETHER_MTU`).
const ETHER_MTU: u16 = 1500;

/// A started port in use.
pub(crate) struct ForwardingPort {
    pub(crate) port: Port,
    pub(crate) peer: u16,
    pub(crate) mac: MacAddr,
    link_up: bool,
}

/// A started port's queues.
pub(crate) type Queues = (Vec<RxQueue>, Vec<TxQueue>);

/// The started ports, and their queues by port number.
pub(crate) type Started = (Vec<ForwardingPort>, BTreeMap<u16, Queues>);

/// `2, 3`.
fn list_ports(ports: impl IntoIterator<Item = u16>) -> String {
    ports.into_iter().map(|port| port.to_string()).collect::<Vec<_>>().join(", ")
}

/// Checks that every port of the mask exists.
pub(crate) fn check_mask(port_mask: u64, ports: &[Port<Unconfigured>]) -> Result<(), Error> {
    if ports.is_empty() {
        return Err(Error::failed(
            "no Ethernet ports: bind a NIC to a DPDK driver with dpdk-devbind.py, \
             or add a virtual device with --vdev",
        ));
    }
    let available: Vec<u16> = ports.iter().map(|port| port.id().get()).collect();
    let missing = (0..64).filter(|port| in_mask(port_mask, *port) && !available.contains(port));
    let missing = list_ports(missing);
    if missing.is_empty() {
        return Ok(());
    }
    let available = list_ports(available);
    Err(Error::Failed(format!(
        "port mask {port_mask:#x} names ports that do not exist: {missing} (available: {available})"
    )))
}

fn check_queues(name: &str, direction: &str, asked: u16, max: u16) -> Result<(), Error> {
    if asked <= max {
        return Ok(());
    }
    let queues = if asked == 1 { "queue" } else { "queues" };
    Err(Error::Failed(format!(
        "{name}: --queues requests {asked} {direction} {queues}, but the device supports at most {max}"
    )))
}

fn check_descriptors(
    name: &str,
    direction: &str,
    option: &str,
    asked: u16,
    limits: DescriptorLimits,
) -> Result<(), Error> {
    if limits.allows(asked) {
        return Ok(());
    }
    Err(Error::Failed(format!(
        "{name}: {option} requests {asked} {direction} descriptors, but the device supports {limits}"
    )))
}

/// Compares the options with the device's limits, before the device is configured.
pub(crate) fn check_limits(port: &Port<Unconfigured>, options: &Options) -> Result<(), Error> {
    let info = port.info().map_err(Error::failed)?;
    let queues = options.queues_per_port;
    let name = format!("port {} ({})", port.id(), port.name());
    check_queues(&name, "RX", queues, info.max_rx_queues)?;
    check_queues(&name, "TX", queues, info.max_tx_queues)?;
    check_descriptors(&name, "RX", "--rxd", options.rx_descriptors, info.rx_descriptors)?;
    check_descriptors(&name, "TX", "--txd", options.tx_descriptors, info.tx_descriptors)?;
    match options.mtu {
        Some(mtu) if !(info.min_mtu..=info.max_mtu).contains(&mtu) => Err(Error::Failed(format!(
            "{name}: --mtu requests MTU {mtu}, but the device supports {} to {}",
            info.min_mtu, info.max_mtu
        ))),
        _ => Ok(()),
    }
}

/// The port's NUMA node; for a virtual device, which has none, that of the main lcore.
fn socket_of(eal: &Eal, port: &Port<Unconfigured>) -> dpdk_rs::SocketId {
    let main = eal.lcores().into_iter().find(|lcore| lcore.is_main()).map(dpdk_rs::lcore::Lcore::socket);
    let on_a_node = |socket: &dpdk_rs::SocketId| socket.get() >= 0;
    Some(port.socket()).filter(on_a_node).or(main.filter(on_a_node)).unwrap_or(dpdk_rs::SocketId::FIRST)
}

/// The pools by NUMA node: one serves all ports of a node.
#[derive(Default)]
pub(crate) struct Pools(BTreeMap<i32, Mempool>);

impl Pools {
    /// The pool for the port's RX queues. `queues` is the number of queue pairs of all ports.
    pub(crate) fn open_pool(
        &mut self,
        eal: &Eal,
        port: &Port<Unconfigured>,
        options: &Options,
        queues: usize,
    ) -> Result<Mempool, Error> {
        let socket = socket_of(eal, port);
        if let Some(pool) = self.0.get(&socket.get()) {
            return Ok(pool.clone());
        }
        // Full queues on both sides, one burst in each TX buffer, and the caches of all lcores.
        let caches = eal.lcores().len() as u64 * u64::from(POOL_CACHE);
        let each = u64::from(options.rx_descriptors) + u64::from(options.tx_descriptors);
        let each = each + u64::from(options.burst) + caches;
        let size = (queues as u64 * each).max(POOL_MIN);
        // A size that DPDK cannot count is certainly larger than the memory.
        let mbufs = u32::try_from(size).unwrap_or(u32::MAX);
        let pool = Mempool::builder(format!("mbuf_pool_{socket}"))
            .size(mbufs)
            .cache(POOL_CACHE)
            .socket(socket)
            .build(eal)
            .map_err(|error| match error {
                MempoolError::Create { errno, .. } => Error::Failed(format!(
                    "cannot create a pool of {size} mbufs on socket {socket}: {errno}: \
                     reserve more hugepages, or use fewer descriptors"
                )),
                other => Error::failed(other),
            })?;
        self.0.insert(socket.get(), pool.clone());
        Ok(pool)
    }
}

fn choose_configuration(options: &Options) -> PortConfig {
    let config = PortConfig::default()
        .rx_queues(options.queues_per_port)
        .tx_queues(options.queues_per_port)
        .rx_descriptors(options.rx_descriptors)
        .tx_descriptors(options.tx_descriptors)
        .rx_interrupts(options.idle_sleep);
    match options.mtu {
        Some(mtu) => config.mtu(mtu).scatter(mtu > ETHER_MTU),
        None => config,
    }
}

/// Configures and starts the port, and reads its MAC address.
pub(crate) fn setup_port(
    port: Port<Unconfigured>,
    pair: PortPair,
    options: &Options,
    pool: &Mempool,
) -> Result<(ForwardingPort, Queues), Error> {
    let config = choose_configuration(options);
    let configured = port.configure(&config, pool).map_err(Error::failed)?;
    let (port, rx, tx) = configured.start().map_err(Error::failed)?;
    let mac = port.mac_addr().map_err(Error::failed)?;
    if options.promiscuous
        && let Err(error) = port.set_promiscuous(true)
    {
        warn(error);
    }
    Ok((ForwardingPort { port, peer: pair.peer, mac, link_up: true }, (rx, tx)))
}

/// Prints the links that have changed since the last call; the first call prints those that are down. A removed port counts
/// as down.
///
/// Some drivers notice that their peer has disconnected, and look for a new one, only when the link is queried.
pub(crate) fn report_links(ports: &mut [ForwardingPort], out: &mut impl Write) -> io::Result<()> {
    for ForwardingPort { port, link_up, .. } in ports {
        let up = port.link().is_ok_and(|link| link.up);
        if up != *link_up {
            let state = if up { "up" } else { "down" };
            writeln!(out, "l2fwd: port {} ({}): link {state}", port.id(), port.name())?;
        }
        *link_up = up;
    }
    out.flush()
}

/// Whether all ports work after a stop and a start. Warns of the first that does not.
pub(crate) fn can_reset(ports: &[ForwardingPort]) -> bool {
    for ForwardingPort { port, .. } in ports {
        if let Ok(info) = port.info()
            && !info.restarts
        {
            let (id, name, driver) = (port.id(), port.name(), info.driver);
            warn(format_args!("port {id} ({name}): no port is reset: {driver} does not work after a stop"));
            return false;
        }
    }
    true
}

/// Stops all ports, which takes all their queues, then starts them again.
pub(crate) fn reset_ports(ports: Vec<ForwardingPort>, mut queues: BTreeMap<u16, Queues>) -> Result<Started, Error> {
    let mut stopped = Vec::new();
    for ForwardingPort { port, peer, mac, link_up } in ports {
        let (rx, tx) = queues.remove(&port.id().get()).unwrap_or_default();
        let port = port.stop(rx, tx).map_err(Error::failed)?;
        stopped.push((port, peer, mac, link_up));
    }
    let mut started = Started::default();
    for (port, peer, mac, link_up) in stopped {
        let (port, rx, tx) = port.start().map_err(Error::failed)?;
        started.1.insert(port.id().get(), (rx, tx));
        started.0.push(ForwardingPort { port, peer, mac, link_up });
    }
    Ok(started)
}
