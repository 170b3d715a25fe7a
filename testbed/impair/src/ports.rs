// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Sets up and starts the two ports.

use crate::{
    args::Options,
    error::Error,
    way::{BURST, Way},
};
use core::time::Duration;
use dpdk_rs::{
    Eal, Mempool, Port, PortConfig, RxQueue, TxBuffer, TxQueue,
    port::{Started, Unconfigured},
};
use std::io::Write as _;
use testbed_impair::{Decisions, Direction, Impairments};

const DESCRIPTORS: u16 = 1024;
/// The usual size of the rings in virtual devices.
const DEVICE_HOLDS: usize = 1024;
/// Mbufs in the cache of an lcore.
const CACHE: u32 = 256;
/// In addition to the frames that wait in queues: a cache may hold one and a half times its size.
const SPARE: usize = CACHE as usize * 3 / 2 + 2 * BURST;

struct StartedPort {
    port: Port<Started>,
    rx: RxQueue,
    tx: TxQueue,
    pool: Mempool,
}

/// Starts both ports, and joins each to the other.
pub(crate) fn start_ways(eal: &Eal, options: &Options) -> Result<([Port<Started>; 2], [Way; 2]), Error> {
    let [a, b]: [Port<Unconfigured>; 2] = eal.ports().try_into().map_err(|ports: Vec<_>| {
        let remedy = "choose two NICs with -a, or add virtual devices such as --vdev=net_ring0 before the --";
        Error::Failed(format!("two Ethernet ports are needed, and there are {}: {remedy}", ports.len()))
    })?;
    let [to_b, to_a] = &options.directions;
    let (a, b) = (start_port(eal, a, to_b)?, start_port(eal, b, to_a)?);
    let [decisions_to_b, decisions_to_a] = Decisions::of_both(options.seed, &options.directions);
    let (a_id, b_id) = (a.port.id().get(), b.port.id().get());
    let way = |rx_port, tx_port, rx, tx, pool, impairments, decisions| {
        // Without a drain time: the loop empties the buffer after every poll.
        let tx = TxBuffer::new(tx, BURST, Duration::ZERO, eal.clock());
        Way { rx_port, tx_port, rx, tx, pool, direction: Direction::new(impairments, decisions) }
    };
    let ways = [
        way(a_id, b_id, a.rx, b.tx, a.pool, to_b, decisions_to_b),
        way(b_id, a_id, b.rx, a.tx, b.pool, to_a, decisions_to_a),
    ];
    Ok(([a.port, b.port], ways))
}

/// Starts a port whose frames get these impairments.
fn start_port(eal: &Eal, port: Port<Unconfigured>, impairments: &Impairments) -> Result<StartedPort, Error> {
    let pool = Mempool::builder(format!("impair-{}", port.id()))
        .size(pool_size(impairments.limit))
        .cache(CACHE)
        .socket(port.socket())
        .build(eal)
        .map_err(|error| {
            Error::Failed(format!(
                "{error}: give the EAL more memory (hugepages, -m), or let fewer frames wait (--limit)"
            ))
        })?;
    let config = PortConfig::default().rx_descriptors(DESCRIPTORS).tx_descriptors(DESCRIPTORS);
    let port = port.configure(&config, &pool).map_err(Error::failed)?;
    let (port, mut rx, mut tx) = port.start().map_err(Error::failed)?;
    // The frames are for the stations at the other port. Some virtual devices take all frames without this mode.
    if let Err(error) = port.set_promiscuous(true) {
        let _ = writeln!(std::io::stderr(), "impair: warning: {error}");
    }
    let (Some(rx), Some(tx)) = (rx.pop(), tx.pop()) else {
        return Err(Error::Failed(format!("port {} started without its queues", port.id())));
    };
    Ok(StartedPort { port, rx, tx, pool })
}

/// Enough for full queues, for the frames that wait, and for those that a device such as a ring holds in addition.
fn pool_size(limit: usize) -> u32 {
    let mbufs = 2 * usize::from(DESCRIPTORS) + DEVICE_HOLDS + limit + SPARE;
    // A power of two minus one uses the least memory.
    mbufs.next_power_of_two() as u32 - 1
}
