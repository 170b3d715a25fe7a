// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Libraries and drivers of DPDK adopt what they find under their own names. Here no name of the program is one of
//! these, since each begins with `rs.` in DPDK.

use crate::{
    frames::{bytes, frame, packet, pool, receive, send, start, until},
    process::{attach, eal_args, folder, init, isolated, isolated_bare},
};
use dpdk_rs::{
    CreateError, DynField, DynFlag, Eal, Mempool, MempoolError, Ring, RxTimestamp,
    latency::Latency,
    lookup::{Acl, AclError, AclRule, Fib, Fib6, FieldDef, FieldMatch, HashTable, Lpm, Lpm6},
    memory::{Memzone, ObjectPool},
    service::Activity,
    timer::Timers,
};
use std::{
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

const FILL: u8 = 0xa5;

/// Zones of the program with these names.
fn zones(eal: &Eal, names: &[&str], len: usize) -> Vec<Memzone> {
    let zone = |name: &&str| {
        let mut zone = Memzone::builder(*name, len).build(eal).unwrap();
        zone.bytes_mut().fill(FILL);
        zone
    };
    names.iter().map(zone).collect()
}

fn are_untouched(zones: &[Memzone]) {
    assert!(zones.iter().all(|zone| zone.bytes().iter().all(|byte| *byte == FILL)));
}

/// `rte_timer_subsystem_init` takes its tables from a zone of this name.
#[test]
fn timers_have_tables_of_their_own() {
    isolated(&[], |eal| {
        let zones = zones(&eal, &["rte_timer_mz"], 64);
        let timers = Timers::new(&eal).unwrap();
        let calls = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&calls);
        let timer = timers.timer(move || {
            count.fetch_add(1, SeqCst);
        });
        timer.arm(eal.main_lcore(), Duration::ZERO).unwrap();
        until("the timer expires", || {
            timers.manage().unwrap();
            calls.load(SeqCst) == 1
        });
        are_untouched(&zones);
    });
}

/// `rte_metrics_init` and `rte_latencystats_init` take their counters from zones of these names.
#[test]
fn latency_has_counters_of_its_own() {
    isolated(&[], |eal| {
        let zones = zones(&eal, &["RTE_METRICS", "rte_latencystats"], 64);
        let latency = eal.enable_latency_stats(Duration::ZERO).unwrap();
        assert_eq!(latency.read().unwrap(), Latency::default());
        are_untouched(&zones);
    });
}

/// A zone of either name holds the name of the driver for all pools, which may be one for a single thread. A driver that does
/// not exist shows whether the zone is read.
#[test]
fn zones_do_not_choose_the_driver_of_pools() {
    isolated(&[], |eal| {
        let mut zones = ["mbuf_platform_pool_ops", "mbuf_user_pool_ops"]
            .map(|name| Memzone::builder(name, 64).build(&eal).unwrap());
        for zone in &mut zones {
            zone.bytes_mut()[..4].copy_from_slice(b"none");
        }
        let pool: Mempool = pool(&eal, "pool");
        assert_eq!(pool.available(), 511);
    });
}

/// The driver of virtio takes a zone of such a name for a queue, and frees it with the device.
#[test]
fn virtio_has_queues_of_its_own() {
    isolated_bare(|| {
        let socket = folder().join("vhost.sock");
        let (eal, _) = init(eal_args(&[&format!("net_vhost0,iface={}", socket.display())])).unwrap();
        let names = ["port1_vq0", "port1_vq1", "port1_vq1_hdr", "port1_vq2", "eth_p1_q0_rx_ring"];
        let zones = zones(&eal, &names, 1 << 16);
        let pool: Mempool = pool(&eal, "pool");
        let (vhost, mut rx, _tx) = start(eal.ports().remove(0), &pool);
        let peer = attach(&eal, &format!("net_virtio_user0,path={}", socket.display())).unwrap().remove(0);
        let (peer, _peer_rx, mut peer_tx) = start(peer, &pool);
        until("the link is up", || vhost.link().unwrap().up);
        send(&mut peer_tx, packet(&pool, &frame(1, 60)));
        assert_eq!(bytes(&receive(&mut rx)), frame(1, 60));
        are_untouched(&zones);
        drop((peer, _peer_rx, peer_tx));
        are_untouched(&zones);
        for (zone, name) in zones.iter().zip(names) {
            assert_eq!(Memzone::lookup(&eal, name), Some(zone.info()), "it was not freed");
        }
    });
}

/// The driver of memif keeps its sockets in a hash table of this name, wherever it comes from.
#[test]
fn memif_has_a_table_of_its_own() {
    isolated(&[], |eal| {
        let mut table = HashTable::<[u8; 256], String>::builder("memif-sh").entries(8).build(&eal).unwrap();
        table.insert([1; 256], "mine".to_owned()).unwrap();
        let socket = folder().join("memif.sock");
        let device = format!("net_memif0,role=server,socket={},socket-abstract=no", socket.display());
        // The driver of 22.11 crashes at times when such a port is closed.
        std::mem::forget(attach(&eal, &device).unwrap());
        assert_eq!((table.len(), table.get(&[1; 256]).map(String::as_str)), (1, Some("mine")));
    });
}

/// Fields of mbufs in which libraries and drivers keep pointers and indexes.
#[test]
fn fields_of_dpdk_are_others() {
    isolated(&[], |eal| {
        let field = DynField::<u64>::register(&eal, "rte_dynfield_timestamp").unwrap();
        let flag = DynFlag::register(&eal, "rte_dynflag_rx_timestamp").unwrap();
        let dpdk = RxTimestamp::register(&eal).unwrap();
        let pool: Mempool = pool(&eal, "pool");
        let mut packet = packet(&pool, &frame(1, 60));
        packet.set_field(field, 7);
        packet.set_flag(flag, true);
        assert_eq!((packet.rx_timestamp(&dpdk), packet.field(field)), (None, 7));
    });
}

fn acl(eal: &Eal, name: &str) -> Result<(), CreateError> {
    let rule = AclRule { priority: 1, userdata: NonZeroU32::MIN, fields: [FieldMatch::Any] };
    match Acl::builder(name, [FieldDef::bitmask(0, 1)]).rule(rule).build(eal) {
        Ok(_) => Ok(()),
        Err(AclError::Create(error)) => Err(error),
        Err(error) => panic!("{error}"),
    }
}

/// The longest name of each kind, and one byte more.
#[test]
fn longest_names() {
    fn refused(result: Result<(), CreateError>, most: usize) {
        let error = result.unwrap_err();
        assert!(matches!(&error, CreateError::Name { longest, .. } if *longest == most), "{error}");
    }
    isolated(&[], |eal| {
        type Make<'a> = &'a dyn Fn(&str) -> Result<(), CreateError>;
        let kinds: [(usize, Make<'_>); 9] = [
            (28, &|name| Memzone::builder(name, 64).build(&eal).map(drop)),
            (25, &|name| Ring::<u64>::builder(name).build(&eal).map(drop)),
            (22, &|name| ObjectPool::<u64>::builder(name).build(&eal, |_| 0).map(drop)),
            (18, &|name| HashTable::<u64, u64>::builder(name).build(&eal).map(drop)),
            (28, &|name| Lpm::builder(name).build(&eal).map(drop)),
            (18, &|name| Lpm6::builder(name).build(&eal).map(drop)),
            (19, &|name| Fib::builder(name).build(&eal).map(drop)),
            (19, &|name| Fib6::builder(name).build(&eal).map(drop)),
            (28, &|name| acl(&eal, name)),
        ];
        for (most, make) in kinds {
            make(&"x".repeat(most)).unwrap();
            refused(make(&"x".repeat(most + 1)), most);
        }
        let pool = |len| Mempool::<()>::builder("x".repeat(len)).size(7).cache(0).build(&eal);
        pool(22).unwrap();
        assert_eq!(pool(23).unwrap_err(), MempoolError::Name("x".repeat(23)));
        assert!(DynFlag::register(&eal, &"x".repeat(60)).is_ok());
        assert!(DynFlag::register(&eal, &"x".repeat(61)).is_err());
        assert!(eal.register_service(&"x".repeat(28), || Activity::Idle).is_ok());
        assert!(eal.register_service(&"x".repeat(29), || Activity::Idle).is_err());
    });
}
