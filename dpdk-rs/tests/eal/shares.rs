// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Several packets with the same data.

use crate::{
    frames::{bytes, frame, only_port, packet, pool, receive, send, start},
    process::isolated,
};
use dpdk_rs::{Burst, Mempool, PacketError};
use std::thread;

#[test]
fn shared_data_can_be_read_by_all_and_written_by_none() {
    isolated(&[], |eal| {
        let (pool, other): (Mempool, Mempool) = (pool(&eal, "pool"), pool(&eal, "other"));
        let mut first = packet(&pool, &frame(1, 100));
        let mut second = first.share(&other).unwrap();
        let mut third = second.share(&pool).unwrap();
        assert_eq!((pool.available(), other.available()), (pool.size() - 2, other.size() - 1));
        for packet in [&mut first, &mut second, &mut third] {
            assert_eq!(bytes(packet), frame(1, 100));
            assert_eq!(packet.data().as_ptr() as usize % 64, 0);
            assert!(packet.is_shared());
            assert_eq!(packet.data_mut().unwrap_err(), PacketError::Shared);
            assert_eq!(packet.append(1).unwrap_err(), PacketError::Shared);
            assert_eq!(packet.prepend(1).unwrap_err(), PacketError::Shared);
            assert!(packet.segments_mut().is_err());
        }
        assert_eq!(first.data().as_ptr(), third.data().as_ptr(), "nothing was copied");
        drop(second);
        assert_eq!(first.data_mut().unwrap_err(), PacketError::Shared);
        drop(third);
        first.data_mut().unwrap()[0] = 0xee;
        assert!(!first.is_shared());
        drop(first);
        assert_eq!((pool.available(), other.available()), (pool.size(), other.size()));
    });
}

/// The data lives as long as the last packet of it, whichever that is. A share is never writable: the data is not in its
/// own mbuf.
#[test]
fn the_first_packet_may_go_first() {
    isolated(&[], |eal| {
        let (pool, other): (Mempool, Mempool) = (pool(&eal, "pool"), pool(&eal, "other"));
        let mut first = packet(&pool, &frame(1, 100));
        let mut share = first.share(&other).unwrap();
        drop((first, pool.clone()));
        assert_eq!(pool.available(), pool.size() - 1, "the data is still out");
        // Whoever takes all the other mbufs does not get that one.
        let mut all = Burst::<(), 600>::new();
        assert_eq!(pool.alloc_bulk_up_to(&mut all, pool.size() - 1), pool.size() - 1);
        all.iter_mut().for_each(|packet| packet.append(100).unwrap().fill(0));
        assert!(pool.alloc().is_none());
        assert_eq!(bytes(&share), frame(1, 100));
        assert_eq!(share.data_mut().unwrap_err(), PacketError::Shared);
        drop(share);
        assert!(pool.alloc().is_some());
    });
}

#[test]
fn shares_are_shortened_one_by_one() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut first = packet(&pool, &frame(1, 100));
        let mut share = first.share(&pool).unwrap();
        share.adj(14).unwrap();
        share.trim(6).unwrap();
        first.trim(50).unwrap();
        assert_eq!(bytes(&share), frame(1, 100)[14..94]);
        assert_eq!(bytes(&first), frame(1, 100)[..50]);
        drop(share);
        first.append(10).unwrap().fill(0xee);
        assert_eq!(bytes(&first)[50..], [0xee; 10]);
    });
}

#[test]
fn chains_are_shared_segment_by_segment() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut first = packet(&pool, &frame(1, 60));
        first.chain(packet(&pool, &frame(2, 40))).unwrap();
        let share = first.share(&pool).unwrap();
        assert_eq!((share.segment_count(), pool.available()), (2, pool.size() - 4));
        // New segments of the first packet are not those of its share.
        first.chain(packet(&pool, &frame(3, 20))).unwrap();
        assert_eq!(bytes(&share), [frame(1, 60), frame(2, 40)].concat());
        first.append(5).unwrap().fill(0xee);
        assert_eq!(bytes(&first), [frame(1, 60), frame(2, 40), frame(3, 20), vec![0xee; 5]].concat());
        assert!(first.segments_mut().is_err());
        drop(first);
        assert_eq!(bytes(&share), [frame(1, 60), frame(2, 40)].concat());
        drop(share);
        assert_eq!(pool.available(), pool.size());
    });
}

/// A frame behind a header of its own, as in multicast: the header is written, the payload shared.
#[test]
fn shares_can_be_chained_behind_a_header() {
    isolated(&["net_ring0"], |eal| {
        let (pool, headerless): (Mempool, Mempool) = (pool(&eal, "pool"), pool(&eal, "headerless"));
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        let mut payload = packet(&pool, &frame(1, 100));
        for number in 0..3 {
            let mut header = packet(&pool, &frame(10 + number, 14));
            header.chain(payload.share(&headerless).unwrap()).unwrap();
            send(&mut tx, header);
        }
        drop(payload);
        for number in 0..3 {
            let mut back = receive(&mut rx);
            assert_eq!(bytes(&back), [frame(10 + number, 14), frame(1, 100)].concat());
            assert!(back.data_mut().is_ok(), "the header is its own");
            assert!(back.is_shared() && back.segments_mut().is_err());
        }
        assert_eq!((pool.available(), headerless.available()), (pool.size(), headerless.size()));
    });
}

#[test]
fn copies_are_independent() {
    isolated(&[], |eal| {
        let pool: Mempool<u64> = pool(&eal, "pool");
        let small: Mempool = Mempool::builder("small").size(64).cache(0).data_room(128 + 30).build(&eal).unwrap();
        let mut first = packet(&pool, &frame(1, 100));
        *first.private_mut() = 7;
        let share = first.share(&pool).unwrap();
        let mut copy = share.copy(&pool).unwrap();
        assert!(!copy.is_shared());
        copy.data_mut().unwrap().fill(0xee);
        assert_eq!(bytes(&share), frame(1, 100));
        let pieces = share.copy(&small).unwrap();
        assert_eq!((pieces.segment_count(), bytes(&pieces)), (4, frame(1, 100)));
        assert!(!pieces.is_shared());
        assert_eq!(*first.private(), 7);
    });
}

#[test]
fn empty_frame_is_copied_too() {
    isolated(&["net_null0,size=10"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (_port, mut rx, _tx) = start(only_port(&eal), &pool);
        let mut received = receive(&mut rx);
        received.trim(10).unwrap();
        let copy = received.copy(&pool).expect("the pool is not exhausted");
        assert_eq!((copy.len(), copy.segment_count(), copy.headroom(), copy.port()), (0, 1, 128, received.port()));
    });
}

#[test]
fn exhausted_pools_share_and_copy_nothing() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let tiny: Mempool = Mempool::builder("tiny").size(2).cache(0).data_room(128 + 30).build(&eal).unwrap();
        let mut long = packet(&pool, &frame(1, 30));
        long.chain(packet(&pool, &frame(2, 30))).unwrap();
        long.chain(packet(&pool, &frame(3, 30))).unwrap();
        assert!(long.share(&tiny).is_none() && long.copy(&tiny).is_none());
        assert_eq!(tiny.available(), 2, "what was taken on the way is given back");
        assert!(!long.is_shared());
        assert!(long.segments_mut().is_ok());
    });
}

/// An indirect mbuf says how long the private area of the mbuf with the data is; its own may be shorter.
#[test]
fn share_without_private_area_is_not_taken_for_one_with() {
    isolated(&["net_ring0"], |eal| {
        let with: Mempool<[u64; 4]> = pool(&eal, "with");
        let without: Mempool = Mempool::builder("without").size(7).cache(0).data_room(0).build(&eal).unwrap();
        let (_port, mut rx, mut tx) = start(only_port(&eal), &with);
        let mut first = packet(&with, &frame(1, 60));
        *first.private_mut() = [1, 2, 3, 4];
        send(&mut tx, first.share(&without).unwrap());
        send(&mut tx, first.share(&with).unwrap());
        let mut burst = Burst::<[u64; 4], 4>::new();
        while burst.is_empty() {
            rx.rx(&mut burst);
        }
        assert_eq!((burst.len(), rx.foreign(), without.available()), (1, 1, 7));
        *burst[0].private_mut() = [9; 4];
        assert_eq!((*first.private(), bytes(&burst[0])), ([1, 2, 3, 4], frame(1, 60)));
    });
}

#[test]
fn a_frame_without_bytes_can_be_copied() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut empty = packet(&pool, &[]);
        empty.chain(packet(&pool, &[])).unwrap();
        let mut copy = empty.copy(&pool).unwrap();
        assert!(copy.is_empty() && copy.is_contiguous());
        copy.append(1).unwrap().fill(0xee);
        assert_eq!((bytes(&copy), empty.len()), (vec![0xee], 0));
    });
}

/// Counts go up and down on several threads at once.
#[test]
fn shares_live_on_many_threads() {
    isolated(&[], |eal| {
        let pool: Mempool = Mempool::builder("pool").size(4095).cache(64).build(&eal).unwrap();
        for round in 0..20 {
            let mut first = packet(&pool, &frame(round, 200));
            thread::scope(|scope| {
                for _ in 0..4 {
                    let mut share = first.share(&pool).unwrap();
                    let pool = &pool;
                    scope.spawn(move || {
                        for _ in 0..200 {
                            let other = share.share(pool).unwrap();
                            assert!(share.data_mut().is_err());
                            assert_eq!(bytes(&other), frame(round, 200));
                            share = other;
                        }
                    });
                }
                for _ in 0..200 {
                    let share = first.share(&pool).unwrap();
                    assert_eq!(share.data(), frame(round, 200));
                }
            });
            first.data_mut().unwrap().fill(0);
            drop(first);
            assert_eq!(pool.available(), pool.size());
        }
    });
}
