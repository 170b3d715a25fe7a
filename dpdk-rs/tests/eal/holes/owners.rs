// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Holes 5, 7, 8, 12 and 13: who owns an mbuf, and how often it is freed.

use crate::{
    frames::{bytes, frame, only_port, packet, pool, receive, send, start},
    process::isolated,
};
use dpdk_rs::{Burst, Mempool, Packet, PacketError, PrivateData};
use std::mem;

fn refuses_to_be_written(packet: &mut Packet) {
    assert_eq!(packet.data_mut().unwrap_err(), PacketError::Shared);
    assert_eq!(packet.append(1).unwrap_err(), PacketError::Shared);
    assert_eq!(packet.prepend(1).unwrap_err(), PacketError::Shared);
    assert_eq!(packet.segments_mut().unwrap_err(), PacketError::Shared);
}

/// A cloned mbuf that stays writable is changed under the device that sends the other one. Here data with two owners can
/// be read only, by both, until one of them is gone.
#[test]
fn hole_05_shared_is_read_only() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut first = packet(&pool, &frame(1, 100));
        let mut share = first.share(&pool).unwrap();
        refuses_to_be_written(&mut first);
        refuses_to_be_written(&mut share);
        assert_eq!((bytes(&first), bytes(&share)), (frame(1, 100), frame(1, 100)));
        // Shorter is only shorter for the one.
        share.adj(14).unwrap();
        assert_eq!((bytes(&first), bytes(&share)), (frame(1, 100), frame(1, 100)[14..].to_vec()));
        drop(share);
        first.data_mut().unwrap().fill(0xee);
        assert_eq!(bytes(&first), [0xee; 100]);
    });
}

/// The same for each segment of a chain: one that is shared is not written to, wherever it is.
#[test]
fn hole_05_shared_segment_is_read_only() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut payload = packet(&pool, &frame(2, 50));
        let mut whole = packet(&pool, &frame(1, 14));
        whole.chain(payload.share(&pool).unwrap()).unwrap();
        whole.data_mut().unwrap().fill(0xee);
        assert_eq!(whole.segments_mut().unwrap_err(), PacketError::Shared);
        assert_eq!(whole.append(1).unwrap_err(), PacketError::Shared);
        refuses_to_be_written(&mut payload);
        assert_eq!(bytes(&payload), frame(2, 50));
        drop(whole);
        payload.data_mut().unwrap().fill(0xdd);
    });
}

/// A ring device hands back the very mbufs that were sent: with a clone kept by the sender there are two owners who write.
/// Here what comes back is as read-only as what was kept, until one of the two is gone.
#[test]
fn hole_05_ring_hands_back_one_owner() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        let mut kept = packet(&pool, &frame(1, 100));
        send(&mut tx, kept.share(&pool).unwrap());
        refuses_to_be_written(&mut kept);
        let mut back = receive(&mut rx);
        refuses_to_be_written(&mut kept);
        refuses_to_be_written(&mut back);
        assert_eq!(bytes(&back), frame(1, 100));
        drop(back);
        kept.data_mut().unwrap().fill(0xee);

        // The other way round: the first packet is sent, and a share kept.
        let mut share = kept.share(&pool).unwrap();
        send(&mut tx, kept);
        refuses_to_be_written(&mut share);
        let mut back = receive(&mut rx);
        refuses_to_be_written(&mut back);
        drop(share);
        back.data_mut().unwrap().fill(0xdd);
        assert_eq!(bytes(&back), [0xdd; 100]);
        drop(back);
        assert_eq!(pool.available(), pool.size());
    });
}

/// Whoever clones an mbuf and sends both has two owners in the device. Here the same frame is sent as often as wanted, and
/// each of its packets is one of its own.
#[test]
fn hole_05_frame_is_sent_many_times() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        let mut first = packet(&pool, &frame(1, 100));
        for _ in 0..100 {
            send(&mut tx, first.share(&pool).unwrap());
        }
        send(&mut tx, first);
        let mut back: Vec<Packet> = (0..101).map(|_| receive(&mut rx)).collect();
        for packet in &mut back {
            assert_eq!(bytes(packet), frame(1, 100));
            refuses_to_be_written(packet);
        }
        // The last of them is the first packet itself.
        let mut first = back.pop().unwrap();
        drop(back);
        assert_eq!(pool.available(), pool.size() - 1);
        first.data_mut().unwrap().fill(0);
    });
}

/// An assert in a drop at the end makes a leaked packet a panic at shutdown. Here it is a leak, which is logged, and the
/// rest works on.
#[test]
fn hole_07_forgotten_packets_are_only_leaked() {
    let output = isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        let mut shared = packet(&pool, &frame(1, 60));
        mem::forget(shared.share(&pool));
        mem::forget(shared);
        let mut burst = Burst::<(), 8>::new();
        assert_eq!(pool.alloc_bulk(&mut burst), 8);
        mem::forget(burst.drain());
        mem::forget(burst);
        assert_eq!(pool.available(), pool.size() - 10);
        send(&mut tx, packet(&pool, &frame(2, 60)));
        assert_eq!(bytes(&receive(&mut rx)), frame(2, 60));
    });
    assert!(output.contains("the EAL is not cleaned up: 1 pools have mbufs that were never returned"), "{output}");
}

/// An owning mbuf that can be cloned, and a vector that is freed though it was sent, free twice. Here the device owns what
/// it took, and the burst only the rest.
#[test]
fn hole_08_sent_packets_are_freed_once() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = Mempool::builder("pool").size(2047).cache(0).build(&eal).unwrap();
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        let mut burst = Burst::<(), 1100>::new();
        for number in 0..1100 {
            burst.push(packet(&pool, &frame(number, 60))).unwrap();
        }
        // The ring holds 1,023.
        assert_eq!((tx.tx(&mut burst), burst.len()), (1023, 77));
        drop(burst);
        assert_eq!(pool.available(), pool.size() - 1023);
        // Nobody gets an mbuf that is in the ring.
        let others: Vec<Packet> = std::iter::from_fn(|| pool.alloc()).collect();
        assert_eq!(others.len(), pool.size() - 1023);
        let mut addresses: Vec<_> = others.iter().map(|packet| packet.data().as_ptr()).collect();
        for number in 0..1023 {
            let packet = receive(&mut rx);
            assert_eq!(bytes(&packet), frame(number, 60));
            addresses.push(packet.data().as_ptr());
        }
        addresses.sort_unstable();
        addresses.dedup();
        assert_eq!(addresses.len(), pool.size(), "each mbuf has been somewhere, and only there");
        drop(others);
        assert_eq!(pool.available(), pool.size());
    });
}

/// Whatever a burst is used for, each packet in it is freed once.
#[test]
fn hole_08_moved_packets_are_freed_once() {
    isolated(&[], |eal| {
        let pool: Mempool = Mempool::builder("pool").size(63).cache(0).build(&eal).unwrap();
        let mut burst = Burst::<(), 32>::new();
        pool.alloc_bulk(&mut burst);
        let mut other = Burst::<(), 20>::new();
        assert_eq!(other.append(&mut burst), 20);
        let popped = burst.pop();
        let removed = burst.swap_remove(0);
        let drained: Vec<Packet> = burst.drain().take(3).collect();
        other.retain(|packet| packet.headroom() == 0);
        assert_eq!((burst.len(), other.len(), pool.available()), (0, 0, 63 - 5));
        drop((popped, removed, drained, burst, other));
        let all: Vec<Packet> = std::iter::from_fn(|| pool.alloc()).collect();
        let mut addresses: Vec<_> = all.iter().map(|packet| packet.data().as_ptr()).collect();
        addresses.sort_unstable();
        addresses.dedup();
        assert_eq!((addresses.len(), all.len()), (63, 63));
    });
}

/// Flags that the caller sets can say that a buffer is another mbuf's, and the drop follows. Here only DPDK sets them: an
/// mbuf that was a share has its own buffer again when it comes back, and the one with the data goes where it belongs.
#[test]
fn hole_12_drops_follow_flags_of_dpdk_only() {
    isolated(&["net_ring0"], |eal| {
        let data: Mempool = Mempool::builder("data").size(3).cache(0).build(&eal).unwrap();
        let indirect: Mempool<u64> = Mempool::builder("indirect").size(3).cache(0).data_room(200).build(&eal).unwrap();
        let (_port, mut rx, mut tx) = start(only_port(&eal), &data);
        for round in 0..10 {
            let mut first = packet(&data, &frame(round, 100));
            let share = first.share(&indirect).unwrap();
            drop(first);
            send(&mut tx, share);
            let back = receive(&mut rx);
            assert_eq!((data.available(), indirect.available()), (2, 2), "the mbuf with the data is still out");
            assert_eq!((bytes(&back), back.tailroom()), (frame(round, 100), 2048 - 100));
            drop(back);
            assert_eq!((data.available(), indirect.available()), (3, 3));
            let mut own: Vec<_> = std::iter::from_fn(|| indirect.alloc()).collect();
            for packet in &mut own {
                assert!(!packet.is_shared());
                assert_eq!((packet.headroom(), packet.tailroom(), packet.len()), (128, 72, 0));
                packet.append(72).unwrap().fill(0xee);
            }
        }
    });
}

/// A `Vec` of owners that is cast to an array of pointers relies on a layout that nobody promised. Here a packet is one
/// pointer, whatever its private data.
#[test]
fn hole_13_packet_is_one_pointer() {
    fn check<P: PrivateData>() {
        assert_eq!((size_of::<Packet<P>>(), align_of::<Packet<P>>()), (size_of::<usize>(), align_of::<usize>()));
        assert_eq!(size_of::<Option<Packet<P>>>(), size_of::<usize>(), "no packet is null");
    }
    check::<()>();
    check::<u8>();
    check::<[u64; 100]>();
    check::<[u8; 65_528]>();
}

/// The same, seen by the driver, which reads and writes the pointers of a burst: wherever in the array they are.
#[test]
fn hole_13_bursts_are_arrays_of_pointers() {
    isolated(&["net_ring0"], |eal| {
        type Private = [u64; 100];
        let pool: Mempool<Private> = Mempool::builder("pool").size(255).cache(0).build(&eal).unwrap();
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        let mut sent = Burst::<Private, 64>::new();
        for number in 0..64 {
            let mut packet = packet(&pool, &frame(number, 60));
            *packet.private_mut() = [number as u64; 100];
            sent.push(packet).unwrap();
        }
        assert_eq!(tx.tx(&mut sent), 64);
        let mut received = Burst::<Private, 100>::new();
        // Behind what the burst holds already.
        for (most, len) in [(1, 1), (7, 8), (32, 40), (64, 64)] {
            rx.rx_up_to(&mut received, most);
            assert_eq!(received.len(), len);
        }
        for (number, packet) in received.iter().enumerate() {
            assert_eq!((bytes(packet), *packet.private()), (frame(number, 60), [number as u64; 100]));
        }
    });
}

/// More references than 16 bits count wrap to 1, and then the first packet is written to, and freed, while the others refer
/// to its data. Here there is a most, far below.
#[test]
fn hole_05_references_do_not_wrap() {
    isolated(&[], |eal| {
        let data: Mempool = Mempool::builder("data").size(1).cache(0).build(&eal).unwrap();
        let indirect: Mempool = Mempool::builder("indirect").size(65_536).cache(0).data_room(0).build(&eal).unwrap();
        let mut first = packet(&data, &frame(1, 100));
        let mut shares: Vec<Packet> = std::iter::from_fn(|| first.share(&indirect)).collect();
        refuses_to_be_written(&mut first);
        refuses_to_be_written(&mut shares[0]);
        assert!(shares[0].share(&indirect).is_none(), "a share counts as well");
        drop(first);
        assert!(data.alloc().is_none(), "the data is still out");
        assert!(shares.iter().all(|share| share.data() == frame(1, 100)));
        drop(shares);
        assert!(data.alloc().is_some() && indirect.available() == indirect.size());
    });
}

/// A chain that refers to the same data many times adds as many references with one call.
#[test]
fn hole_05_references_of_chains_do_not_wrap() {
    isolated(&[], |eal| {
        let data: Mempool = Mempool::builder("data").size(1).cache(0).build(&eal).unwrap();
        let indirect: Mempool = Mempool::builder("indirect").size(65_536).cache(0).data_room(0).build(&eal).unwrap();
        let mut first = packet(&data, &frame(1, 1));
        let mut whole = first.share(&indirect).unwrap();
        // Appended at the front: walking to the end each time would take for ever.
        while let Some(mut longer) = first.share(&indirect).filter(|_| whole.segment_count() < 10_000) {
            longer.chain(whole).unwrap();
            whole = longer;
        }
        let mut wholes: Vec<Packet> = std::iter::from_fn(|| whole.share(&indirect)).collect();
        refuses_to_be_written(&mut first);
        wholes.push(whole);
        assert!(wholes.iter().all(|whole| whole.data() == frame(1, 1)));
        drop(wholes);
        first.data_mut().unwrap().fill(0);
        drop(first);
        assert!(data.alloc().is_some() && indirect.available() == indirect.size());
    });
}
