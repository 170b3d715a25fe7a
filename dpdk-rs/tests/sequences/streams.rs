// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! TCP packets that are cut into segments, and segments that are joined, beside the bytes of their streams and a count of the
//! mbufs that each takes.

use crate::raw::{self, Usage};
use dpdk_rs::{
    Burst, Eal, Mempool, Packet, TxRequest,
    offload::{GroTable, SegmentationError, Segmenter, join_burst},
};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;
use std::time::Duration;

/// How long the headers are: of Ethernet, IPv4 and TCP.
const HEADERS: usize = 14 + 20 + 20;

/// Mbufs of each pool.
const SIZE: u32 = 63;

/// Packets that a burst takes.
const MOST: usize = 8;

const PSH: u8 = 0x08;
const ACK: u8 = 0x10;

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct StreamPlan {
    #[proptest(strategy = "vec(any::<StreamDeed>(), 0..40)")]
    deeds: Vec<StreamDeed>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum StreamDeed {
    /// Makes the next packet of a stream and cuts it. Its mbufs are of any length.
    #[proptest(weight = 5)]
    Cut {
        #[proptest(strategy = "0_u16..3")]
        stream: u16,
        #[proptest(strategy = "1_u16..4_000")]
        len: u16,
        #[proptest(strategy = "0_u16..1_990")]
        first: u16,
        #[proptest(strategy = "1_u16..2_100")]
        most: u16,
        whole: bool,
        #[proptest(strategy = "prop::bool::weighted(0.2)")]
        push: bool,
    },
    /// Gives segments to the table.
    #[proptest(weight = 5)]
    Give { which: [u8; MOST] },
    /// Joins the segments of a burst.
    #[proptest(weight = 3)]
    Join { which: [u8; MOST] },
    #[proptest(weight = 3)]
    Flush { all: bool },
    #[proptest(weight = 3)]
    Drop { which: u8 },
    /// The table is dropped with what is in it.
    #[proptest(weight = 1)]
    Replace {
        #[proptest(strategy = "1_u16..4")]
        streams: u16,
        #[proptest(strategy = "1_u16..4")]
        packets: u16,
        hours: bool,
    },
}

/// What differs between the headers of two segments.
#[derive(Clone, Copy, Debug)]
struct Header {
    stream: u16,
    sequence: u32,
    id: u16,
    whole: bool,
    flags: u8,
}

/// What a packet holds.
#[derive(Debug)]
struct Part {
    header: Header,
    payload: Vec<u8>,
    /// Mbufs of the three pools. Those of the data may be shared with other packets of the same origin.
    mbufs: [usize; 3],
    origins: Vec<usize>,
}

/// In the order of the drops: pools that are not full would be freed later.
struct Laboratory {
    held: Vec<(Packet, Part)>,
    inside: Vec<Part>,
    table: GroTable,
    hours: bool,
    segmenter: Segmenter,
    pools: [Mempool; 3],
    /// By stream: the number of its next byte.
    next: [u32; 3],
    /// By origin: how many mbufs it had.
    origins: Vec<usize>,
}

/// Does what is planned, and frees what is left.
pub(crate) fn run(eal: &Eal, number: u64, plan: &StreamPlan) {
    let before = Usage::now();
    let names = ["whole", "heads", "parts"].map(|name| format!("{name}{number}"));
    let pools = [(0, 2_176), (1, 128 + HEADERS as u16), (2, 0)].map(|(name, room)| {
        let pool = Mempool::builder(names[name].as_str()).size(SIZE).cache(0).data_room(room);
        pool.build(eal).expect("the pool can be made")
    });
    let mut laboratory = Laboratory {
        held: Vec::new(),
        inside: Vec::new(),
        table: GroTable::builder().build(eal).expect("the table can be made"),
        hours: false,
        segmenter: Segmenter::new(&pools[1], &pools[2]).expect("the pool has room for headers"),
        pools,
        next: [7, u32::MAX - 3_000, 1 << 31],
        origins: Vec::new(),
    };
    for deed in &plan.deeds {
        laboratory.act(eal, *deed);
        laboratory.compare();
    }
    drop(laboratory);
    assert!(!names.iter().any(|name| raw::pool_exists(name)), "mbufs that are out of their pool");
    assert_eq!(Usage::now(), before, "segments that are gone hold memory");
}

fn bytes(packet: &Packet) -> Vec<u8> {
    packet.segments().collect::<Vec<_>>().concat()
}

/// The checksum of RFC 1071 over pieces of even length, but for the last.
fn checksum(pieces: &[&[u8]]) -> [u8; 2] {
    let words = pieces.iter().flat_map(|piece| piece.chunks(2));
    let mut sum: u32 = words.map(|word| u32::from(word[0]) << 8 | word.get(1).copied().map_or(0, u32::from)).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    (!(sum as u16)).to_be_bytes()
}

impl Header {
    fn frame(self, payload: &[u8]) -> Vec<u8> {
        let len = ((HEADERS - 14 + payload.len()) as u16).to_be_bytes();
        let mut ip = vec![0x45, 0, len[0], len[1]];
        ip.extend(self.id.to_be_bytes());
        ip.extend([if self.whole { 0x40 } else { 0 }, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        let sum = checksum(&[&ip]);
        ip[10..12].copy_from_slice(&sum);
        let mut tcp = [80_u16.to_be_bytes(), self.stream.to_be_bytes()].concat();
        tcp.extend(self.sequence.to_be_bytes());
        tcp.extend([9, 9, 9, 9, 0x50, self.flags, 0x20, 0, 0, 0, 0, 0]);
        let len = ((tcp.len() + payload.len()) as u16).to_be_bytes();
        let sum = checksum(&[&ip[12..20], &[0, 6], &len, &tcp, payload]);
        tcp[16..18].copy_from_slice(&sum);
        [&[2; 12][..], &[8, 0], &ip, &tcp, payload].concat()
    }
}

impl Laboratory {
    fn act(&mut self, eal: &Eal, deed: StreamDeed) {
        match deed {
            StreamDeed::Cut { stream, len, first, most, whole, push } => {
                let flags = if push { ACK | PSH } else { ACK };
                let sequence = self.next[usize::from(stream)];
                let header = Header { stream, sequence, id: sequence as u16 ^ 0x5555, whole, flags };
                self.cut(header, usize::from(len), usize::from(first), most);
            }
            StreamDeed::Give { which } => {
                let (mut burst, mut parts) = self.choose(which);
                let given = burst.len();
                let taken = self.table.join(&mut burst);
                assert_eq!(taken + burst.len(), given);
                self.held.extend(burst.drain().map(|packet| claim(&mut parts, packet)));
                self.inside.append(&mut parts);
            }
            StreamDeed::Join { which } => {
                let (mut burst, mut parts) = self.choose(which);
                let given = burst.len();
                let fewer = join_burst(&mut burst);
                assert_eq!(fewer + burst.len(), given);
                self.held.extend(burst.drain().map(|packet| claim(&mut parts, packet)));
                assert_eq!(parts.len(), 0, "segments that were lost");
            }
            StreamDeed::Flush { all } => {
                let mut burst = Burst::<(), MOST>::new();
                let before = self.table.len();
                let given = if all { self.table.flush_all(&mut burst) } else { self.table.flush(&mut burst) };
                let expected = if self.hours && !all { 0 } else { before.min(MOST) };
                assert_eq!((given, burst.len(), self.table.len()), (expected, expected, before - expected));
                self.held.extend(burst.drain().map(|packet| claim(&mut self.inside, packet)));
            }
            StreamDeed::Drop { which } => {
                if let Some(place) = usize::from(which).checked_rem(self.held.len()) {
                    self.held.swap_remove(place);
                }
            }
            StreamDeed::Replace { streams, packets, hours } => {
                let timeout = if hours { Duration::from_secs(3_600) } else { Duration::ZERO };
                let table = GroTable::builder().flows(streams).packets_per_flow(packets).timeout(timeout).build(eal);
                self.table = table.expect("the table can be made");
                (self.hours, self.inside) = (hours, Vec::new());
            }
        }
    }

    /// A burst of held packets in any order.
    fn choose(&mut self, which: [u8; MOST]) -> (Burst<(), MOST>, Vec<Part>) {
        let (mut burst, mut parts) = (Burst::new(), Vec::new());
        for which in which {
            let Some(place) = usize::from(which).checked_rem(self.held.len()) else { break };
            let (packet, part) = self.held.swap_remove(place);
            burst.push(packet).expect("there is room");
            parts.push(part);
        }
        (burst, parts)
    }

    fn cut(&mut self, header: Header, len: usize, first: usize, most: u16) {
        let payload: Vec<u8> = (0..len).map(|place| (place * 3 + self.origins.len()) as u8).collect();
        let frame = header.frame(&payload);
        let Some(packet) = self.whole(&frame, HEADERS + first) else { return };
        let mbufs = packet.segment_count();
        let request = TxRequest::ipv4(14, 20).tcp_segments(20, most);
        let (needed, free) = (len.div_ceil(usize::from(most)), [1, 2].map(|pool| self.pools[pool].available()));
        let mut burst = Burst::<(), MOST>::new();
        match self.segmenter.segment(packet, &request, &mut burst) {
            Ok(count) => assert!(count == needed && count == burst.len() && (count == 1 || count <= free[0])),
            Err((error, packet)) => {
                assert_eq!(bytes(&packet), frame);
                match error {
                    SegmentationError::NoRoom { needed: asked, room: MOST } => {
                        assert_eq!((asked, needed > MOST), (needed, true))
                    }
                    SegmentationError::NoMbuf => assert!(needed > free[0] || needed + mbufs > free[1], "{free:?}"),
                    error => panic!("{error}"),
                }
                return;
            }
        }
        let origin = self.origins.len();
        self.origins.push(mbufs);
        self.next[usize::from(header.stream)] = header.sequence.wrapping_add(len as u32);
        for (number, (packet, payload)) in burst.drain().zip(payload.chunks(usize::from(most))).enumerate() {
            let sequence = header.sequence.wrapping_add((number * usize::from(most)) as u32);
            let flags = if number + 1 < needed { ACK } else { header.flags };
            let header = Header { sequence, id: header.id.wrapping_add(number as u16), flags, ..header };
            let mbufs = if needed == 1 { [mbufs, 0, 0] } else { [0, 1, packet.segment_count() - 1] };
            let mut parts = vec![Part { header, payload: payload.to_vec(), mbufs, origins: vec![origin] }];
            self.held.push(claim(&mut parts, packet));
        }
    }

    /// A packet whose first mbuf has so many of the bytes.
    fn whole(&self, frame: &[u8], first: usize) -> Option<Packet> {
        let (first, rest) = frame.split_at(first.min(frame.len()));
        let mut pieces = [first].into_iter().chain(rest.chunks(700)).map(|piece| {
            let mut packet = self.pools[0].alloc()?;
            packet.append(piece.len()).expect("it fits").copy_from_slice(piece);
            Some(packet)
        });
        let mut packet = pieces.next()??;
        for piece in pieces {
            packet.chain(piece?).expect("there is room for it");
        }
        Some(packet)
    }

    /// Which mbufs are out of the pools: those of a packet that was cut as long as a segment refers to it.
    fn compare(&self) {
        let parts = || self.held.iter().map(|(_, part)| part).chain(&self.inside);
        let out = self.pools.each_ref().map(|pool| pool.size() - pool.available());
        let counted = [1, 2].map(|pool| parts().map(|part| part.mbufs[pool]).sum::<usize>());
        assert_eq!(out[1..], counted, "mbufs of headers, and those that refer to data");
        let live = |origin: &usize| parts().any(|part| part.origins.contains(origin));
        let live: Vec<usize> = (0..self.origins.len()).filter(live).map(|origin| self.origins[origin]).collect();
        assert!((live.len()..=live.iter().sum()).contains(&out[0]), "{} mbufs of {live:?} are out", out[0]);
        let most = self.inside.len();
        assert!(self.table.len() <= most && (most == 0) == self.table.is_empty(), "{} of {most}", self.table.len());
    }
}

/// Finds out which parts a packet is made of: they follow each other, and are taken away.
fn claim(parts: &mut Vec<Part>, packet: Packet) -> (Packet, Part) {
    let bytes = bytes(&packet);
    let stream = u16::from_be_bytes([bytes[36], bytes[37]]);
    let mut sequence = u32::from_be_bytes([bytes[38], bytes[39], bytes[40], bytes[41]]);
    let mut whole: Option<Part> = None;
    while whole.as_ref().is_none_or(|whole| HEADERS + whole.payload.len() < bytes.len()) {
        let is_next = |part: &Part| (part.header.stream, part.header.sequence) == (stream, sequence);
        let place = parts.iter().position(is_next).expect("each part of a packet was given");
        let mut part = parts.swap_remove(place);
        sequence = sequence.wrapping_add(part.payload.len() as u32);
        let Some(whole) = &mut whole else {
            whole = Some(part);
            continue;
        };
        whole.payload.append(&mut part.payload);
        whole.origins.append(&mut part.origins);
        whole.mbufs.iter_mut().zip(part.mbufs).for_each(|(all, more)| *all += more);
    }
    let part = whole.expect("a packet has bytes");
    assert!(part.header.frame(&part.payload) == bytes, "{:?} became {bytes:02x?}", part.header);
    assert_eq!(packet.segment_count(), part.mbufs.iter().sum::<usize>());
    (packet, part)
}
