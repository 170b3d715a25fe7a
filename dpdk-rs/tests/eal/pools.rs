// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How pools store their free mbufs: drivers, caches of lcores and of other threads; and the statistics of DPDK's heap.

use crate::{
    frames::{bytes, frame, packet, pool},
    process::isolated,
};
use dpdk_rs::{Burst, Mempool, MempoolError, Packet, PoolDriver, SocketId, lcore};
use std::{collections::BTreeSet, thread};

const DRIVERS: [PoolDriver; 4] =
    [PoolDriver::RingMpMc, PoolDriver::RingHts, PoolDriver::Stack, PoolDriver::LockFreeStack];

/// Takes all mbufs of a pool out one by one; their addresses in this order.
fn all(pool: &Mempool<u64>) -> Vec<Packet<u64>> {
    std::iter::from_fn(|| pool.alloc()).collect()
}

#[test]
fn every_driver_keeps_all_mbufs() {
    isolated(&[], |eal| {
        for driver in DRIVERS {
            let build = || Mempool::<u64>::builder("pool").size(255).cache(32).driver(driver).build(&eal);
            let pool = match build() {
                Err(MempoolError::Create { errno, .. }) if driver == PoolDriver::LockFreeStack && errno.get() == 95 => {
                    println!("no {driver} on this processor");
                    continue;
                }
                pool => pool.unwrap(),
            };
            let mut packets = all(&pool);
            assert_eq!((packets.len(), pool.available()), (255, 0), "{driver}");
            for (number, packet) in packets.iter_mut().enumerate() {
                *packet.private_mut() = number as u64;
                packet.append(60).unwrap().copy_from_slice(&frame(number, 60));
            }
            assert!(packets.iter().all(|packet| bytes(packet) == frame(*packet.private() as usize, 60)), "{driver}");
            // Four threads that are not lcores allocate and free at once, and nobody gets an mbuf that another thread
            // has.
            drop(packets);
            thread::scope(|scope| {
                for number in 0..4 {
                    let pool = &pool;
                    scope.spawn(move || {
                        for round in 0..500 {
                            let held: Vec<_> = (0..8).filter_map(|_| pool.alloc()).collect();
                            let mark = |place: usize| (number << 32 | round << 8 | place) as u64;
                            let mut held = held;
                            for (place, packet) in held.iter_mut().enumerate() {
                                *packet.private_mut() = mark(place);
                            }
                            assert!(held.iter().enumerate().all(|(place, packet)| *packet.private() == mark(place)));
                        }
                    });
                }
            });
            assert_eq!(pool.available(), 255, "{driver}");
            // It is freed when the last packet has come back from another thread.
            let held = pool.alloc();
            drop(pool);
            assert!(build().is_err(), "{driver}: the name is in use");
            thread::spawn(move || drop(held)).join().unwrap();
            assert_eq!(build().map(|pool| pool.available()).unwrap(), 255, "{driver}");
        }
    });
}

/// The difference between the drivers: which mbuf comes next.
#[test]
fn a_stack_gives_what_came_back_last() {
    isolated(&[], |eal| {
        for (driver, last) in [(PoolDriver::RingMpMc, false), (PoolDriver::RingHts, false), (PoolDriver::Stack, true)] {
            let pool = Mempool::<u64>::builder("pool").size(15).cache(0).driver(driver).build(&eal).unwrap();
            drop(all(&pool));
            let mut one = pool.alloc().unwrap();
            *one.private_mut() = 77;
            drop(one);
            assert_eq!(pool.alloc().map(|packet| *packet.private() == 77), Some(last), "{driver}");
        }
        let names: Vec<String> = DRIVERS.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["ring_mp_mc", "ring_mt_hts", "stack", "lf_stack"]);
    });
}

#[test]
fn an_lcore_keeps_some_until_it_gives_them_to_the_others() {
    isolated(&[], |eal| {
        let pool: Mempool<u64> = Mempool::builder("pool").size(127).cache(64).build(&eal).unwrap();
        let main = eal.main_lcore();
        assert_eq!(pool.cached(main), 0);
        drop(all(&pool));
        assert_eq!((pool.cached(main), pool.available()), (pool.cached(main).max(1), 127));
        let kept = pool.cached(main);
        let taken = || thread::scope(|scope| scope.spawn(|| all(&pool).len()).join().unwrap());
        assert_eq!(taken(), 127 - kept, "no other thread gets what the lcore keeps");
        let worker = eal.worker_lcores()[0].id();
        let seen = lcore::scope(&eal, |scope| {
            let work = || {
                pool.flush_cache();
                drop(all(&pool));
                let (own, others) = (pool.cached(worker), pool.cached(main));
                pool.flush_cache();
                (own, others, pool.cached(worker))
            };
            scope.launch(worker, work).unwrap().join().unwrap()
        })
        .unwrap();
        assert!(seen.0 > 0 && (seen.1, seen.2) == (kept, 0), "{seen:?}");
        pool.flush_cache();
        assert_eq!((pool.cached(main), pool.available(), taken()), (0, 127, 127));
        let none: Mempool<u64> = Mempool::builder("none").size(7).cache(0).build(&eal).unwrap();
        drop(all(&none));
        none.flush_cache();
        assert_eq!(none.cached(main), 0);
    });
}

#[test]
fn a_thread_that_is_no_lcore_has_a_cache_of_its_own() {
    isolated(&[], |eal| {
        let pool: Mempool<u64> = Mempool::builder("pool").size(255).cache(0).build(&eal).unwrap();
        let mut cache = pool.thread_cache(32).unwrap();
        assert_eq!((cache.len(), cache.is_empty(), pool.available()), (0, true, 255));
        thread::scope(|scope| {
            scope.spawn(|| {
                let one = cache.alloc().unwrap();
                assert_eq!((one.len(), one.headroom(), one.segment_count(), one.port()), (0, 128, 1, None));
                // More than one was taken out, for those to come.
                let kept = cache.len();
                assert!(kept > 0 && pool.available() == 255 - kept - 1);
                cache.free(one);
                assert_eq!((cache.len(), pool.available()), (kept + 1, 255 - kept - 1));
                let mut burst = Burst::<u64, 16>::new();
                assert_eq!((cache.alloc_bulk(&mut burst), burst.len(), cache.alloc_bulk(&mut burst)), (16, 16, 0));
                let different: BTreeSet<_> = burst.iter().map(|packet| packet.data().as_ptr()).collect();
                assert_eq!(different.len(), 16);
                for (number, packet) in burst.iter_mut().enumerate() {
                    packet.append(60).unwrap().copy_from_slice(&frame(number, 60));
                }
                assert!(burst.iter().enumerate().all(|(number, packet)| bytes(packet) == frame(number, 60)));
                cache.free_bulk(&mut burst);
                assert!(burst.is_empty());
                cache.free_bulk(&mut burst);
                assert_eq!(cache.len() + pool.available(), 255);
            });
        });
        // It keeps the pool, and may be used on one thread after the other.
        drop(pool);
        assert!(Mempool::<u64>::builder("pool").size(1).build(&eal).is_err());
        assert!(cache.alloc().is_some_and(|mut packet| packet.append(1).is_ok()));
        cache.flush();
        assert!(cache.is_empty());
        drop(cache);
        Mempool::<u64>::builder("pool").size(1).cache(0).build(&eal).unwrap();
    });
}

/// Chains of several pools, and data that others refer to: each mbuf goes where it belongs, once.
#[test]
fn a_cache_takes_only_what_is_of_its_pool() {
    isolated(&[], |eal| {
        let own: Mempool = Mempool::builder("own").size(127).cache(0).build(&eal).unwrap();
        let other: Mempool<u64> = pool(&eal, "other");
        let mut cache = own.thread_cache(512).unwrap();
        let mut chain = packet(&other, &frame(1, 10));
        for number in 0..3 {
            chain.chain(packet(&own, &frame(number, 20))).unwrap();
            chain.chain(packet(&other, &frame(number, 30))).unwrap();
        }
        cache.free(chain);
        assert_eq!((cache.len(), own.available(), other.available()), (3, 124, other.size()));
        let mut first = packet(&own, &frame(1, 100));
        let share = first.share(&other).unwrap();
        cache.free(first);
        assert_eq!((cache.len(), own.available(), bytes(&share)), (3, 123, frame(1, 100)));
        // The last reference is dropped without the cache by DPDK, and the mbuf goes to the pool.
        cache.free(share);
        assert_eq!((cache.len(), own.available(), other.available()), (3, 124, other.size()));
        // More than fit at once, in one chain.
        let mut long = packet(&own, &[1]);
        for _ in 0..99 {
            long.chain(packet(&own, &[2])).unwrap();
        }
        cache.free(long);
        assert_eq!((cache.len(), own.available()), (103, 24));
        assert!(own.alloc_bulk(&mut Burst::<(), 32>::new()) == 0, "they are in the cache");
        cache.flush();
        assert_eq!((cache.len(), own.available()), (0, 127));
        let held: Vec<Packet> = std::iter::from_fn(|| cache.alloc()).collect();
        assert_eq!((held.len(), own.available()), (127, 0));
        drop((cache, held));
        assert_eq!(own.available(), 127);
    });
}

#[test]
fn a_cache_of_another_size_is_an_error() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        for mbufs in [0, 513, u32::MAX] {
            let error = pool.thread_cache(mbufs).unwrap_err();
            assert!(matches!(error, MempoolError::Cache { errno, .. } if errno.get() == 22), "{error}");
            assert_eq!((error.call(), error.errno().unwrap().get()), (Some("rte_mempool_cache_create"), 22));
            assert!(error.to_string().contains(&format!("cache of {mbufs} mbufs")), "{error}");
        }
        assert!(pool.thread_cache(1).is_ok() && pool.thread_cache(512).is_ok());
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn the_heap_says_what_is_in_use() {
    isolated(&[], |eal| {
        let heap = eal.heap();
        let before = heap.stats();
        assert!(before.total > 0 && before.total == before.free + before.allocated, "{before:?}");
        assert!(before.largest_free <= before.free && before.free_pieces > 0);
        let large = heap.boxed_slice(1 << 20, |_| 0_u8).unwrap();
        let with = heap.stats();
        assert_eq!(with.allocations, before.allocations + 1);
        assert!((1 << 20..(1 << 20) + 4096).contains(&(with.allocated - before.allocated)), "{with:?}");
        drop(large);
        assert_eq!(heap.stats().allocations, before.allocations);
        let first = heap.clone().socket(SocketId::FIRST).stats();
        assert_eq!(first.total, heap.stats().total, "there is one node without hugepages");
        assert_eq!(heap.socket(SocketId::ANY).stats(), first);
    });
}
