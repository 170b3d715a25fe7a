// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Joining TCP segments in software, and frames that must not be changed.

use crate::{
    fragments::{segments, sum},
    frames::{bytes, frame, packet, pool},
    gso::{ACK, FIN, PSH, Tcp},
    numbers::Numbers,
    process::isolated,
};
use dpdk_rs::{
    Burst, CreateError, Errno, Mempool, Packet, TxRequest,
    offload::{GroTable, Segmenter, join_burst},
};
use std::time::Duration;

const EINVAL: i32 = 22;

/// The segments of some data at this place in its stream, of which each may be in two mbufs.
fn middle(place: usize, payload: &[u8]) -> Tcp {
    Tcp { whole: true, id: place as u16 ^ 0x5555, sequence: place as u32, ..Tcp::new(payload.to_vec()) }
}

/// What GSO has cut, GRO joins: byte for byte the packet that it was, with the checksums that it had.
#[test]
fn segments_become_the_packet_that_they_were() {
    isolated(&[], |eal| {
        let (pool, headers): (Mempool, Mempool) = (pool(&eal, "pool"), pool(&eal, "headers"));
        let segmenter = Segmenter::new(&headers, &pool).unwrap();
        let mut table = GroTable::builder().build(&eal).unwrap();
        let mut numbers = Numbers(11);
        for round in 0..150 {
            let payload = frame(round, 40 + numbers.below(8_000));
            let tcp = Tcp {
                tcp_options: frame(round, numbers.below(11) * 4),
                // Consecutive ids, or constant ids.
                whole: round % 2 == 0,
                // No further than to the last number, behind which DPDK does not see the next.
                id: numbers.below(65_500) as u16,
                sequence: (u32::MAX - 4_000).wrapping_add(numbers.below(8_000) as u32),
                ..Tcp::new(payload)
            };
            // DPDK 24.11 joins 20 mbufs at most: two for each segment, and one more where an mbuf of the whole ends.
            let data = tcp.payload.len().div_ceil(1 + numbers.below(7)).max(4);
            let whole =
                segments(&pool, &tcp.bytes(), [tcp.headers() + 1 + numbers.below(1_000)].into_iter().chain([2_048; 4]));
            let request = TxRequest::ipv4(14, 20).tcp_segments(tcp.l4_len() as u8, data as u16);
            let mut burst = Burst::<(), 8>::new();
            let count = segmenter.segment(whole, &request, &mut burst).unwrap();
            if round % 3 == 0 {
                assert_eq!(join_burst(&mut burst), count - 1, "round {round}");
            } else {
                assert_eq!(table.join(&mut burst), count, "round {round}");
                assert_eq!((burst.len(), table.len()), (0, 1));
                assert_eq!(table.flush(&mut burst), 1);
            }
            assert_eq!((burst.len(), table.is_empty()), (1, true));
            assert!(bytes(&burst[0]) == tcp.bytes(), "round {round}: {count} segments");
            let counted: usize = burst[0].segments().map(<[u8]>::len).sum();
            assert_eq!((counted, burst[0].segments().count()), (burst[0].len(), burst[0].segment_count()));
            // It is a packet like any other.
            let rest = burst[0].split_off(tcp.headers() + 20, &pool).unwrap();
            assert_eq!(bytes(&rest), tcp.payload[20..]);
            drop((rest, burst));
            for pool in [&pool, &headers] {
                assert_eq!(pool.available(), pool.size(), "round {round}: {pool:?}");
            }
        }
    });
}

/// Segments that must not be joined stay in the burst, unchanged. So does the next segment of the stream.
#[test]
fn what_cannot_be_joined_is_left_alone() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut table = GroTable::builder().build(&eal).unwrap();
        let good = middle(100, &[7; 100]);
        let changed = |at: usize, byte: u8| {
            let mut bytes = good.bytes();
            bytes[at] = byte;
            bytes
        };
        // With a right IPv4 checksum.
        let rewritten = |at: usize, byte: u8| {
            let mut bytes = changed(at, byte);
            bytes[24..26].fill(0);
            let checksum = !(sum(&bytes[14..34]) as u16);
            bytes[24..26].copy_from_slice(&checksum.to_be_bytes());
            bytes
        };
        let cases = [
            ("no data", middle(100, &[]).bytes()),
            ("less than two bytes for an mbuf", middle(100, &[7]).bytes()),
            ("PSH", Tcp { flags: ACK | PSH, ..good.clone() }.bytes()),
            ("FIN", Tcp { flags: ACK | FIN, ..good.clone() }.bytes()),
            ("no ACK", Tcp { flags: 0, ..good.clone() }.bytes()),
            ("a VLAN tag", Tcp { tags: 1, ..good.clone() }.bytes()),
            ("IPv4 options", Tcp { ip_options: vec![1; 4], ..good.clone() }.bytes()),
            ("a wrong IPv4 checksum", changed(24, 0xee)),
            ("another TTL than the checksum says", changed(22, 63)),
            ("a wrong TCP checksum", changed(80, 8)),
            ("a fragment", rewritten(20, 0x20)),
            ("a fragment that is not the first", rewritten(21, 1)),
            ("UDP", rewritten(23, 17)),
            ("IPv6", rewritten(14, 0x65)),
            ("another type of Ethernet frame", changed(13, 6)),
            ("a TCP header of 16 bytes", changed(46, 0x40)),
            ("a TCP header that is longer than the packet", changed(46, 0xf0)),
            ("an IPv4 packet that is longer than the frame", rewritten(17, 141)),
            ("an IPv4 packet that is shorter than its headers", rewritten(17, 39)),
            ("nothing", vec![]),
            ("half a header", good.bytes()[..40].to_vec()),
        ];
        let mut left = |what: &str, packet: Packet| {
            let before = bytes(&packet);
            let mut burst = Burst::<(), 2>::new();
            burst.push(packet).unwrap();
            assert_eq!((table.join(&mut burst), table.len(), bytes(&burst[0]) == before), (0, 0, true), "{what}");
            assert_eq!((join_burst(&mut burst), bytes(&burst[0]) == before), (0, true), "{what}");
            burst.pop().unwrap()
        };
        for (what, bytes) in &cases {
            left(what, packet(&pool, bytes));
        }
        left("headers in two mbufs", segments(&pool, &good.bytes(), [53]));
        left("more mbufs than pairs of bytes", segments(&pool, &middle(0, &[7; 7]).bytes(), [54, 1, 1, 1, 1]));
        let mut shared = packet(&pool, &good.bytes());
        let mut share = left("a share", shared.share(&pool).unwrap());
        left("a packet that has one", shared);
        assert!(share.data_mut().is_err());
        drop(share);
        // The mark of a router that has too many packets, with right checksums.
        let mut marked = good.bytes();
        marked[15] = 3;
        marked[25] -= 1;
        left("CE", packet(&pool, &marked));
        // A reserved bit of the TCP header, too.
        let mut reserved = good.bytes();
        reserved[46] |= 1;
        reserved[50] -= 1;
        left("a reserved bit", packet(&pool, &reserved));
        // Without the changes it can be joined.
        let mut burst = Burst::<(), 2>::new();
        burst.push(packet(&pool, &good.bytes())).unwrap();
        assert_eq!(table.join(&mut burst), 1);
        drop((burst, table));
        assert_eq!(pool.available(), pool.size());
    });
}

/// Segments of several streams in any order, some lost, some twice, with frames of any kind between them: each byte comes out as
/// often as it came in, in right frames, and all else as it was.
#[test]
fn streams_come_out_as_they_came() {
    isolated(&[], |eal| {
        let pool: Mempool = Mempool::builder("pool").size(1_023).data_room(4_096).build(&eal).unwrap();
        let mut numbers = Numbers(5);
        for round in 0..150 {
            let mut table = GroTable::builder().flows(2).packets_per_flow(6).build(&eal).unwrap();
            let long = round % 10 == 0;
            let streams: Vec<Vec<u8>> = (0..3)
                .map(|number| frame(number, if long { 120_000 } else { 3_000 + numbers.below(20_000) }))
                .collect();
            let mut count: Vec<Vec<i32>> = streams.iter().map(|data| vec![0; data.len()]).collect();
            let mut noise: Vec<Vec<u8>> = Vec::new();
            let mut places = [0; 3];
            let mut waiting: Vec<Vec<u8>> = Vec::new();
            let mut out: Vec<Vec<u8>> = Vec::new();
            let mut burst = Burst::<(), 32>::new();
            for _ in 0..40 + 80 * usize::from(long) {
                let stream = numbers.below(3);
                let place = places[stream];
                let len = (4 + numbers.below(if long { 3_500 } else { 900 })).min(streams[stream].len() - place);
                if len < 4 {
                    continue;
                }
                places[stream] += len;
                let one = Tcp { port: stream as u16, ..middle(place, &streams[stream][place..place + len]) };
                let mut bytes = one.bytes();
                match numbers.below(12) {
                    0 => continue,
                    1 => {
                        bytes = Tcp { flags: ACK | PSH, ..one }.bytes();
                        noise.push(bytes.clone());
                    }
                    2 => {
                        // The last two bytes of an Ethernet address, which no checksum covers.
                        let at = 12 + numbers.below(bytes.len() - 12);
                        bytes[at] ^= 1 << numbers.below(8);
                        noise.push(bytes.clone());
                    }
                    3 => {
                        bytes.truncate(1 + numbers.below(bytes.len() - 1));
                        noise.push(bytes.clone());
                    }
                    other => {
                        let copies = if other == 4 { 2 } else { 1 };
                        count[stream][place..place + len].iter_mut().for_each(|count| *count += copies);
                        if copies == 2 {
                            waiting.push(bytes.clone());
                        }
                    }
                }
                waiting.push(bytes);
                // Sometimes reordered, sometimes with padding.
                if numbers.below(3) == 0 && waiting.len() > 1 {
                    let (one, other) = (numbers.below(waiting.len()), waiting.len() - 1);
                    waiting.swap(one, other);
                }
                if numbers.below(4) != 0 {
                    continue;
                }
                for bytes in waiting.drain(..) {
                    let packet = segments(&pool, &bytes, [54 + numbers.below(2_000)]);
                    burst.push(packet).unwrap_or_else(|packet| out.push(crate::frames::bytes(&packet)));
                }
                let _count = if numbers.below(3) == 0 { join_burst(&mut burst) } else { table.join(&mut burst) };
                let _count = if numbers.below(3) == 0 { table.flush(&mut burst) } else { 0 };
                out.extend(burst.drain().map(|packet| crate::frames::bytes(&packet)));
            }
            out.append(&mut waiting);
            while table.flush_all(&mut burst) != 0 {
                out.extend(burst.drain().map(|packet| crate::frames::bytes(&packet)));
            }
            assert_eq!(pool.available(), pool.size(), "round {round}");
            for frame in &noise {
                let place = out.iter().position(|out| out == frame).unwrap_or_else(|| panic!("round {round}: lost"));
                out.swap_remove(place);
            }
            for frame in &out {
                let (stream, place) = (usize::from(frame[35]), u32::from_be_bytes(frame[38..42].try_into().unwrap()));
                let (place, payload) = (place as usize, &frame[54..]);
                assert!(payload.len() <= 65_495 && payload == &streams[stream][place..place + payload.len()]);
                assert!(*frame == Tcp { port: stream as u16, ..middle(place, payload) }.bytes(), "round {round}");
                count[stream][place..place + payload.len()].iter_mut().for_each(|count| *count -= 1);
            }
            assert!(count.iter().flatten().all(|count| *count == 0), "round {round}: as often as they came");
        }
    });
}

/// The table keeps packets until there is room for them, and for the timeout.
#[test]
fn a_table_keeps_what_it_has_taken() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let refused =
            |flows, packets| match GroTable::<()>::builder().flows(flows).packets_per_flow(packets).build(&eal) {
                Err(error) => error,
                Ok(table) => panic!("{table:?}"),
            };
        assert!(matches!(refused(1_025, 1_024), CreateError::TooLarge { elements: 1_049_600, .. }));
        assert!(matches!(refused(65_535, 65_535), CreateError::TooLarge { .. }));
        for (flows, packets) in [(0, 1), (1, 0)] {
            assert_eq!(refused(flows, packets).errno(), Some(Errno::new(EINVAL)));
        }
        // Two places: a third stream has to wait, with the bytes behind its packet taken off.
        let mut table = GroTable::builder().flows(2).packets_per_flow(1).timeout(Duration::MAX).build(&eal).unwrap();
        let mut burst = Burst::<(), 4>::new();
        let stream = |port, place| Tcp { port, ..middle(place, &[port as u8; 10]) };
        for (port, place) in [(1, 0), (2, 0), (3, 0), (1, 10)] {
            // In mbufs of their own, which DPDK does not take off.
            let padded = [stream(port, place).bytes(), vec![0; 9]].concat();
            burst.push(segments(&pool, &padded, [64, 3])).unwrap();
        }
        assert_eq!((table.join(&mut burst), table.len(), burst.len()), (3, 2, 1));
        assert_eq!(bytes(&burst[0]), stream(3, 0).bytes());
        // Nothing has waited for so long, and there is no room.
        assert_eq!(table.flush(&mut burst), 0);
        while burst.push(packet(&pool, &[])).is_ok() {}
        assert_eq!((table.flush_all(&mut burst), table.len()), (0, 2));
        burst.clear();
        assert_eq!((table.flush_all(&mut burst), table.is_empty()), (2, true));
        let joined = Tcp { port: 1, ..middle(0, &[1; 20]) }.bytes();
        assert_eq!([bytes(&burst[0]), bytes(&burst[1])], [joined, stream(2, 0).bytes()]);
        // Packets in the table return to their pool when it is dropped, in whatever order.
        burst.clear();
        let mut table = GroTable::builder().build(&eal).unwrap();
        let mut burst = Burst::<(), 100>::new();
        for port in 0..100 {
            burst.push(packet(&pool, &stream(port, 0).bytes())).unwrap();
        }
        assert_eq!((table.join(&mut burst), table.len(), pool.available()), (100, 100, pool.size() - 100));
        drop((eal, table));
        assert_eq!(pool.available(), pool.size());
    });
}
