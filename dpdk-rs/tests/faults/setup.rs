// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Pools and ports without memory, files or threads: while they are made, configured, started, stopped and closed.
//!
//! memif is left out: with DPDK 22.11 the process crashes at times when a memif port is closed, also without a fault.
//! The EAL's interrupt thread still reads the handle of the socket that the driver has freed.

use crate::{
    capture,
    frames::{frame, packet},
    interposer::{Kind, Which, disarm, with_interposer},
    namespace::namespace,
    process::{eal_args, folder, init},
    sweep::{Outcome, sweep},
};
use dpdk_rs::{Burst, Eal, Mempool, MempoolError, PortConfig, PortError, TxQueue};

fn eal(devices: &[String]) -> Eal {
    let devices: Vec<&str> = devices.iter().map(String::as_str).collect();
    init(eal_args(&devices)).unwrap().0
}

/// Makes a pool: an error, after which the same pool can be made, or a pool that works.
fn make_pool() -> Outcome {
    let eal = eal(&[]);
    let build = || Mempool::<()>::builder("pool").size(511).cache(32).build(&eal);
    let outcome = match build() {
        Ok(pool) => {
            assert!(pool.alloc().unwrap().is_empty());
            assert_eq!(pool.available(), 511);
            Outcome::Tolerated
        }
        Err(error) => {
            let MempoolError::Create { errno, .. } = &error else { panic!("{error:?}") };
            assert!(errno.get() > 0, "{error}");
            Outcome::Error
        }
    };
    disarm();
    let pool = build().unwrap();
    assert_eq!(pool.available(), 511);
    outcome
}

/// What fails, and how often.
type Fault = (Kind, fn(u64) -> Which);

/// Each in a process of its own.
const SWEEPS: [Fault; 7] = [
    (Kind::Memory, Which::Only),
    (Kind::Heap, Which::Only),
    (Kind::Mapping, Which::Only),
    (Kind::File, Which::Only),
    (Kind::Thread, Which::Only),
    (Kind::Memory, Which::From),
    (Kind::Heap, Which::From),
];

#[test]
fn pools() {
    with_interposer(&[], SWEEPS.len(), |case| {
        let (kind, which) = SWEEPS[case];
        sweep(kind, c"rte_pktmbuf_pool_create", which, (0, 1), &[], make_pool);
    });
}

/// Takes the first of two ports from its configuration to its end: an error, or a port that works. The other works in
/// any case.
fn use_ports(devices: &[String], config: &PortConfig) -> Outcome {
    let eal = eal(devices);
    let pool: Mempool = Mempool::builder("pool").size(2047).cache(32).build(&eal).unwrap();
    let mut ports = eal.ports();
    assert_eq!(ports.len(), 2);
    let (first, second) = (ports.remove(0), ports.remove(0));
    let outcome = match first.configure(config, &pool).and_then(dpdk_rs::Port::start) {
        Ok((port, rx, mut tx)) => {
            use_queue(&pool, &mut tx[0]);
            // Those that were stopped are closed when they are dropped.
            let _ = port.stop(rx, tx);
            Outcome::Tolerated
        }
        Err(error) => {
            let PortError::Refused { port, errno, .. } = &error else { panic!("{error:?}") };
            assert!(port.get() == 0 && errno.get() > 0, "{error}");
            Outcome::Error
        }
    };
    disarm();
    let (_port, _rx, mut tx) = second.configure(config, &pool).unwrap().start().unwrap();
    use_queue(&pool, &mut tx[0]);
    assert!(eal.ports().is_empty(), "the first is closed");
    outcome
}

/// Sends a frame, which a device without a peer does not take.
fn use_queue(pool: &Mempool, tx: &mut TxQueue) {
    let mut burst = Burst::<(), 1>::new();
    burst.push(packet(pool, &frame(1, 64))).unwrap();
    tx.tx(&mut burst);
}

fn ports_without((kind, which): Fault, devices: &[String]) {
    let config = PortConfig::default().rx_descriptors(256).tx_descriptors(256);
    let tolerated = sweep(kind, c"rte_eth_*", which, (0, 1), &[], || use_ports(devices, &config));
    // The tap driver makes a pool, which is then made in smaller pieces.
    assert!(tolerated <= usize::from(devices[0].starts_with("net_tap")), "an error has been lost");
}

fn two(device: impl Fn(usize) -> String) -> Vec<String> {
    (0..2).map(device).collect()
}

#[test]
fn null_ports() {
    with_interposer(&[], SWEEPS.len(), |case| {
        let devices = two(|number| format!("net_null{number},no-rx=1"));
        ports_without(SWEEPS[case], &devices);
    });
}

#[test]
fn ring_ports() {
    with_interposer(&[], SWEEPS.len(), |case| {
        let devices = two(|number| format!("net_ring{number}"));
        ports_without(SWEEPS[case], &devices);
    });
}

#[test]
fn pcap_ports() {
    with_interposer(&[], SWEEPS.len(), |case| {
        let devices = two(|number| {
            let (input, output) = (folder().join(format!("in{number}")), folder().join(format!("out{number}")));
            capture::write(&input, &[frame(1, 64)]);
            format!("net_pcap{number},rx_pcap={},tx_pcap={}", input.display(), output.display())
        });
        ports_without(SWEEPS[case], &devices);
    });
}

#[test]
fn vhost_ports() {
    with_interposer(&[], SWEEPS.len(), |case| {
        let devices = two(|number| format!("net_vhost{number},iface={}", folder().join(number.to_string()).display()));
        ports_without(SWEEPS[case], &devices);
    });
}

#[test]
fn tap_ports() {
    let Some(namespace) = namespace("") else { return };
    with_interposer(&namespace, SWEEPS.len(), |case| {
        let devices = two(|number| format!("net_tap{number},iface=fault{number}"));
        ports_without(SWEEPS[case], &devices);
    });
}

#[test]
fn af_packet_ports() {
    let Some(namespace) =
        namespace("ip link add fault0 type veth peer name fault1; ip link set fault0 up; ip link set fault1 up")
    else {
        return;
    };
    with_interposer(&namespace, SWEEPS.len(), |case| {
        let devices = two(|number| format!("net_af_packet{number},iface=fault{number}"));
        ports_without(SWEEPS[case], &devices);
    });
}
