// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! One frame becomes two, and several segments one.

use crate::{
    frames::{bytes, frame, only_port, packet, pool, receive, start},
    process::isolated,
};
use dpdk_rs::{Burst, Mempool, Packet, PacketError, PrivateData};

/// One frame of segments of these lengths, each with an mbuf of its own.
fn chain<P: PrivateData>(pool: &Mempool<P>, lengths: &[usize]) -> (Packet<P>, Vec<u8>) {
    let all = frame(1, lengths.iter().sum());
    let mut rest = &all[..];
    let mut pieces = lengths.iter().map(|len| {
        let (piece, behind) = rest.split_at(*len);
        rest = behind;
        packet(pool, piece)
    });
    let mut chain = pieces.next().unwrap();
    pieces.for_each(|piece| chain.chain(piece).unwrap());
    (chain, all)
}

fn lengths<P: PrivateData>(packet: &Packet<P>) -> Vec<usize> {
    let lengths: Vec<usize> = packet.segments().map(<[u8]>::len).collect();
    assert_eq!((packet.segment_count(), packet.len()), (lengths.len(), lengths.iter().sum()));
    lengths
}

#[test]
fn a_frame_is_split_at_every_byte() {
    isolated(&[], |eal| {
        let (pool, other): (Mempool, Mempool) = (pool(&eal, "pool"), pool(&eal, "other"));
        for segments in [&[10][..], &[4, 3, 5], &[0, 4, 0, 0, 3, 0], &[0]] {
            let total = segments.iter().sum();
            for at in 0..=total {
                let (mut front, all) = chain(&pool, segments);
                let rest = front.split_off(at, &other).unwrap();
                assert_eq!(
                    (bytes(&front), bytes(&rest)),
                    (all[..at].to_vec(), all[at..].to_vec()),
                    "{segments:?} at {at}"
                );
                assert!(lengths(&front).len() + lengths(&rest).len() - segments.len() <= 1);
                // In either order, and each by itself.
                if at % 2 == 0 {
                    drop((front, rest))
                } else {
                    drop((rest, front))
                }
                assert_eq!((pool.available(), other.available()), (pool.size(), other.size()), "{segments:?} at {at}");
            }
            let (mut whole, all) = chain(&pool, segments);
            let error = whole.split_off(total + 1, &other).unwrap_err();
            assert_eq!(error, PacketError::Beyond { at: total + 1, len: total });
            assert_eq!(bytes(&whole), all);
        }
    });
}

/// Between segments nothing is shared, and no mbuf is needed; within one, both refer to its data.
#[test]
fn only_the_segment_that_is_cut_is_shared() {
    isolated(&[], |eal| {
        let (pool, other): (Mempool, Mempool) = (pool(&eal, "pool"), pool(&eal, "other"));
        let (mut front, all) = chain(&pool, &[10, 10, 10]);
        let mut rest = front.split_off(10, &other).unwrap();
        assert_eq!((lengths(&front), lengths(&rest), other.available()), (vec![10], vec![10, 10], other.size()));
        assert!(!front.is_shared() && rest.segments_mut().is_ok());
        front.append(5).unwrap().fill(0xee);
        assert_eq!(bytes(&rest), all[10..]);
        let mut last = rest.split_off(5, &other).unwrap();
        assert_eq!((lengths(&rest), lengths(&last), other.available()), (vec![5], vec![5, 10], other.size() - 1));
        assert_eq!(rest.data_mut().unwrap_err(), PacketError::Shared);
        assert_eq!(rest.append(1).unwrap_err(), PacketError::Shared);
        assert_eq!(last.data_mut().unwrap_err(), PacketError::Shared);
        let tail = last.split_off(5, &other).unwrap();
        assert!(!tail.is_shared());
        drop(last);
        rest.append(5).unwrap().fill(0xdd);
        assert_eq!((bytes(&rest), bytes(&tail)), ([&all[10..15], &[0xdd; 5]].concat(), all[20..].to_vec()));
        drop((front, rest, tail));
        assert_eq!((pool.available(), other.available()), (pool.size(), other.size()));
    });
}

/// The private area of the rest is that of its first mbuf, if it is long enough; else the rest begins with another mbuf.
#[test]
fn the_rest_has_a_private_area_of_its_own() {
    isolated(&[], |eal| {
        let (short, long): (Mempool, Mempool<[u64; 4]>) = (pool(&eal, "short"), pool(&eal, "long"));
        let mut front = packet(&short, &frame(1, 10));
        front.chain(packet(&short, &frame(2, 10))).unwrap();
        let mut rest = front.split_off(10, &long).unwrap();
        *rest.private_mut() = [9; 4];
        assert_eq!(
            (lengths(&rest), long.available(), short.available()),
            (vec![10], long.size() - 1, short.size() - 2)
        );
        assert!(rest.is_shared() && !front.is_shared());
        assert_eq!((bytes(&front), bytes(&rest)), (frame(1, 10), frame(2, 10)));
        drop((front, rest));
        assert_eq!((long.available(), short.available()), (long.size(), short.size()));
        let mut front = packet(&short, &frame(1, 10));
        let mut tail = packet(&long, &frame(2, 10));
        *tail.private_mut() = [1, 2, 3, 4];
        front.chain(tail).unwrap();
        let rest: Packet<[u64; 4]> = front.split_off(10, &long).unwrap();
        assert_eq!((*rest.private(), bytes(&rest)), ([1, 2, 3, 4], frame(2, 10)));
    });
}

#[test]
fn nothing_changes_without_an_mbuf() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let none: Mempool = Mempool::builder("none").size(1).cache(0).build(&eal).unwrap();
        let _only = none.alloc().unwrap();
        let (mut whole, all) = chain(&pool, &[10, 10]);
        for at in [0, 5, 15, 20] {
            assert_eq!(whole.split_off(at, &none).unwrap_err(), PacketError::NoMbuf, "{at}");
        }
        assert_eq!((bytes(&whole), lengths(&whole), whole.is_shared()), (all, vec![10, 10], false));
        assert!(whole.split_off(10, &none).is_ok(), "that needs none");
    });
}

/// The rest is from the same port; of its headers, which are not there, the device has said nothing.
#[test]
fn the_rest_is_from_the_same_port() {
    isolated(&["net_null0,size=100"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (port, mut rx, _tx) = start(only_port(&eal), &pool);
        let mut received = receive(&mut rx);
        received.chain(packet(&pool, &frame(1, 10))).unwrap();
        for at in [110, 100, 50] {
            let rest = received.split_off(at, &pool).unwrap();
            assert_eq!((rest.port(), rest.rss_hash(), rest.stripped_vlan()), (Some(port.id()), None, None), "{at}");
        }
        assert_eq!((received.port(), received.len()), (Some(port.id()), 50));
    });
}

#[test]
fn several_segments_become_one() {
    isolated(&[], |eal| {
        let pool: Mempool<u64> = pool(&eal, "pool");
        for segments in [&[10][..], &[4, 3, 5], &[0, 4, 0, 0, 3, 0], &[0, 0], &[1000, 900, 148]] {
            let (mut whole, all) = chain(&pool, segments);
            *whole.private_mut() = 7;
            // What is only read may be shared.
            let mut last = packet(&pool, &frame(9, 0));
            whole.chain(last.share(&pool).unwrap()).unwrap();
            whole.linearize().unwrap();
            assert_eq!((lengths(&whole), bytes(&whole), *whole.private()), (vec![all.len()], all, 7));
            assert_eq!((whole.headroom(), pool.available()), (128, pool.size() - 2));
            whole.data_mut().unwrap().fill(0);
            drop(whole);
        }
        assert_eq!(pool.available(), pool.size());
    });
}

#[test]
fn what_does_not_fit_into_the_first_segment_stays() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (mut whole, all) = chain(&pool, &[1000, 1000, 49]);
        assert_eq!(whole.linearize().unwrap_err(), PacketError::NoRoom { asked: 1049, room: 1048 });
        assert_eq!((bytes(&whole), lengths(&whole)), (all, vec![1000, 1000, 49]));
        whole.trim(1).unwrap();
        let share = whole.share(&pool).unwrap();
        assert_eq!(whole.linearize().unwrap_err(), PacketError::Shared);
        drop(share);
        whole.linearize().unwrap();
        assert_eq!(lengths(&whole), [2048]);
        let mut burst = Burst::<(), 4>::new();
        burst.push(whole).unwrap();
        burst.clear();
        assert_eq!(pool.available(), pool.size());
    });
}
