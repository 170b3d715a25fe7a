// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Every number that a builder takes: at its documented maximum, one above, and around the powers of two at which C drops
//! the upper bits of a product. A number above the maximum is refused before DPDK computes with it; one below is accepted,
//! or fails for lack of memory. `docs/contracts.md` names the computation of each function.

use crate::{
    frames::pool,
    offloads::with_tap,
    process::{attach, folder, isolated, isolated_cases, isolated_in},
};
use Answer::{Made, NoMemory, Refused};
use dpdk_rs::{
    Burst, CreateError, DynField, Eal, Mempool, MempoolError, PoolDriver, Port, PortConfig, PortError, Ring,
    fragment::FragmentTable,
    lookup::{Acl, AclError, AclRule, Fib, Fib6, FibBuilder, FieldDef, FieldMatch, HashTable, Lpm, Lpm6},
    memory::{AllocError, Memzone, ObjectPool},
    message::MAX_FILES,
    meter::{SrTcm, SrTcmParams, TrTcm4115, TrTcm4115Params},
    offload::GroTable,
    port::{RssFields, Unconfigured},
    reorder::Reorder,
    timer::Timers,
};
use std::{num::NonZeroU32, time::Duration};

const EINVAL: i32 = 22;
const ENOMEM: i32 = 12;
/// What DPDK reports for a pool if memory was available, but only in pieces that are too small.
const ENOBUFS: i32 = 105;

/// What became of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Made,
    NoMemory,
    Refused,
}

impl Answer {
    fn of_errno(errno: i32) -> Self {
        match errno {
            ENOMEM | ENOBUFS => NoMemory,
            EINVAL => Refused,
            other => panic!("error number {other}"),
        }
    }

    fn of<T>(result: Result<T, CreateError>) -> Self {
        match result {
            Ok(_) => Made,
            Err(CreateError::TooLarge { .. }) => Refused,
            Err(error) => Self::of_errno(error.errno().expect("DPDK refused").get()),
        }
    }

    fn of_pool<T>(result: Result<T, MempoolError>) -> Self {
        result.map_or_else(|error| Self::of_errno(error.errno().expect("DPDK refused").get()), |_| Made)
    }

    /// Of a call that fails only for a number beyond its range.
    fn of_range<T, E>(result: Result<T, E>) -> Self {
        if result.is_ok() { Made } else { Refused }
    }
}

/// Asks for the maximum, one more, and the borders of 16, 31 and 32 bits, as far as the type of the number has them.
fn check<N: TryFrom<u64>>(what: &str, most: u64, make: impl Fn(N) -> Answer) {
    let borders = [16, 31, 32].map(|bits| 1_u64 << bits);
    let numbers = borders.into_iter().flat_map(|border| [border - 1, border, border + 1]);
    for number in [most, most.saturating_add(1), u64::MAX].into_iter().chain(numbers) {
        let Ok(asked) = N::try_from(number) else { continue };
        let answer = make(asked);
        assert_eq!(answer == Refused, number > most, "{what} {number}: {answer:?}, and the maximum is {most}");
    }
}

#[test]
fn routes_and_groups() {
    isolated(&[], |eal| {
        check("rules of Lpm", 1 << 26, |n| Answer::of(Lpm::builder("lpm").rules(n).build(&eal)));
        check("groups of Lpm", (1 << 22) - 1, |n| Answer::of(Lpm::builder("lpm").tbl8s(n).build(&eal)));
        check("rules of Lpm6", 1 << 26, |n| Answer::of(Lpm6::builder("lpm6").rules(n).build(&eal)));
        check("groups of Lpm6", 1 << 21, |n| Answer::of(Lpm6::builder("lpm6").tbl8s(n).build(&eal)));
        let fib = |set: &dyn Fn(FibBuilder) -> FibBuilder| Answer::of(set(Fib::builder("fib")).build(&eal));
        check("routes of Fib", 1 << 24, |n| fib(&|fib| fib.routes(n).tree()));
        check("groups of Fib", 1 << 20, |n| fib(&|fib| fib.tbl8s(n)));
        check("groups of Fib with entries of 8 bytes", 1 << 20, |n| fib(&|fib| fib.tbl8s(n).last_next_hop(1 << 40)));
        check("next hops of Fib", (1 << 63) - 2, |n| fib(&|fib| fib.last_next_hop(n).tree()));
        let fib6 =
            |set: &dyn Fn(FibBuilder<Fib6>) -> FibBuilder<Fib6>| Answer::of(set(Fib6::builder("fib")).build(&eal));
        check("routes of Fib6", 1 << 24, |n| fib6(&|fib| fib.routes(n).tree()));
        check("groups of Fib6", 1 << 20, |n| fib6(&|fib| fib.tbl8s(n)));
        check("groups of Fib6 with entries of 8 bytes", 1 << 20, |n| fib6(&|fib| fib.tbl8s(n).last_next_hop(1 << 40)));
        check("next hops of Fib6", (1 << 63) - 2, |n| fib6(&|fib| fib.last_next_hop(n).tree()));
    });
}

#[test]
fn next_hops() {
    isolated(&[], |eal| {
        let (v4, v6) = ("10.1.2.3".parse().unwrap(), "2001:db8::1".parse().unwrap());
        // Their tables of 64 MiB are made one after another.
        check("next hops of Lpm", (1 << 24) - 1, |n| {
            let mut table = Lpm::builder("table").build(&eal).unwrap();
            Answer::of_range(table.add(v4, 32, n).map(|()| assert_eq!(table.lookup(v4), Some(n))))
        });
        check("next hops of Lpm6", (1 << 21) - 1, |n| {
            let mut table = Lpm6::builder("table").build(&eal).unwrap();
            Answer::of_range(table.add(v6, 128, n).map(|()| assert_eq!(table.lookup(v6), Some(n))))
        });
        for (bits, most) in [(7, 126), (15, 32_766), (31, (1 << 31) - 2), (63, (1 << 63) - 2)] {
            check(&format!("next hops of {bits} bits in Fib"), most, |n| {
                let mut table = Fib::builder("table").last_next_hop(most).tbl8s(8).tree().build(&eal).unwrap();
                Answer::of_range(table.add(v4, 32, n).map(|()| assert_eq!(table.lookup(v4), Some(n))))
            });
        }
    });
}

#[test]
fn keys_rules_and_readers() {
    isolated(&[], |eal| {
        fn table<K: dpdk_rs::lookup::HashKey>(eal: &Eal, entries: u32) -> Answer {
            Answer::of(HashTable::<K, ()>::builder("table").entries(entries).build(eal))
        }
        check("entries with keys of 8 bytes", (1 << 28) - 1, |n| table::<u64>(&eal, n));
        check("entries with keys of 9 bytes", (1 << 27) - 1, |n| table::<[u8; 9]>(&eal, n));
        check("entries with keys of 64 KiB less 8", (1 << 16) - 1, |n| table::<[u8; 65_528]>(&eal, n));
        check("entries with keys of 64 KiB", u64::from(u32::MAX / 65_552), |n| table::<[u8; 65_536]>(&eal, n));
        let rcu = |readers| HashTable::<u64, ()>::builder("table").build_rcu(&eal, readers);
        check("readers", 1 << 16, |n| Answer::of(rcu(n)));
        let acl = |priority, offset| {
            let fields = [FieldDef::bitmask(0, 1), FieldDef::prefix(offset, 4)];
            let rule = AclRule { priority, userdata: NonZeroU32::MIN, fields: [FieldMatch::Any; 2] };
            match Acl::builder("acl", fields).rule(rule).build(&eal) {
                Err(AclError::Field { .. } | AclError::Rule { .. }) => Refused,
                Err(error) => panic!("{error}"),
                Ok(_) => Made,
            }
        };
        check("priority of a rule", (1 << 29) - 1, |n| acl(n, 4));
        check("offset of a field", 1 << 17, |n| acl(1, n));
    });
}

/// `lf_stack` computes the bytes of its elements in 32 bits and writes to all of them; `stack` computes those of its
/// pointers, and writes as many as the pool has mbufs.
#[test]
fn mbufs() {
    isolated(&[], |eal| {
        let builder = || Mempool::<()>::builder("pool").cache(0).data_room(0);
        check("mbufs", 1 << 27, |n| Answer::of_pool(builder().size(n).build(&eal)));
        for driver in [PoolDriver::RingMpMc, PoolDriver::RingHts, PoolDriver::Stack, PoolDriver::LockFreeStack] {
            let what = format!("mbufs in {driver}");
            check(&what, 1 << 27, |n| Answer::of_pool(builder().driver(driver).size(n).build(&eal)));
        }
        check("cached mbufs", 512, |n| Answer::of_pool(builder().size(1023).cache(n).build(&eal)));
        let pool = builder().size(1023).build(&eal).unwrap();
        check("mbufs cached for a thread", 512, |n| Answer::of_pool(pool.thread_cache(n)));
        drop(pool);
        // The largest of everything else.
        let builder = || Mempool::<[u64; 8191]>::builder("pool").data_room(u16::MAX).cache(512);
        check("large mbufs", 1 << 27, |n| Answer::of_pool(builder().size(n).build(&eal)));
        let largest = builder().cache(0).size(31).build(&eal).unwrap();
        let mut packet = largest.alloc().unwrap();
        packet.private_mut()[8190] = 7;
        let room = usize::from(u16::MAX) - 128;
        packet.append(room).unwrap()[room - 1] = 9;
        assert!(packet.append(1).is_err());
    });
}

/// Mbufs count references and segments in 16 bits.
#[test]
fn references_and_segments() {
    isolated(&[], |eal| {
        let pool = |name, size, data_room| -> Mempool {
            Mempool::builder(name).size(size).cache(0).data_room(data_room).build(&eal).unwrap()
        };
        let (large, none) = (pool("large", 3, u16::MAX), pool("none", 20_000, 0));
        let mut packet = large.alloc().unwrap();
        packet.append(32_766).unwrap();
        let shares: Vec<_> = std::iter::from_fn(|| packet.share(&none)).collect();
        assert_eq!(shares.len(), (1 << 14) - 1, "the packet itself refers to the data, too");
        drop(shares);
        drop(none);
        let byte = pool("byte", 32_800, 128 + 1);
        assert_eq!(packet.copy(&byte).unwrap().segment_count(), 32_766);
        packet.append(1).unwrap();
        assert!(packet.copy(&byte).is_none());
        assert_eq!(byte.available(), byte.size());
    });
}

#[test]
fn elements_of_rings_and_pools() {
    isolated(&[], |eal| {
        fn ring<T: Send>(eal: &Eal, capacity: u32) -> Answer {
            let one_to_one = Answer::of(Ring::<T>::builder("ring").capacity(capacity).build_spsc(eal));
            assert_eq!(Answer::of(Ring::<T>::builder("ring").capacity(capacity).build(eal)), one_to_one);
            one_to_one
        }
        check("elements of 4 bytes", (1 << 30) - 1, |n| ring::<u32>(&eal, n));
        check("elements of 8 bytes", (1 << 30) - 1, |n| ring::<u64>(&eal, n));
        check("elements of 12 bytes", (1 << 29) - 1, |n| ring::<[u32; 3]>(&eal, n));
        check("elements of 4 KiB", (1 << 21) - 1, |n| ring::<[u32; 1024]>(&eal, n));
        let objects =
            |size, cache| Answer::of(ObjectPool::<u8>::builder("pool").size(size).cache(cache).build(&eal, |_| 0));
        check("objects", 1 << 27, |n| objects(n, 0));
        check("cached objects", 512, |n| objects(1023, n));
        let large =
            |size| Answer::of(ObjectPool::<[u8; 1 << 20]>::builder("pool").size(size).build(&eal, |_| panic!()));
        check("objects of 1 MiB", 1 << 27, large);
    });
}

#[test]
fn bytes() {
    isolated(&[], |eal| {
        check("bytes of a zone", 1 << 47, |n| Answer::of(Memzone::builder("zone", n).build(&eal)));
        let heap = eal.heap();
        check("bytes of a box", 1 << 47, |n| match heap.boxed_slice(n, |_| 0_u8) {
            Ok(_) => Made,
            Err(AllocError::Malloc { .. }) => NoMemory,
            Err(_) => Refused,
        });
        // Mbufs have 128 bytes, of which most are taken.
        assert!(DynField::<[u8; 128]>::register(&eal, "128").is_err());
        assert!(DynField::<[u8; 65_536 + 4]>::register(&eal, "65,540").is_err());
        assert!(DynField::<[[u8; 65_536]; 65_536]>::register(&eal, "4 GiB").is_err());
        // A power of two, which DPDK takes in 32 bits.
        for bits in 0..32 {
            assert_ne!(Answer::of(Memzone::builder("zone", 64).align(1 << bits).build(&eal)), Refused, "2^{bits}");
        }
        for align in [(1 << 31) - 1, (1 << 31) + 1, u32::MAX] {
            assert_eq!(Answer::of(Memzone::builder("zone", 64).align(align).build(&eal)), Refused, "{align}");
        }
        for align in [1 << 31, 1 << 32, (1 << 32) + 1, 1 << 63] {
            assert!(heap.clone().align(align).boxed(0_u8).is_err(), "{align}");
        }
    });
}

#[test]
fn waiting_packets() {
    isolated(&[], |eal| {
        // Those that are no powers of two are refused too.
        check("slots of Reorder", 1 << 24, |n: u32| match Answer::of(Reorder::<()>::builder(n).build(&eal)) {
            Refused if n < 1 << 24 && !n.is_power_of_two() => NoMemory,
            answer => answer,
        });
        let fragments = |n| FragmentTable::<()>::builder().datagrams(n).build(&eal);
        check("datagrams", 1 << 22, |n| Answer::of(fragments(n)));
        for timeout in [Duration::from_nanos(1), Duration::from_secs(1 << 32), Duration::MAX] {
            assert!(FragmentTable::<()>::builder().timeout(timeout).build(&eal).is_ok(), "{timeout:?}");
            assert!(GroTable::<()>::builder().timeout(timeout).build(&eal).is_ok(), "{timeout:?}");
        }
        // Both factors have 16 bits: 2^20, one more, 2^20 + 2^10, 2^31 less 2^15, and the largest.
        for (flows, packets, made) in [
            (1024, 1024, true),
            (61_681, 17, false),
            (1025, 1024, false),
            (65_535, 32_768, false),
            (65_535, 65_535, false),
        ] {
            let answer = Answer::of(GroTable::<()>::builder().flows(flows).packets_per_flow(packets).build(&eal));
            assert_eq!(answer != Refused, made, "{flows} flows of {packets} packets");
        }
    });
}

#[test]
fn rates_and_times() {
    isolated(&[], |eal| {
        let now = eal.clock().now();
        let meter = |cir, cbs, ebs| Answer::of_range(SrTcm::new(&eal, SrTcmParams { cir, cbs, ebs }, now));
        check("committed rate", 1 << 40, |n| meter(n, 1, 1));
        check("committed burst", 1 << 40, |n| meter(1, n, 1));
        check("excess burst", 1 << 40, |n| meter(1, 1, n));
        let beside = |eir| TrTcm4115::new(&eal, TrTcm4115Params { cir: 1, eir, cbs: 1, ebs: 1 }, now);
        check("excess rate", 1 << 40, |n| Answer::of_range(beside(n)));
        let timers = Timers::new(&eal).unwrap();
        let timer = timers.timer(|| panic!("it expires after hundreds of years"));
        for time in [Duration::from_secs(1 << 32), Duration::from_secs(u64::MAX / 1_000_000_000), Duration::MAX] {
            timer.arm(eal.main_lcore(), time).unwrap();
            timers.manage().unwrap();
            assert!(timer.is_pending(), "{time:?}");
        }
    });
}

/// The port of this number: one that was not configured can be taken again.
fn port(eal: &Eal, number: usize) -> Port<Unconfigured> {
    eal.ports().swap_remove(number)
}

#[test]
fn queues_descriptors_and_frames() {
    isolated_cases(2, &["net_null0", "net_ring0"], |eal, case| {
        let small: Mempool = pool(&eal, "pool");
        let info = port(&eal, case).info().unwrap();
        let refused = |config: PortConfig| {
            let error = port(&eal, case).configure(&config, &small).unwrap_err();
            assert!(matches!(error, PortError::Unsupported { .. }), "{error}");
        };
        let above = |most: u16| (most < u16::MAX).then(|| [most + 1, u16::MAX]).into_iter().flatten();
        above(info.max_rx_queues).for_each(|queues| refused(PortConfig::default().rx_queues(queues)));
        above(info.max_tx_queues).for_each(|queues| refused(PortConfig::default().tx_queues(queues)));
        above(info.max_mtu).for_each(|mtu| refused(PortConfig::default().mtu(mtu)));
        above(info.rx_descriptors.max).for_each(|count| refused(PortConfig::default().rx_descriptors(count)));
        above(info.tx_descriptors.max).for_each(|count| refused(PortConfig::default().tx_descriptors(count)));
        let most = PortConfig::default()
            .rx_queues(info.max_rx_queues)
            .tx_queues(info.max_tx_queues)
            .rx_descriptors(info.rx_descriptors.max)
            .tx_descriptors(info.tx_descriptors.max);
        let (port, mut rx, mut tx) = port(&eal, case).configure(&most, &small).unwrap().start().unwrap();
        let mut burst = Burst::<(), 4>::new();
        rx.last_mut().unwrap().rx(&mut burst);
        tx.last_mut().unwrap().tx(&mut burst);
        let table = port.rss_table().map_or(0, |table| table.len());
        for len in [0, 1, table + 1, 65_535, 65_536, 65_536 + table, (1 << 20) + table] {
            assert!(port.set_rss_table(&vec![0; len]).is_err(), "{len} entries, and the table has {table}");
        }
        for len in [0, 1, 39, 41, 255, 256, 256 + 40, 65_536 + 40] {
            assert!(port.set_rss_hash(RssFields::IP, Some(&vec![0; len])).is_err(), "a key of {len} bytes");
        }
        port.stop(rx, tx).unwrap();
    });
}

/// `net_memif` computes the bytes of the buffers of all queues in 32 bits, and numbers the buffers in 16.
#[test]
fn buffers_of_memif() {
    isolated(&[], |eal| {
        let small: Mempool = pool(&eal, "pool");
        let configured = |name: &str, arguments: &str, queues| {
            let socket = folder().join("memif.sock");
            let device = format!("{name},role=server,socket={},socket-abstract=no,{arguments}", socket.display());
            // Those that were refused are free again, too.
            let port = attach(&eal, &device).unwrap().into_iter().find(|port| port.name() == name).unwrap();
            let config = PortConfig::default().rx_queues(queues).tx_queues(queues);
            let result = port.configure(&config, &small).map(std::mem::forget);
            assert!(matches!(result, Ok(()) | Err(PortError::Unsupported { .. })), "{result:?}");
            result.is_ok()
        };
        assert!(configured("net_memif0", "id=0,bsize=2048,rsize=10", 32));
        assert!(!configured("net_memif1", "id=1,bsize=2048,rsize=10", 33));
        assert!(!configured("net_memif2", "id=2,rsize=14", 64));
        assert!(configured("net_memif3", "id=3,bsize=32767,rsize=14", 2));
        assert!(!configured("net_memif4", "id=4,bsize=65535,rsize=014", 2));
    });
}

/// `net_tap` writes a file for each queue to an array on the stack, as long as the list of files of a message. `net_tun` is
/// the same driver.
#[test]
fn queues_of_tap() {
    let Some(namespace) = with_tap() else { return };
    isolated_in(&namespace, &["net_tap0", "net_tap1", "net_tap2", "net_tun0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        for (port, queues) in eal.ports().into_iter().zip([4, 5, 16, 16]) {
            let config = PortConfig::default().rx_descriptors(16).rx_queues(queues).tx_queues(queues);
            let result = port.configure(&config, &pool).and_then(Port::start).map(|_| ());
            if 2 * usize::from(queues) > MAX_FILES {
                assert!(matches!(result, Err(PortError::Unsupported { .. })), "{queues}: {result:?}");
            } else {
                assert!(result.is_ok(), "{queues}: {result:?}");
            }
        }
    });
}
