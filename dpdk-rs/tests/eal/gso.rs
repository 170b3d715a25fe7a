// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Cutting TCP segments in software, compared with segments that are built one by one.

use crate::{
    fragments::{segments, sum},
    frames::{bytes, frame, packet, pool},
    numbers::Numbers,
    process::isolated,
};
use dpdk_rs::{
    Burst, Mempool, Packet, PacketError, RequestError, TxRequest,
    fragment::HeaderError,
    offload::{SegmentationError, Segmenter},
};

pub(crate) const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
pub(crate) const PSH: u8 = 0x08;
pub(crate) const ACK: u8 = 0x10;
const ECE: u8 = 0x40;
const CWR: u8 = 0x80;

/// A TCP segment in IPv4, as its sender means it.
#[derive(Clone)]
pub(crate) struct Tcp {
    pub(crate) tags: usize,
    pub(crate) ip_options: Vec<u8>,
    pub(crate) tcp_options: Vec<u8>,
    pub(crate) id: u16,
    pub(crate) whole: bool,
    pub(crate) port: u16,
    pub(crate) sequence: u32,
    pub(crate) flags: u8,
    pub(crate) payload: Vec<u8>,
}

impl Tcp {
    pub(crate) fn new(payload: Vec<u8>) -> Self {
        let (ip_options, tcp_options) = (Vec::new(), Vec::new());
        Self { tags: 0, ip_options, tcp_options, id: 0, whole: false, port: 80, sequence: 1, flags: ACK, payload }
    }

    pub(crate) fn l2_len(&self) -> usize {
        14 + 4 * self.tags
    }

    pub(crate) fn l3_len(&self) -> usize {
        20 + self.ip_options.len()
    }

    pub(crate) fn l4_len(&self) -> usize {
        20 + self.tcp_options.len()
    }

    pub(crate) fn headers(&self) -> usize {
        self.l2_len() + self.l3_len() + self.l4_len()
    }

    /// The frame, with correct lengths and checksums.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let len = ((self.l3_len() + self.l4_len() + self.payload.len()) as u16).to_be_bytes();
        let mut ip = vec![0x40 | (self.l3_len() / 4) as u8, 2, len[0], len[1]];
        ip.extend(self.id.to_be_bytes());
        ip.extend([if self.whole { 0x40 } else { 0 }, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        ip.extend(&self.ip_options);
        let checksum = !(sum(&ip) as u16);
        ip[10..12].copy_from_slice(&checksum.to_be_bytes());
        let mut tcp = [self.port.to_be_bytes(), 40_000_u16.to_be_bytes()].concat();
        tcp.extend(self.sequence.to_be_bytes());
        tcp.extend([9, 9, 9, 9, (self.l4_len() / 4 * 16) as u8, self.flags, 0x20, 0, 0, 0, 0, 0]);
        tcp.extend(&self.tcp_options);
        tcp.extend(&self.payload);
        let pseudo = [&ip[12..20], &[0, 6], &(tcp.len() as u16).to_be_bytes()].concat();
        let mut words: u32 = pseudo.chunks(2).chain(tcp.chunks(2)).map(word).sum();
        while words > 0xffff {
            words = (words & 0xffff) + (words >> 16);
        }
        tcp[16..18].copy_from_slice(&(!(words as u16)).to_be_bytes());
        let mut frame = vec![2; 12];
        frame.extend([0x81, 0, 0, 7].repeat(self.tags));
        [frame, vec![8, 0], ip, tcp].concat()
    }

    /// The expected segments with this many bytes of data each.
    fn cut(&self, data: usize, fixed_ids: bool) -> Vec<Vec<u8>> {
        let count = self.payload.len().div_ceil(data).max(1);
        let segment = |number: usize| {
            let mut one = self.clone();
            one.payload = self.payload.iter().copied().skip(number * data).take(data).collect();
            one.sequence = self.sequence.wrapping_add((number * data) as u32);
            one.id = if fixed_ids { self.id } else { self.id.wrapping_add(number as u16) };
            one.flags &= if number + 1 < count { !(PSH | FIN) } else { 0xff };
            one.flags &= if number > 0 { !CWR } else { 0xff };
            one.bytes()
        };
        (0..count).map(segment).collect()
    }

    fn request(&self, data: usize) -> TxRequest {
        TxRequest::ipv4(self.l2_len() as u8, self.l3_len() as u16).tcp_segments(self.l4_len() as u8, data as u16)
    }
}

fn word(bytes: &[u8]) -> u32 {
    u32::from(bytes[0]) << 8 | bytes.get(1).copied().map_or(0, u32::from)
}

/// A segment of random headers, with so many bytes of data at most.
fn random(numbers: &mut Numbers, longest: usize) -> Tcp {
    let payload = frame(numbers.below(1_000), numbers.below(longest + 1));
    Tcp {
        tags: numbers.below(3),
        ip_options: vec![1; numbers.below(11) * 4],
        tcp_options: frame(1, numbers.below(11) * 4),
        id: numbers.next() as u16,
        whole: numbers.below(2) == 0,
        sequence: numbers.next() as u32,
        flags: ACK | numbers.next() as u8 & (PSH | FIN | ECE | CWR),
        ..Tcp::new(payload)
    }
}

/// Segments of random packets, in any chain of mbufs, have the expected bytes, and return all mbufs.
#[test]
fn segments_are_those_that_a_sender_would_make() {
    isolated(&[], |eal| {
        let (pool, headers): (Mempool, Mempool) = (pool(&eal, "pool"), pool(&eal, "headers"));
        let references: Mempool = Mempool::builder("references").size(1_023).data_room(0).build(&eal).unwrap();
        let segmenter = Segmenter::new(&headers, &references).unwrap();
        // With all options and two tags there are 142 bytes of headers: more than most pools keep in reserve.
        let mut numbers = Numbers(3);
        for round in 0..400 {
            let tcp = random(&mut numbers, if round % 8 == 0 { 30_000 } else { 3_000 });
            let data = (1 + numbers.below(2_000)).max(tcp.payload.len().div_ceil(64));
            let fixed = round % 3 == 0;
            let before = tcp.bytes();
            // All headers in the first mbuf, and behind them mbufs of any length.
            let cuts = [tcp.headers() + numbers.below(100)].into_iter();
            let packet = segments(&pool, &before, cuts.chain((0..40).map(|_| 1 + numbers.below(2_000))));
            let mut out = Burst::<(), 65>::new();
            out.push(headers.alloc().unwrap()).unwrap();
            let kept = Segmenter::new(&headers, &references).unwrap().fixed_ids();
            let count = if fixed { &kept } else { &segmenter }.segment(packet, &tcp.request(data), &mut out).unwrap();
            let expected = tcp.cut(data, fixed);
            assert_eq!((count, out.len()), (expected.len(), expected.len() + 1), "round {round}");
            for (number, (one, expected)) in out.iter().skip(1).zip(&expected).enumerate() {
                assert!(bytes(one) == *expected, "round {round}, segment {number} of {count}");
                let counted: usize = one.segments().map(<[u8]>::len).sum();
                assert_eq!((counted, one.segments().count()), (one.len(), one.segment_count()));
            }
            // In any order, each by itself: the data stays until the last.
            while !out.is_empty() {
                let one = out.swap_remove(numbers.below(out.len())).unwrap();
                let rest: Vec<Vec<u8>> = out.iter().map(bytes).collect();
                drop(one);
                assert!(rest.iter().zip(&out).all(|(before, one)| *before == bytes(one)));
            }
            for pool in [&pool, &headers, &references] {
                assert_eq!(pool.available(), pool.size(), "round {round}: {pool:?}");
            }
        }
    });
}

/// Other owners of the data see no change, and the data can be changed again once they are all dropped.
#[test]
fn segments_share_the_data_of_their_packet() {
    isolated(&[], |eal| {
        let (pool, headers): (Mempool, Mempool) = (pool(&eal, "pool"), pool(&eal, "headers"));
        let segmenter = Segmenter::new(&headers, &pool).unwrap();
        let tcp = Tcp { flags: ACK | PSH, ..Tcp::new(frame(1, 1_900)) };
        let mut whole = packet(&pool, &tcp.bytes());
        let share = whole.share(&pool).unwrap();
        let mut out = Burst::<(), 8>::new();
        // The share has no mbuf of its own for the headers.
        let (error, share) = segmenter.segment(share, &tcp.request(1_000), &mut out).unwrap_err();
        assert_eq!((error, bytes(&share) == tcp.bytes(), out.len()), (SegmentationError::Elsewhere, true, 0));
        assert_eq!(segmenter.segment(whole, &tcp.request(1_000), &mut out).unwrap(), 2);
        assert!(bytes(&share) == tcp.bytes());
        let first = &mut out[0];
        assert_eq!(first.segments_mut().map(|_| ()), Err(PacketError::Shared));
        first.data_mut().unwrap()[0] = 0xaa;
        assert!(bytes(&share) == tcp.bytes(), "the headers are the segment's own");
        // What was a part of the data can become a packet of its own.
        let rest = first.split_off(tcp.headers(), &pool).unwrap();
        assert_eq!((bytes(&rest), rest.port()), (tcp.payload[..1_000].to_vec(), None));
        drop((share, rest));
        out.clear();
        // Headers of their own in front of data of the program.
        let buffer = Packet::attach(&pool, tcp.payload.clone()).map_err(|(error, _)| error).unwrap();
        let mut front = packet(&pool, &tcp.bytes()[..tcp.headers()]);
        front.chain(buffer).unwrap();
        assert_eq!(segmenter.segment(front, &tcp.request(800), &mut out).unwrap(), 3);
        let found: Vec<Vec<u8>> = out.iter().map(bytes).collect();
        assert_eq!(found, tcp.cut(800, false));
        // A packet that is short enough needs its headers for itself.
        let short = Tcp::new(vec![7; 9]);
        let mut one = packet(&pool, &short.bytes());
        let share = one.share(&pool).unwrap();
        let (error, one) = segmenter.segment(one, &short.request(9), &mut out).unwrap_err();
        assert_eq!(error, SegmentationError::Shared);
        drop(share);
        assert_eq!(segmenter.segment(one, &short.request(9), &mut out).unwrap(), 1);
        assert_eq!(bytes(&out[3]), short.bytes());
        drop(out);
        for pool in [&pool, &headers] {
            assert_eq!(pool.available(), pool.size(), "{pool:?}");
        }
    });
}

/// A packet that cannot be cut is returned unchanged, with the reason.
#[test]
fn what_cannot_be_cut_comes_back() {
    isolated(&[], |eal| {
        let (pool, headers): (Mempool, Mempool) = (pool(&eal, "pool"), pool(&eal, "headers"));
        let big: Mempool = Mempool::builder("big").size(3).cache(0).data_room(65_535).build(&eal).unwrap();
        let small: Mempool = Mempool::builder("small").data_room(128 + 53).build(&eal).unwrap();
        let error = Segmenter::new(&small, &pool).unwrap_err();
        assert_eq!(error, PacketError::NoRoom { asked: 54, room: 53 });
        let segmenter = Segmenter::new(&headers, &pool).unwrap();
        let refused = |segmenter: &Segmenter, packet: Packet, request: &TxRequest| {
            let (before, segments) = (bytes(&packet), packet.segment_count());
            let mut out = Burst::<(), 4>::new();
            let (error, packet) = segmenter.segment(packet, request, &mut out).unwrap_err();
            assert!(bytes(&packet) == before && packet.segment_count() == segments && out.is_empty(), "{error}");
            assert!(!packet.is_shared(), "{error}");
            error
        };
        let tcp = Tcp::new(frame(1, 1_000));
        let good = tcp.bytes();
        let request = tcp.request(400);
        let error = |packet: Packet| refused(&segmenter, packet, &request);
        let changed = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            error(packet(&pool, &bytes))
        };
        // Headers with wrong lengths.
        assert_eq!(changed(14, 0x46), RequestError::NotIp.into());
        assert_eq!(changed(14, 0x65), RequestError::NotIp.into());
        assert_eq!(changed(17, 0x11), HeaderError::Length { said: 1_041, found: 1_040 }.into());
        assert_eq!(changed(17, 0x0f), HeaderError::Length { said: 1_039, found: 1_040 }.into());
        assert_eq!(changed(16, 0), HeaderError::HeaderLength { header: 20, packet: 16 }.into());
        assert_eq!(changed(20, 0x20), SegmentationError::Fragment);
        assert_eq!(changed(21, 1), SegmentationError::Fragment);
        assert_eq!(changed(23, 17), SegmentationError::Protocol(17));
        assert_eq!(changed(46, 0x40), SegmentationError::TcpHeader { header: 16, room: 1_020 });
        assert_eq!(changed(46, 0x60), RequestError::Length { what: "TCP", len: 20 }.into());
        assert_eq!(changed(47, ACK | SYN), SegmentationError::Flags(ACK | SYN));
        // Headers that are not all in the first mbuf.
        let split = segments(&pool, &good, [53]);
        assert_eq!(error(split), RequestError::Header { what: "IP or TCP", len: 54, held: 53 }.into());
        // Other requests.
        let other = |request: &TxRequest| refused(&segmenter, packet(&pool, &good), request);
        for wrong in [
            TxRequest::new(),
            TxRequest::ipv4(14, 20).tcp_checksum(20),
            TxRequest::ipv6(14, 40).tcp_segments(20, 400),
            request.insert_vlan(1),
        ] {
            assert_eq!(other(&wrong), SegmentationError::Request, "{wrong:?}");
        }
        assert_eq!(other(&tcp.request(0)), RequestError::Segment(0).into());
        let long = TxRequest::ipv4(127, 20).tcp_segments(20, 400);
        assert_eq!(other(&long), RequestError::NotIp.into());
        // Too many of them, for the burst or for DPDK's count.
        assert_eq!(other(&tcp.request(249)), SegmentationError::NoRoom { needed: 5, room: 4 });
        let longest = Tcp::new(vec![7; 65_000]);
        let mut out = Burst::<(), 65_535>::new();
        let (error_of_many, back) =
            segmenter.segment(packet(&big, &longest.bytes()), &longest.request(7), &mut out).unwrap_err();
        assert_eq!((error_of_many, out.len()), (SegmentationError::TooMany { mbufs: 9_287 }, 0));
        drop(back);
        // DPDK would make a segment without data.
        let mut empty = packet(&pool, &good);
        empty.chain(pool.alloc().unwrap()).unwrap();
        assert_eq!(error(empty), SegmentationError::Empty(2));
        // Headers for which the mbufs of the segments have no room: DPDK would write behind them.
        let narrow: Mempool = Mempool::builder("narrow").data_room(128 + 54).build(&eal).unwrap();
        let options = Tcp { tcp_options: vec![1; 4], ..tcp.clone() };
        let narrow = Segmenter::new(&narrow, &pool).unwrap();
        let too_long = refused(&narrow, packet(&pool, &options.bytes()), &options.request(400));
        assert_eq!(too_long, RequestError::Length { what: "Ethernet, IP and TCP", len: 58 }.into());
        for pool in [&pool, &headers, &big] {
            assert_eq!(pool.available(), pool.size(), "{pool:?}");
        }
    });
}

/// Wherever mbufs run out, nothing is lost, and the packet can be cut once there are some.
#[test]
fn nothing_is_lost_without_mbufs() {
    isolated(&[], |eal| {
        let big: Mempool = Mempool::builder("big").size(31).cache(0).build(&eal).unwrap();
        let headers: Mempool = Mempool::builder("headers").size(4).cache(0).build(&eal).unwrap();
        let references: Mempool = Mempool::builder("references").size(7).cache(0).data_room(0).build(&eal).unwrap();
        let segmenter = Segmenter::new(&headers, &references).unwrap();
        let tcp = Tcp { flags: ACK | FIN | CWR, ..Tcp::new(frame(5, 2_000)) };
        // Four segments of three mbufs: six references.
        let mut packet = segments(&big, &tcp.bytes(), [700, 700]);
        let mut out = Burst::<(), 8>::new();
        for (free_headers, free_references) in (0..4).map(|free| (free, 7)).chain((0..6).map(|free| (4, free))) {
            let taken: Vec<Packet> = (free_headers..4).map(|_| headers.alloc().unwrap()).collect();
            let also: Vec<Packet> = (free_references..7).map(|_| references.alloc().unwrap()).collect();
            let error;
            (error, packet) = segmenter.segment(packet, &tcp.request(500), &mut out).unwrap_err();
            assert_eq!((error, out.len()), (SegmentationError::NoMbuf, 0), "{free_headers} {free_references}");
            assert!(bytes(&packet) == tcp.bytes() && !packet.is_shared());
            drop((taken, also));
            assert_eq!((headers.available(), references.available()), (4, 7));
        }
        assert_eq!(segmenter.segment(packet, &tcp.request(500), &mut out).unwrap(), 4);
        assert_eq!((headers.available(), references.available(), big.available()), (0, 1, 28));
        let found: Vec<Vec<u8>> = out.iter().map(bytes).collect();
        assert_eq!(found, tcp.cut(500, false));
        drop(out);
        assert_eq!((headers.available(), references.available(), big.available()), (4, 7, 31));
    });
}
