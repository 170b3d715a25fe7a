// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Captures in, captures out, byte for byte: also frames that need a chain of mbufs.

use crate::{
    capture::{read, write},
    frames::{bytes, frame},
    process::{eal_args, folder, init, isolated_bare},
};
use dpdk_rs::{Burst, Mempool, Packet, PacketError, PortConfig, RxQueue, TxQueue};
use std::fs;

/// Runs `body` with a port that reads `frames`, and returns what it wrote.
fn through(frames: &[Vec<u8>], body: impl FnOnce(&Mempool, RxQueue, TxQueue)) -> Vec<Vec<u8>> {
    let (input, output) = (folder().join("in.pcap"), folder().join("out.pcap"));
    write(&input, frames);
    let device = format!("net_pcap0,rx_pcap={},tx_pcap={}", input.display(), output.display());
    let (eal, _) = init(eal_args(&[&device])).unwrap();
    let pool: Mempool = Mempool::builder("pool").size(511).cache(0).build(&eal).unwrap();
    let config = PortConfig::default().scatter(true);
    let (port, mut rx, mut tx) = eal.ports().remove(0).configure(&config, &pool).unwrap().start().unwrap();
    body(&pool, rx.remove(0), tx.remove(0));
    assert_eq!(pool.available(), pool.size());
    drop(port);
    read(&output)
}

fn forward_all(rx: &mut RxQueue, tx: &mut TxQueue, mut change: impl FnMut(&mut Packet)) {
    let mut burst = Burst::<_, 16>::new();
    while rx.rx(&mut burst) > 0 {
        burst.iter_mut().for_each(&mut change);
        let count = burst.len();
        assert_eq!(tx.tx(&mut burst), count);
    }
}

#[test]
fn capture_comes_out_as_it_went_in() {
    isolated_bare(|| {
        let frames: Vec<_> = (14..=1514).map(|len| frame(len, len)).collect();
        let out = through(&frames, |_pool, mut rx, mut tx| forward_all(&mut rx, &mut tx, |_| ()));
        assert!(out == frames, "{} frames of {}", out.len(), frames.len());
    });
}

#[test]
fn runts_are_frames_too() {
    isolated_bare(|| {
        let frames: Vec<_> = (1..14).chain([0, 60]).map(|len| frame(len, len)).collect();
        let mut lengths = Vec::new();
        let out = through(&frames, |_pool, mut rx, mut tx| {
            forward_all(&mut rx, &mut tx, |packet| {
                assert_eq!(packet.data_mut().unwrap().len(), packet.len());
                lengths.push(packet.len());
            });
        });
        assert_eq!(lengths, frames.iter().map(Vec::len).collect::<Vec<_>>());
        assert_eq!(out, frames);
    });
}

#[test]
fn jumbo_frame_is_a_chain() {
    isolated_bare(|| {
        let frames: Vec<_> = [2048, 2049, 4224, 4225, 9018].map(|len| frame(len, len)).to_vec();
        let mut segments = Vec::new();
        let out = through(&frames, |_pool, mut rx, mut tx| {
            forward_all(&mut rx, &mut tx, |packet| {
                let lengths: Vec<usize> = packet.segments().map(<[u8]>::len).collect();
                assert_eq!(lengths.iter().sum::<usize>(), packet.len());
                assert_eq!((lengths.len(), lengths.len() == 1), (packet.segment_count(), packet.is_contiguous()));
                assert_eq!(packet.segments().collect::<Vec<_>>().concat(), frame(packet.len(), packet.len()));
                assert_eq!(bytes(packet), frame(packet.len(), packet.len()));
                assert_eq!(packet.data(), &frame(packet.len(), packet.len())[..2048], "the first segment");
                segments.push(lengths);
            });
        });
        // The first mbuf keeps its headroom of 128, the others use all of their 2,176 bytes.
        assert_eq!(
            segments,
            [vec![2048], vec![2048, 1], vec![2048, 2176], vec![2048, 2176, 1], vec![2048, 2176, 2176, 2176, 442]]
        );
        assert!(out == frames);
    });
}

#[test]
fn chain_is_changed_at_its_ends() {
    isolated_bare(|| {
        let out = through(&[frame(1, 5000)], |_pool, mut rx, mut tx| {
            forward_all(&mut rx, &mut tx, |packet| {
                assert_eq!(packet.segments().map(<[u8]>::len).collect::<Vec<_>>(), [2048, 2176, 776]);
                assert_eq!((packet.headroom(), packet.tailroom()), (128, 2176 - 776));
                packet.prepend(4).unwrap().copy_from_slice(b"head");
                packet.append(4).unwrap().copy_from_slice(b"tail");
                assert_eq!((packet.len(), packet.segment_count()), (5008, 3));
                let error = packet.trim(781).unwrap_err();
                assert_eq!(error, PacketError::TooShort { asked: 781, len: 780 }, "the last segment has no more");
                assert_eq!(packet.adj(2053).unwrap_err(), PacketError::TooShort { asked: 2053, len: 2052 });
                assert_eq!(packet.append(1397).unwrap_err(), PacketError::NoRoom { asked: 1397, room: 1396 });
                packet.adj(2).unwrap();
                packet.trim(1).unwrap();
                packet.data_mut().unwrap()[2] = 0xff;
                let mut start = [0; 3000];
                assert_eq!(packet.copy_to(&mut start), 3000, "over the edge of a segment");
                let mut expected = [b"ad".as_slice(), &frame(1, 5000)].concat();
                expected[2] = 0xff;
                assert_eq!(start, expected[..3000]);
            });
        });
        let mut expected = [b"ad".as_slice(), &frame(1, 5000), b"tai"].concat();
        expected[2] = 0xff;
        assert!(out == [expected]);
    });
}

#[test]
fn whole_segments_can_be_emptied() {
    isolated_bare(|| {
        let out = through(&[frame(1, 3000)], |_pool, mut rx, mut tx| {
            forward_all(&mut rx, &mut tx, |packet| {
                packet.adj(2048).unwrap();
                assert!(packet.data().is_empty() && packet.len() == 952);
                assert_eq!(packet.adj(1).unwrap_err(), PacketError::TooShort { asked: 1, len: 0 });
                assert_eq!(bytes(packet), frame(1, 3000)[2048..]);
            });
        });
        assert!(out == [frame(1, 3000)[2048..].to_vec()]);
    });
}

#[test]
fn chain_of_the_longest_frame() {
    isolated_bare(|| {
        through(&[frame(1, 65_535)], |_pool, mut rx, _tx| {
            let mut burst = Burst::<_, 4>::new();
            assert_eq!(rx.rx(&mut burst), 1);
            assert_eq!((burst[0].len(), burst[0].segment_count()), (65_535, 31));
            assert!(bytes(&burst[0]) == frame(1, 65_535));
        });
    });
}

#[test]
fn frame_beyond_16_bits_is_read_within_its_segments() {
    isolated_bare(|| {
        through(&[frame(1, 65_546)], |_pool, mut rx, _tx| {
            let mut burst = Burst::<_, 4>::new();
            // The driver of 22.11 cuts the length of the frame to 16 bits, not the chain.
            if rx.rx(&mut burst) == 1 {
                let packet = &burst[0];
                let held: usize = packet.segments().map(<[u8]>::len).sum();
                let mut copy = vec![0; 70_000];
                let copied = packet.copy_to(&mut copy);
                assert!(copied <= held && copy[..copied] == frame(1, 65_546)[..copied]);
            }
        });
    });
}

#[test]
fn chain_that_the_pool_cannot_hold_is_not_received_in_part() {
    isolated_bare(|| {
        through(&[frame(1, 60), frame(2, 9018), frame(3, 60)], |pool, mut rx, mut tx| {
            let held: Vec<_> = (0..pool.size() - 3).map(|_| pool.alloc().unwrap()).collect();
            let mut burst = Burst::<_, 4>::new();
            let received = rx.rx(&mut burst) + rx.rx(&mut burst);
            assert!(burst.iter().all(|packet| packet.len() == 60));
            assert_eq!(pool.available(), 3 - received, "what there was of the chain is back");
            drop((held, burst));
            forward_all(&mut rx, &mut tx, |_| ());
        });
    });
}

#[test]
fn capture_without_frames_is_silence() {
    isolated_bare(|| {
        let out = through(&[], |_pool, mut rx, _tx| {
            assert_eq!(rx.rx(&mut Burst::<(), 4>::new()), 0);
        });
        assert!(out.is_empty());
    });
}

#[test]
fn cut_capture_ends_with_its_last_whole_frame() {
    isolated_bare(|| {
        let path = folder().join("cut.pcap");
        write(&path, &[frame(1, 60), frame(2, 60)]);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 10]).unwrap();
        let device = format!("net_pcap0,rx_pcap={}", path.display());
        let (eal, _) = init(eal_args(&[&device])).unwrap();
        let pool: Mempool = crate::frames::pool(&eal, "pool");
        let (_port, mut rx, _tx) = crate::frames::start(eal.ports().remove(0), &pool);
        let mut burst = Burst::<_, 4>::new();
        assert_eq!((rx.rx(&mut burst), rx.rx(&mut burst)), (1, 0));
        assert_eq!(bytes(&burst[0]), frame(1, 60));
    });
}
