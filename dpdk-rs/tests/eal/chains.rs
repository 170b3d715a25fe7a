// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Frames in several segments.

use crate::{
    frames::{bytes, frame, only_port, packet, pool, receive, send, start},
    process::isolated,
};
use dpdk_rs::{Burst, Mempool, Packet, PacketError, PortConfig, TxBuffer};
use std::time::Duration;

/// One frame of these bytes, cut into segments of `len` bytes.
fn chain(pool: &Mempool, all: &[u8], len: usize) -> Packet {
    let mut pieces = all.chunks(len).map(|piece| packet(pool, piece));
    let mut chain = pieces.next().unwrap();
    pieces.for_each(|piece| chain.chain(piece).unwrap());
    chain
}

fn lengths(packet: &Packet) -> Vec<usize> {
    packet.segments().map(<[u8]>::len).collect()
}

#[test]
fn chain_is_one_frame() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut whole = chain(&pool, &frame(1, 100), 30);
        assert_eq!((whole.len(), whole.segment_count(), whole.is_contiguous()), (100, 4, false));
        assert_eq!(lengths(&whole), [30, 30, 30, 10]);
        assert_eq!(bytes(&whole), frame(1, 100));
        whole.chain(chain(&pool, &frame(2, 50), 20)).unwrap();
        assert_eq!(lengths(&whole), [30, 30, 30, 10, 20, 20, 10]);
        assert_eq!(bytes(&whole), [frame(1, 100), frame(2, 50)].concat());
        assert_eq!(pool.available(), pool.size() - 7);
        drop(whole);
        assert_eq!(pool.available(), pool.size());
    });
}

/// The mbufs of a chain are reset when they return.
#[test]
fn mbufs_of_a_chain_come_back_alone() {
    isolated(&[], |eal| {
        let pool: Mempool = Mempool::builder("pool").size(3).cache(0).build(&eal).unwrap();
        drop(chain(&pool, &frame(1, 90), 30));
        for _ in 0..3 {
            let mut all = Burst::<(), 3>::new();
            assert_eq!(pool.alloc_bulk(&mut all), 3);
            assert!(all.iter().all(|packet| (packet.len(), packet.segment_count()) == (0, 1)));
        }
    });
}

#[test]
fn both_ends_of_a_chain_can_be_changed() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut whole = chain(&pool, &frame(1, 100), 30);
        whole.append(5).unwrap().fill(0xee);
        whole.prepend(3).unwrap().fill(0xdd);
        whole.adj(1).unwrap();
        whole.trim(1).unwrap();
        assert_eq!(lengths(&whole), [32, 30, 30, 14]);
        assert_eq!(bytes(&whole), [&[0xdd; 2][..], &frame(1, 100), &[0xee; 4]].concat());
        assert_eq!(whole.trim(15).unwrap_err(), PacketError::TooShort { asked: 15, len: 14 });
        for segment in whole.segments_mut().unwrap() {
            segment[0] = 0x11;
        }
        assert!(whole.segments().all(|segment| segment[0] == 0x11));
    });
}

#[test]
fn segments_without_bytes_are_segments() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut whole = packet(&pool, &[]);
        whole.chain(packet(&pool, &frame(1, 10))).unwrap();
        whole.chain(packet(&pool, &[])).unwrap();
        assert_eq!((lengths(&whole), whole.len()), (vec![0, 10, 0], 10));
        assert_eq!(bytes(&whole), frame(1, 10));
        assert!(whole.data().is_empty(), "the first segment has none");
        assert_eq!(bytes(&whole.copy(&pool).unwrap()), frame(1, 10));
    });
}

/// Chains with more segments than all drivers can count are rejected, and nothing is lost.
#[test]
fn chain_has_at_most_32766_segments() {
    isolated(&[], |eal| {
        let pool: Mempool = Mempool::builder("pool").size(32_769).cache(0).data_room(0).build(&eal).unwrap();
        // Appended at the front: walking to the end each time would take too long.
        let mut whole = pool.alloc().unwrap();
        for _ in 1..32_766 {
            let mut longer = pool.alloc().unwrap();
            longer.chain(whole).unwrap();
            whole = longer;
        }
        assert_eq!(whole.segment_count(), 32_766);
        let refused = whole.chain(pool.alloc().unwrap()).unwrap_err();
        assert_eq!((whole.segment_count(), refused.segment_count()), (32_766, 1));
        let mut single = refused;
        let refused = single.chain(whole).unwrap_err();
        assert_eq!((refused.segment_count(), single.segment_count()), (32_766, 1));
        drop((single, refused));
        assert_eq!(pool.available(), pool.size());
    });
}

/// `net_failsafe` needs multi-segment frames to be configured; here they are not.
#[test]
fn port_that_was_not_configured_for_chains_never_sees_one() {
    isolated(&["net_failsafe0,dev(net_ring1)"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        let mut burst = Burst::<(), 8>::new();
        for number in 0..3 {
            burst.push(packet(&pool, &frame(number, 60))).unwrap();
            burst.push(chain(&pool, &frame(number, 60), 20)).unwrap();
        }
        assert_eq!((tx.tx(&mut burst), tx.rejected(), burst.len()), (3, 3, 0));
        for number in 0..3 {
            assert_eq!(bytes(&receive(&mut rx)), frame(number, 60));
        }
        let mut buffer = TxBuffer::<(), 32>::new(tx, 2, Duration::ZERO, eal.clock());
        buffer.push(chain(&pool, &frame(7, 60), 20));
        buffer.push(packet(&pool, &frame(7, 60)));
        assert_eq!((buffer.sent(), buffer.dropped(), buffer.into_queue().rejected()), (1, 1, 4));
        assert_eq!(bytes(&receive(&mut rx)), frame(7, 60));
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn port_that_was_configured_for_chains_sends_them() {
    isolated(&["net_failsafe0,dev(net_ring1)"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let config = PortConfig::default().scatter(true);
        let (_port, mut rx, mut tx) = only_port(&eal).configure(&config, &pool).unwrap().start().unwrap();
        send(&mut tx[0], chain(&pool, &frame(1, 60), 20));
        let back = receive(&mut rx[0]);
        assert_eq!((bytes(&back), back.segment_count(), tx[0].rejected()), (frame(1, 60), 3, 0));
    });
}

/// A ring passes a chain on as it is.
#[test]
fn chain_of_64_segments_passes_a_ring() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        send(&mut tx, chain(&pool, &frame(1, 640), 10));
        let back = receive(&mut rx);
        assert_eq!((bytes(&back), back.segment_count()), (frame(1, 640), 64));
    });
}
