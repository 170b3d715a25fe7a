// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Bursts: their contents, their order, and where the packets go.

use crate::{
    frames::{bytes, frame, packet, pool},
    process::isolated,
};
use dpdk_rs::{Burst, Eal, Mempool};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A pool, and a full burst of frames with the numbers 0 to 7.
fn eight(eal: &Eal) -> (Mempool, Burst<(), 8>) {
    let pool: Mempool = pool(eal, "pool");
    let mut burst = Burst::new();
    for number in 0..8 {
        burst.push(packet(&pool, &frame(number, 60))).unwrap();
    }
    (pool, burst)
}

/// The numbers of the frames.
fn numbers<const N: usize>(burst: &Burst<(), N>) -> Vec<usize> {
    burst.iter().map(|packet| (0..100).find(|number| bytes(packet) == frame(*number, 60)).unwrap()).collect()
}

#[test]
fn push_and_pop_at_the_end() {
    isolated(&[], |eal| {
        let (pool, mut burst) = eight(&eal);
        let back = burst.push(packet(&pool, &frame(8, 60))).unwrap_err();
        assert_eq!(bytes(&back), frame(8, 60), "a full burst gives the packet back");
        assert_eq!((burst.len(), burst.capacity(), burst.remaining_capacity()), (8, 8, 0));
        assert_eq!(bytes(&burst.pop().unwrap()), frame(7, 60));
        burst.push(back).unwrap();
        assert_eq!(numbers(&burst), [0, 1, 2, 3, 4, 5, 6, 8]);
        while burst.pop().is_some() {}
        assert!(burst.is_empty() && burst.pop().is_none());
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn swap_remove_fills_the_gap_with_the_last() {
    isolated(&[], |eal| {
        let (pool, mut burst) = eight(&eal);
        assert_eq!(bytes(&burst.swap_remove(2).unwrap()), frame(2, 60));
        assert_eq!(numbers(&burst), [0, 1, 7, 3, 4, 5, 6]);
        assert!(burst.swap_remove(7).is_none());
        drop(burst);
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn retain_keeps_the_order_and_frees_the_others() {
    isolated(&[], |eal| {
        let (pool, mut burst) = eight(&eal);
        burst.retain(|packet| packet.data()[0] % 2 == 0);
        assert_eq!(numbers(&burst), [0, 2, 4, 6]);
        assert_eq!(pool.available(), pool.size() - 4);
        burst.retain(|_| false);
        assert!(burst.is_empty());
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn retain_that_panics_loses_nothing() {
    isolated(&[], |eal| {
        let (pool, mut burst) = eight(&eal);
        let mut seen = 0;
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            burst.retain(|_| {
                seen += 1;
                assert!(seen < 5, "on purpose");
                seen % 2 == 0
            });
        }));
        assert!(unwound.is_err());
        assert_eq!(numbers(&burst), [1, 3, 4, 5, 6, 7]);
        assert_eq!(pool.available(), pool.size() - 6);
        drop(burst);
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn append_takes_from_the_front_until_full() {
    isolated(&[], |eal| {
        let (pool, mut from) = eight(&eal);
        let mut to = Burst::<_, 5>::new();
        to.push(packet(&pool, &frame(50, 60))).unwrap();
        assert_eq!(to.append(&mut from), 4);
        assert_eq!(numbers(&to), [50, 0, 1, 2, 3]);
        assert_eq!(numbers(&from), [4, 5, 6, 7]);
        assert_eq!(to.append(&mut from), 0, "it is full");
        let mut large = Burst::<_, 100>::new();
        assert_eq!((large.append(&mut from), large.append(&mut to), large.append(&mut to)), (4, 5, 0));
        assert_eq!(numbers(&large), [4, 5, 6, 7, 50, 0, 1, 2, 3]);
        assert_eq!(pool.available(), pool.size() - 9);
        drop(large);
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn drain_takes_all_even_if_cut_short() {
    isolated(&[], |eal| {
        let (pool, mut burst) = eight(&eal);
        let three: Vec<_> = burst.drain().take(3).collect();
        assert!(burst.is_empty(), "the rest was freed");
        assert_eq!(pool.available(), pool.size() - 3);
        assert!(three.iter().enumerate().all(|(number, packet)| bytes(packet) == frame(number, 60)));
    });
}

#[test]
fn forgotten_drain_leaks_and_does_nothing_worse() {
    isolated(&[], |eal| {
        let (pool, mut burst) = eight(&eal);
        std::mem::forget(burst.drain());
        assert!(burst.is_empty());
        burst.push(packet(&pool, &frame(30, 60))).unwrap();
        assert_eq!(numbers(&burst), [30]);
        drop(burst);
        assert_eq!(pool.available(), pool.size() - 8);
    });
}

#[test]
fn clear_and_drop_return_everything() {
    isolated(&[], |eal| {
        let (pool, mut burst) = eight(&eal);
        burst.clear();
        assert_eq!((burst.len(), pool.available()), (0, pool.size()));
        burst.clear();
        burst.push(packet(&pool, &frame(1, 60))).unwrap();
        assert_eq!(pool.available(), pool.size() - 1);
        drop(burst);
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn mixed_pools_get_their_own_mbufs_back() {
    isolated(&[], |eal| {
        let pools: Vec<Mempool> = (0..3).map(|number| pool(&eal, &format!("pool-{number}"))).collect();
        let mut burst = Burst::<_, 512>::new();
        for number in 0..512 {
            // Runs of one, and of many, as the bulk free collects them.
            let pool = &pools[if number < 100 { number % 3 } else { number / 100 % 3 }];
            burst.push(packet(pool, &frame(number, 60))).unwrap();
        }
        assert_eq!(pools.iter().map(|pool| pool.size() - pool.available()).sum::<usize>(), 512);
        burst.clear();
        for pool in &pools {
            assert_eq!(pool.available(), pool.size());
            // Each mbuf occurs once.
            let all: Vec<_> = std::iter::from_fn(|| pool.alloc()).collect();
            let mut places: Vec<_> = all.iter().map(|packet| packet.data().as_ptr()).collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), pool.size());
        }
    });
}

#[test]
fn bulk_allocation_is_all_or_nothing() {
    isolated(&[], |eal| {
        let pool: Mempool = Mempool::builder("pool").size(100).cache(0).build(&eal).unwrap();
        let mut burst = Burst::<_, 64>::new();
        burst.push(packet(&pool, &frame(1, 60))).unwrap();
        assert_eq!(pool.alloc_bulk(&mut burst), 63);
        assert!(burst.iter().skip(1).all(|packet| packet.is_empty() && packet.headroom() == 128));
        assert_eq!(pool.alloc_bulk(&mut burst), 0, "there is no room");
        let mut other = Burst::<_, 37>::new();
        assert_eq!((pool.alloc_bulk(&mut other), other.len()), (0, 0), "there are only 36");
        assert_eq!(pool.available(), 36);
        let mut exact = Burst::<_, 36>::new();
        assert_eq!(pool.alloc_bulk(&mut exact), 36);
        assert!(pool.alloc().is_none());
    });
}

#[test]
fn burst_is_a_slice_of_packets() {
    isolated(&[], |eal| {
        let (_pool, mut burst) = eight(&eal);
        for packet in &mut burst {
            packet.data_mut().unwrap()[59] = 0x77;
        }
        assert!((&burst).into_iter().all(|packet| packet.data()[59] == 0x77));
        burst.reverse();
        assert_eq!(burst[0].data()[..59], frame(7, 60)[..59]);
        assert_eq!(format!("{burst:?}").matches("Packet { len: 60").count(), 8);
        assert!(Burst::<(), 3>::default().is_empty());
    });
}
