// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Typed private data in every mbuf.

use crate::{
    frames::{bytes, frame, only_port, packet, pool, receive, send, start},
    process::isolated,
};
use dpdk_rs::{Burst, Mempool};

/// 16 bytes, aligned to 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Stamp {
    sequence: u64,
    stream: u32,
    flags: u32,
}

#[test]
fn private_data_is_zero_at_first_and_kept_in_the_mbuf() {
    isolated(&[], |eal| {
        let pool: Mempool<Stamp> = pool(&eal, "pool");
        let mut packets: Vec<_> = (0..10).map(|_| pool.alloc().unwrap()).collect();
        assert!(packets.iter().all(|packet| *packet.private() == Stamp { sequence: 0, stream: 0, flags: 0 }));
        for (packet, sequence) in packets.iter_mut().zip(1..) {
            *packet.private_mut() = Stamp { sequence, stream: 0xaaaa_aaaa, flags: u32::MAX };
            // The data lies right behind the private area.
            packet.prepend(packet.headroom()).unwrap().fill(0x55);
        }
        for (packet, sequence) in packets.iter().zip(1..) {
            assert_eq!(*packet.private(), Stamp { sequence, stream: 0xaaaa_aaaa, flags: u32::MAX });
        }
    });
}

#[test]
fn private_data_travels_with_the_packet() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool<Stamp> = pool(&eal, "pool");
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        for sequence in 0..100 {
            let mut packet = packet(&pool, &frame(1, 64));
            packet.private_mut().sequence = sequence;
            send(&mut tx, packet);
        }
        for sequence in 0..100 {
            let packet = receive(&mut rx);
            assert_eq!((packet.private().sequence, bytes(&packet)), (sequence, frame(1, 64)));
        }
        assert_eq!(rx.foreign(), 0);
    });
}

#[test]
fn mbufs_with_a_smaller_private_area_are_not_received() {
    isolated(&["net_ring0"], |eal| {
        let own: Mempool<Stamp> = pool(&eal, "own");
        let none: Mempool = pool(&eal, "none");
        let less: Mempool<u64> = pool(&eal, "less");
        let more: Mempool<[u64; 4]> = pool(&eal, "more");
        let (_port, mut rx, mut tx) = start(only_port(&eal), &own);
        for number in 0..4 {
            send(&mut tx, packet(&none, &frame(number, 64)));
            send(&mut tx, packet(&own, &frame(number + 10, 64)));
            send(&mut tx, packet(&less, &frame(number, 64)));
            send(&mut tx, packet(&more, &frame(number + 20, 64)));
        }
        let mut burst = Burst::<Stamp, 32>::new();
        assert_eq!(rx.rx(&mut burst), 8, "own ones, and those with more room than needed");
        let numbers = [10, 20, 11, 21, 12, 22, 13, 23];
        assert!(burst.iter().zip(numbers).all(|(packet, number)| bytes(packet) == frame(number, 64)));
        assert_eq!(rx.foreign(), 8);
        assert_eq!((none.available(), less.available()), (none.size(), less.size()), "the others went home");
        for packet in &mut burst {
            *packet.private_mut() = Stamp { sequence: u64::MAX, stream: u32::MAX, flags: u32::MAX };
            assert_eq!(packet.headroom(), 128);
        }
    });
}

#[test]
fn burst_of_foreign_mbufs_only_is_empty() {
    isolated(&["net_ring0"], |eal| {
        let own: Mempool<u64> = pool(&eal, "own");
        let none: Mempool = pool(&eal, "none");
        let (_port, mut rx, mut tx) = start(only_port(&eal), &own);
        for _ in 0..32 {
            send(&mut tx, packet(&none, &frame(0, 64)));
        }
        let mut burst = Burst::<u64, 16>::new();
        assert_eq!((rx.rx(&mut burst), rx.rx(&mut burst), burst.len()), (0, 0, 0));
        assert_eq!((rx.foreign(), none.available()), (32, none.size()));
    });
}

#[test]
fn receiver_without_private_data_takes_any_mbuf() {
    isolated(&["net_ring0"], |eal| {
        let own: Mempool = pool(&eal, "own");
        let other: Mempool<[u8; 100]> = pool(&eal, "other");
        let (_port, mut rx, mut tx) = start(only_port(&eal), &own);
        send(&mut tx, packet(&other, &frame(4, 64)));
        let packet = receive(&mut rx);
        assert_eq!((bytes(&packet), rx.foreign()), (frame(4, 64), 0));
        drop(packet);
        assert_eq!(other.available(), other.size());
    });
}

#[test]
fn largest_private_area_fits_whole() {
    isolated(&[], |eal| {
        type Largest = [u8; 65_528];
        let pool: Mempool<Largest> = Mempool::builder("pool").size(3).cache(0).build(&eal).unwrap();
        let mut packets: Vec<_> = (0..3).map(|_| pool.alloc().unwrap()).collect();
        for (packet, number) in packets.iter_mut().zip(1..) {
            packet.append(2048).unwrap().fill(0xff);
            packet.private_mut().fill(number);
        }
        for (packet, number) in packets.iter().zip(1..) {
            assert!(packet.private().iter().all(|byte| *byte == number));
            assert!(packet.data().iter().all(|byte| *byte == 0xff));
        }
    });
}

#[test]
fn odd_sizes_are_rounded_up() {
    isolated(&[], |eal| {
        let pool: Mempool<[u8; 13]> = Mempool::builder("pool").size(3).cache(0).build(&eal).unwrap();
        let mut packets: Vec<_> = (0..3).map(|_| pool.alloc().unwrap()).collect();
        for packet in &mut packets {
            packet.private_mut().fill(0xee);
            packet.prepend(128).unwrap().fill(0);
        }
        assert!(packets.iter().all(|packet| *packet.private() == [0xee; 13]));
    });
}
