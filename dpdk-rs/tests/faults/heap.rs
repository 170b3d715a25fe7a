// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The EAL's memory is all in pools: a call that needs more fails, until a pool is freed.

use crate::{
    frames::{bytes, frame, packet, receive, send, start},
    namespace::namespace,
    process::{isolated, isolated_in},
};
use dpdk_rs::{Eal, Mempool, MempoolError, Port, PortConfig, PortError, lcore, port::Unconfigured};

const ENOMEM: i32 = 12;

/// What DPDK reports for a pool when memory was available, but only in pieces that are too small.
const ENOBUFS: i32 = 105;

fn is_out_of_memory(error: &MempoolError) -> bool {
    matches!(error, MempoolError::Create { errno, .. } if [ENOMEM, ENOBUFS].contains(&errno.get()))
}

/// Creates pools until not even a pool of a single mbuf can be created.
fn fill(eal: &Eal) -> Vec<Mempool> {
    let mut pools = Vec::new();
    for size in [8191, 1023, 127, 15, 1] {
        loop {
            match Mempool::builder(format!("fill{}", pools.len())).size(size).cache(0).build(eal) {
                Ok(pool) => pools.push(pool),
                Err(error) if is_out_of_memory(&error) => break,
                Err(error) => panic!("{error:?}"),
            }
        }
    }
    pools
}

/// A device that needs 60,000 bytes for each queue, and a pool with as much room.
const HUNGRY: [&str; 4] = ["net_null0,size=60000", "net_null1,size=60000", "net_ring0", "net_null2,size=60000"];

fn wide_pool(eal: &Eal) -> Mempool {
    Mempool::builder("wide").size(63).cache(0).data_room(u16::MAX).build(eal).unwrap()
}

fn refused(port: Port<Unconfigured>, pool: &Mempool) {
    let error = port.configure(&PortConfig::default(), pool).unwrap_err();
    assert_eq!(error.errno().map(|errno| errno.get()), Some(ENOMEM), "{error}");
    assert!(error.call().unwrap().starts_with("rte_eth_"), "{error:?}");
}

#[test]
fn ports_without_heap() {
    isolated(&HUNGRY, |eal| {
        let pool = wide_pool(&eal);
        let mut pools = fill(&eal);
        assert!(pools.len() > 5, "{}", pools.len());
        let mut ports = eal.ports();
        refused(ports.remove(0), &pool);
        refused(ports.remove(0), &pool);
        // What needs no more of it works: a ring, lcores, packets of all pools.
        let (ring, mut rx, mut tx) = start(ports.remove(0), &pool);
        for pool in &pools {
            send(&mut tx, packet(pool, &frame(1, 60)));
            assert_eq!(bytes(&receive(&mut rx)), frame(1, 60));
        }
        let ran = lcore::scope(&eal, |scope| {
            let worker = eal.worker_lcores()[0].id();
            scope.launch(worker, || lcore::current().unwrap().get()).unwrap().join().unwrap()
        });
        assert_eq!(ran.unwrap(), 1);
        // One large pool less.
        pools.remove(0);
        let (_port, mut rx, _tx) = start(ports.remove(0), &pool);
        assert_eq!(receive(&mut rx).len(), 60_000);
        Mempool::<()>::builder("again").size(1023).cache(0).build(&eal).unwrap();
        drop(ring);
    });
}

/// A pool that cannot be made leaves nothing behind: what there is can be given out again and again.
#[test]
fn refused_pools_leave_nothing_behind() {
    isolated(&[], |eal| {
        let first = fill(&eal).len();
        for _ in 0..3 {
            for _ in 0..10 {
                let error = Mempool::<()>::builder("too large").size(100_000).build(&eal).unwrap_err();
                assert!(is_out_of_memory(&error), "{error}");
            }
            let again = fill(&eal).len();
            // The heap is in pieces; how it is cut changes how many of the smallest fit.
            assert!(again + 10 >= first, "{first} pools at first, then {again}");
        }
    });
}

#[test]
fn tap_without_heap() {
    let Some(namespace) = namespace("") else { return };
    isolated_in(&namespace, &["net_tap0,iface=fault0", "net_tap1,iface=fault1"], |eal| {
        let mut pools = fill(&eal);
        let mut ports = eal.ports();
        let config = PortConfig::default().rx_descriptors(64).tx_descriptors(64);
        let error = ports.remove(0).configure(&config, &pools[0]).unwrap_err();
        assert!(matches!(error, PortError::Refused { .. }), "{error:?}");
        assert!(pools.iter().all(|pool| pool.available() == pool.size()), "the device has let go of them");
        pools.remove(1);
        let (port, ..) = ports.remove(0).configure(&config, &pools[0]).unwrap().start().unwrap();
        assert!(port.link().is_ok());
    });
}
