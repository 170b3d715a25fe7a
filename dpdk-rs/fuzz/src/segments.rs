// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! TCP segments that are cut and joined, among frames that lie: of a stream nothing is lost, doubled or changed, and nothing else is
//! touched.

use crate::{
    environment::{eal, packet},
    reader::Reader,
};
use dpdk_rs::{
    Burst, Mempool, Packet, TxRequest,
    offload::{GroTable, Segmenter, join_burst},
};
use std::{cell::RefCell, collections::BTreeMap};

const STEPS: usize = 40;
/// Bytes in an mbuf.
const ROOM: usize = 400;
/// So many mbufs are enough for whatever one step makes.
const RESERVE: usize = 800;

const ETHERNET: usize = 14;
const IP: usize = 20;
const ACK: u8 = 0x10;

/// The real things. Made once for all inputs.
struct Laboratory {
    pool: Mempool,
    headers: Mempool,
    table: GroTable,
    segmenter: Segmenter,
}

impl Laboratory {
    fn new() -> Self {
        let eal = eal(&[]);
        let pool: Mempool =
            Mempool::builder("pool").size(2047).cache(0).data_room(128 + ROOM as u16).build(eal).expect("a pool");
        let headers: Mempool =
            Mempool::builder("headers").size(511).cache(0).data_room(256).build(eal).expect("a pool");
        let table = GroTable::builder().flows(4).packets_per_flow(8).build(eal).expect("a table");
        let segmenter = Segmenter::new(&headers, &pool).expect("the headers have room");
        Self { pool, headers, table, segmenter }
    }
}

/// Frames, and of segments in the middle of a stream their bytes with the places that they have there: in how many packets they are
/// does not count.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    frames: Vec<Vec<u8>>,
    streams: BTreeMap<Vec<u8>, Vec<(u32, u8)>>,
}

impl Seen {
    fn add(&mut self, frame: &[u8]) {
        let Some((stream, sequence, payload)) = middle(frame) else { return self.frames.push(frame.to_vec()) };
        let bytes = self.streams.entry(stream).or_default();
        bytes.extend(payload.iter().zip(0..).map(|(byte, place)| (sequence.wrapping_add(place), *byte)));
    }

    fn sorted(mut self) -> Self {
        self.frames.sort();
        self.streams.values_mut().for_each(|bytes| bytes.sort_unstable());
        self
    }
}

fn number(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..at + 2).map_or(0, |pair| pair.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
}

/// The sum of RFC 1071.
fn sum(bytes: &[u8]) -> u16 {
    let pairs =
        bytes.chunks(2).map(|pair| pair.iter().chain(&[0]).take(2).fold(0, |sum, byte| sum << 8 | u32::from(*byte)));
    let mut sum: u32 = pairs.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The sum over a TCP segment and its pseudo header.
fn tcp_sum(ip: &[u8], tcp: &[u8]) -> u16 {
    let len = (tcp.len() as u16).to_be_bytes();
    sum(&[ip.get(12..20).unwrap_or_default(), &[0, 6], &len, tcp].concat())
}

/// Stream, sequence number and data of a segment without IPv4 options, with right checksums, and ACK as its only flag. Bytes behind
/// the IPv4 packet do not count.
fn middle(frame: &[u8]) -> Option<(Vec<u8>, u32, &[u8])> {
    let (link, ip) = frame.split_at_checked(ETHERNET)?;
    let ip = ip.get(..number(ip, 2))?;
    let (header, tcp) = ip.split_at_checked(IP)?;
    let plain = link.ends_with(&[8, 0]) && header.first() == Some(&0x45) && number(header, 6) & !0x4000 == 0;
    let tcp_header = usize::from(tcp.get(12)? >> 4) * 4;
    let (fixed, data) = tcp.split_at_checked(tcp_header.max(20))?;
    let right = sum(header) == 0xffff && tcp_sum(ip, tcp) == 0xffff;
    if !plain
        || tcp_header < 20
        || header.get(9) != Some(&6)
        || fixed.get(13) != Some(&ACK)
        || !right
        || data.is_empty()
    {
        return None;
    }
    let sequence = number(tcp, 4) << 16 | number(tcp, 6);
    let of_stream = [link, header.get(12..20)?, fixed.get(..4)?, fixed.get(8..13)?, fixed.get(20..)?];
    Some((of_stream.concat(), sequence as u32, data))
}

/// What a sender would make: a frame of one of few streams, and how long its headers are. Its checksums are right.
fn build(reader: &mut Reader<'_>, tags: usize, len: usize) -> (Vec<u8>, [usize; 3]) {
    let (port, kind, place) = (reader.byte() & 1, reader.byte(), u32::from(reader.byte() & 31));
    // One of the streams goes over the end of the numbers.
    let sequence = (u32::from(port) * u32::MAX).wrapping_add(place * 16).wrapping_sub(100);
    let options = if kind & 3 == 3 { 4 } else { 0 };
    let tcp_options = usize::from(kind >> 2 & 1) * 8;
    let lens = [ETHERNET + 4 * tags, IP + options, 20 + tcp_options];
    let flags = if kind & 0x18 == 0x18 { reader.byte() } else { ACK };
    let total = ((lens.iter().skip(1).sum::<usize>() + len) as u16).to_be_bytes();
    let whole = if kind & 0x20 == 0 { 0x40 } else { 0 };
    let mut ip = vec![0x40 | (lens[1] / 4) as u8, 0, total[0], total[1], 0, place as u8, whole, 0, 64, 6, 0, 0];
    ip.extend([10, 0, 0, 1, 10, 0, 0, 2]);
    ip.resize(lens[1], 1);
    let checksum = (!sum(&ip)).to_be_bytes();
    ip.splice(10..12, checksum);
    let mut tcp = vec![0, port, 0, 80];
    tcp.extend(sequence.to_be_bytes());
    tcp.extend([0, 0, 0, 1, (lens[2] / 4 * 16) as u8, flags, 16, 0, 0, 0, 0, 0]);
    tcp.resize(lens[2], 1);
    tcp.extend((0..len).map(|at| sequence.wrapping_add(at as u32) as u8));
    let checksum = (!tcp_sum(&ip, &tcp)).to_be_bytes();
    tcp.splice(16..18, checksum);
    ([vec![2; 12], [0x81, 0, 0, 7].repeat(tags), vec![8, 0], ip, tcp].concat(), lens)
}

/// As [`build`], and then wrong in up to one byte, with a right IPv4 checksum or without, and with bytes behind it.
fn draw(reader: &mut Reader<'_>) -> Vec<u8> {
    let choice = reader.byte();
    if choice == 0 {
        let len = 1 + reader.below(128);
        let mut frame = reader.bytes(len).to_vec();
        frame.push(0);
        return frame;
    }
    // Most end where others can begin.
    let len = if choice & 0x40 == 0 { 16 * (1 + reader.below(4)) } else { reader.below(100) };
    let (mut frame, _) = build(reader, usize::from(choice & 31 == 31), len);
    if choice & 7 == 7 {
        let at = usize::from(reader.byte()) % frame.len();
        frame.splice(at..=at, [reader.byte()]);
        if choice & 0x20 != 0 {
            frame.splice(24..26, [0, 0]);
            let checksum = !sum(frame.get(ETHERNET..ETHERNET + IP).unwrap_or_default());
            frame.splice(24..26, checksum.to_be_bytes());
        }
    }
    let padding = if choice & 0x18 == 0x18 { reader.below(40) } else { 0 };
    frame.resize(frame.len() + padding, 0xee);
    frame
}

fn bytes(packet: &Packet) -> Vec<u8> {
    packet.segments().collect::<Vec<_>>().concat()
}

/// A packet of the frame in mbufs of up to so many bytes, as far as there is room for more.
fn in_mbufs(pool: &Mempool, frame: &[u8], cut: usize) -> Packet {
    packet(pool, frame.chunks(cut.max(frame.len() / 6 + 1).min(ROOM)))
}

/// Draws frames from `data`, cuts and joins them, and looks at what comes out.
///
/// # Panics
/// If a byte is lost, doubled or changed, a segment that was made is wrong, or an mbuf is lost.
pub fn tcp_segments(data: &[u8]) {
    thread_local! {
        static LABORATORY: RefCell<Laboratory> = RefCell::new(Laboratory::new());
    }
    LABORATORY.with(|laboratory| experiment(&mut laboratory.borrow_mut(), data));
}

fn experiment(laboratory: &mut Laboratory, data: &[u8]) {
    let Laboratory { pool, headers, table, segmenter } = laboratory;
    let mut reader = Reader::new(data);
    let (mut given, mut got) = (Seen::default(), Seen::default());
    for _ in 0..STEPS {
        if reader.is_empty() {
            break;
        }
        let mut burst = Burst::<(), 64>::new();
        let choice = reader.byte();
        if choice & 7 == 7 {
            cut(&mut reader, pool, segmenter, &mut burst);
        } else {
            for _ in 0..=choice >> 5 {
                let frame = draw(&mut reader);
                let cut = if choice & 8 == 0 { ROOM } else { 1 + reader.below(128) };
                assert!(burst.push(in_mbufs(pool, &frame, cut)).is_ok(), "a burst has room");
            }
        }
        burst.iter().for_each(|packet| given.add(&bytes(packet)));
        if choice & 16 == 0 {
            table.join(&mut burst);
        } else {
            join_burst(&mut burst);
        }
        burst.iter().for_each(|packet| got.add(&bytes(packet)));
        if choice & 0x60 == 0 || pool.available() < RESERVE || headers.available() < 64 {
            flush(table, &mut got);
        }
    }
    flush(table, &mut got);
    assert_eq!(got.sorted(), given.sorted());
    assert_eq!((pool.available(), headers.available()), (pool.size(), headers.size()), "an mbuf is lost");
}

fn flush(table: &mut GroTable, got: &mut Seen) {
    while !table.is_empty() {
        let mut burst = Burst::<(), 64>::new();
        assert_ne!(table.flush_all(&mut burst), 0, "the table has packets");
        burst.iter().for_each(|packet| got.add(&bytes(packet)));
    }
}

/// Has a segment cut, with lengths that may not be its own.
fn cut(reader: &mut Reader<'_>, pool: &Mempool, segmenter: &Segmenter, burst: &mut Burst<(), 64>) {
    let (lie, tags) = (reader.byte(), reader.below(3));
    let len = reader.below(256) * 8;
    let (mut frame, [l2, l3, l4]) = build(reader, tags, len);
    let most = usize::from(reader.byte()) + 1;
    let (mut l2_said, mut l3_said, mut l4_said) = (l2 as u8, l3 as u16, l4 as u8);
    match lie {
        0 => l2_said = reader.byte(),
        1 => l3_said = reader.u16(),
        2 => l4_said = reader.byte(),
        3 => {
            let at = usize::from(reader.byte()) % frame.len();
            frame.splice(at..=at, [reader.byte()]);
        }
        _ => {}
    }
    let request = TxRequest::ipv4(l2_said, l3_said).tcp_segments(l4_said, most as u16);
    match segmenter.segment(in_mbufs(pool, &frame, ROOM), &request, burst) {
        Ok(count) => {
            assert_eq!(count, burst.len());
            let mut data: Vec<u8> = Vec::new();
            for packet in burst.iter() {
                let segment = bytes(packet);
                let ip = segment.get(l2..).unwrap_or_default();
                let (header, tcp) = ip.split_at(l3);
                assert_eq!((number(ip, 2), sum(header), tcp_sum(ip, tcp)), (ip.len(), 0xffff, 0xffff), "{segment:x?}");
                assert!(tcp.len() - l4 <= most, "{} bytes where {most} were asked for", tcp.len() - l4);
                data.extend(tcp.iter().skip(l4));
            }
            assert_eq!(data, frame.split_off(l2 + l3 + l4));
        }
        Err((error, packet)) => assert_eq!((bytes(&packet), burst.len()), (frame, 0), "{error}"),
    }
}
