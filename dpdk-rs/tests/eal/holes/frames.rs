// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Hole 17: frames of no bytes, of more bytes than fit, and of many segments.

use crate::{
    capture::{read, write},
    frames::{bytes, frame, only_port, packet, pool, receive, send, start},
    process::{eal_args, folder, init, isolated, isolated_bare},
};
use dpdk_rs::{Burst, Mempool, Packet, PacketError, PortConfig, PortError};

/// A frame of 64 segments, each of other bytes and another length.
fn in_64_segments(pool: &Mempool) -> (Packet, Vec<u8>) {
    let mut whole = packet(pool, &frame(0, 1));
    let mut expected = frame(0, 1);
    for number in 1..64 {
        whole.chain(packet(pool, &frame(number, number * 3))).unwrap();
        expected.extend(frame(number, number * 3));
    }
    (whole, expected)
}

/// A chain that is read as if it were one segment is read beyond the first one's end. Here each method says whether it
/// means the first, the last or all of them, and stays in it.
#[test]
fn hole_17_chain_of_64_segments() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        let (whole, expected) = in_64_segments(&pool);
        send(&mut tx, whole);
        let mut whole = receive(&mut rx);
        assert_eq!((whole.segment_count(), whole.len(), whole.data()), (64, expected.len(), &frame(0, 1)[..]));
        assert_eq!(bytes(&whole), expected);
        // The edges are those of the first segment and of the last.
        assert_eq!(whole.adj(2).unwrap_err(), PacketError::TooShort { asked: 2, len: 1 });
        assert_eq!(whole.trim(190).unwrap_err(), PacketError::TooShort { asked: 190, len: 189 });
        assert_eq!(whole.append(2048).unwrap_err(), PacketError::NoRoom { asked: 2048, room: 2048 - 189 });
        assert_eq!(whole.prepend(129).unwrap_err(), PacketError::NoRoom { asked: 129, room: 128 });
        for segment in whole.segments_mut().unwrap() {
            segment.fill(0xee);
        }
        assert_eq!(bytes(&whole), vec![0xee; expected.len()]);
        let share = whole.share(&pool).unwrap();
        assert_eq!((share.segment_count(), pool.available()), (64, pool.size() - 128));
        drop((whole, share));
        assert_eq!(pool.available(), pool.size());
    });
}

/// A device that was not told of chains sends the first segment and forgets the others, or gives them back twice. Here it
/// never sees one: the frame is dropped, counted, and whole again in its pool.
#[test]
fn hole_17_chain_for_a_device_of_one_segment() {
    isolated(&["net_failsafe0,dev(net_ring1)"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        let mut burst = Burst::<(), 4>::new();
        burst.push(in_64_segments(&pool).0).unwrap();
        burst.push(packet(&pool, &frame(1, 60))).unwrap();
        assert_eq!((tx.tx(&mut burst), tx.rejected(), burst.len()), (1, 1, 0));
        assert_eq!(bytes(&receive(&mut rx)), frame(1, 60));
        assert_eq!(pool.available(), pool.size());
    });
}

/// A frame of no bytes, of which the first is read. Here all there is is empty.
#[test]
fn hole_17_frame_of_no_bytes() {
    isolated(&["net_ring0"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let (_port, mut rx, mut tx) = start(only_port(&eal), &pool);
        send(&mut tx, pool.alloc().unwrap());
        let mut empty = receive(&mut rx);
        assert_eq!((empty.len(), empty.is_empty(), empty.segment_count()), (0, true, 1));
        assert!(empty.data().is_empty() && empty.data_mut().unwrap().is_empty());
        assert_eq!(empty.segments().map(<[u8]>::len).collect::<Vec<_>>(), [0]);
        assert_eq!(empty.adj(1).unwrap_err(), PacketError::TooShort { asked: 1, len: 0 });
        assert_eq!(empty.trim(1).unwrap_err(), PacketError::TooShort { asked: 1, len: 0 });
        assert_eq!(empty.copy_to(&mut [0; 8]), 0);
        empty.prefetch();
        let share = empty.share(&pool).unwrap();
        assert!(share.is_empty() && share.data().is_empty());
        drop(share);
        assert!(empty.copy(&pool).is_some_and(|copy| copy.is_empty() && !copy.is_shared()));
        // Between two others in a chain, and alone again.
        let mut whole = packet(&pool, &frame(1, 10));
        whole.chain(empty).unwrap();
        whole.chain(packet(&pool, &frame(2, 10))).unwrap();
        assert_eq!((bytes(&whole), whole.segment_count()), ([frame(1, 10), frame(2, 10)].concat(), 3));
        drop(whole);
        assert_eq!(pool.available(), pool.size());
    });
}

/// `net_null` gives each mbuf the length that it was told, whatever the room. Here a port that would is refused, with the
/// number and the room.
#[test]
fn hole_17_frame_longer_than_the_data_room() {
    isolated(&["net_null0,size=2048", "net_null1,size=2049", "net_null2,size=65535"], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut ports = eal.ports().into_iter();
        let (_port, mut rx, _tx) = start(ports.next().unwrap(), &pool);
        let longest = receive(&mut rx);
        assert_eq!((longest.len(), longest.data().len(), longest.tailroom()), (2048, 2048, 0));
        for (port, size) in ports.zip([2049, 65_535]) {
            let refused = port.configure(&PortConfig::default(), &pool).unwrap_err();
            assert!(matches!(refused, PortError::Unsupported { asked, .. } if asked == size), "{refused}");
        }
    });
}

/// A jumbo frame, for which one mbuf has no room. Here it is a chain of several, each within its buffer, all the way to the
/// capture that it is written to.
#[test]
fn hole_17_jumbo_frame() {
    isolated_bare(|| {
        let (input, output) = (folder().join("in.pcap"), folder().join("out.pcap"));
        let frames: Vec<_> = [1514, 2048, 2049, 9018, 16_128].map(|len| frame(len, len)).to_vec();
        write(&input, &frames);
        let device = format!("net_pcap0,rx_pcap={},tx_pcap={}", input.display(), output.display());
        let (eal, _) = init(eal_args(&[&device])).unwrap();
        let pool: Mempool = Mempool::builder("pool").size(127).cache(0).build(&eal).unwrap();
        let config = PortConfig::default().scatter(true);
        let (port, mut rx, mut tx) = only_port(&eal).configure(&config, &pool).unwrap().start().unwrap();
        for expected in &frames {
            let mut jumbo = receive(&mut rx[0]);
            assert_eq!((jumbo.len(), jumbo.data().len()), (expected.len(), expected.len().min(2048)));
            assert!(jumbo.segments().all(|segment| segment.len() <= 2176));
            assert_eq!(bytes(&jumbo), *expected);
            assert_eq!(pool.available(), pool.size() - jumbo.segment_count());
            for segment in jumbo.segments_mut().unwrap() {
                segment.iter_mut().for_each(|byte| *byte ^= 0xff);
            }
            send(&mut tx[0], jumbo);
        }
        assert_eq!(pool.available(), pool.size());
        drop((port, rx, tx));
        let inverted: Vec<Vec<u8>> = frames.iter().map(|frame| frame.iter().map(|byte| !byte).collect()).collect();
        assert!(read(&output) == inverted);
    });
}

/// A copy into mbufs of one byte each, of which there are more than an mbuf can count. Here there is none, and the pool is
/// full again.
#[test]
fn hole_17_copy_of_more_segments_than_can_be_counted() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let tiny: Mempool = Mempool::builder("tiny").size(65_600).cache(0).data_room(129).build(&eal).unwrap();
        let none: Mempool = Mempool::builder("none").size(7).cache(0).data_room(128).build(&eal).unwrap();
        let mut whole = packet(&pool, &frame(0, 2048));
        for number in 1..32 {
            whole.chain(packet(&pool, &frame(number, 2048))).unwrap();
        }
        assert!(whole.copy(&tiny).is_none() && whole.copy(&none).is_none());
        assert_eq!((tiny.available(), none.available()), (65_600, 7));
        let short = packet(&pool, &frame(1, 2000));
        let copy = short.copy(&tiny).unwrap();
        assert_eq!((copy.segment_count(), tiny.available()), (2000, 65_600 - 2000));
        assert!(bytes(&copy) == bytes(&short));
    });
}
