// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Fragments of IP datagrams, whole ones and lies, compared with what a table of vectors makes of them.

use crate::{
    environment::{eal, packet},
    reader::Reader,
};
use dpdk_rs::{Mempool, Packet, Tsc, fragment::FragmentTable};
use std::{cell::RefCell, collections::BTreeMap, time::Duration};

/// RTE_LIBRTE_IP_FRAG_MAX_FRAG
const MOST_FRAGMENTS: usize = 8;
const STEPS: usize = 48;
const TIMEOUT: Duration = Duration::from_secs(2);
/// Lengths of link headers, of which an mbuf cannot say the last.
const LINKS: [usize; 5] = [14, 0, 18, 127, 128];

/// The real things. Made once for all inputs.
struct Laboratory {
    pool: Mempool,
    table: FragmentTable,
    /// The time of the last input's last fragment.
    now: Tsc,
    second: u64,
}

impl Laboratory {
    fn new() -> Self {
        let eal = eal(&[]);
        let pool = Mempool::builder("pool").size(511).cache(0).data_room(128 + 700).build(eal);
        let table = FragmentTable::builder().datagrams(512).timeout(TIMEOUT).build(eal);
        let second = eal.clock().cycles(Duration::from_secs(1));
        Self {
            pool: pool.expect("the pool can be made"),
            table: table.expect("the table can be made"),
            now: Tsc::from_cycles(second),
            second,
        }
    }
}

/// Addresses and number of a datagram.
type Key = Vec<u8>;

/// A fragment that is kept.
struct Piece {
    offset: usize,
    more: bool,
    /// Link header and IP header.
    front: Vec<u8>,
    l2_len: usize,
    payload: Vec<u8>,
    mbufs: usize,
}

struct Waiting {
    since: Tsc,
    size: usize,
    pieces: Vec<Piece>,
}

/// What a frame is, by its own bytes.
enum Frame {
    /// It comes back as it is.
    Complete(Vec<u8>),
    Refused,
    Fragment(Key, Piece),
}

fn u16_at(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..at + 2) {
        Some([high, low]) => usize::from(*high) << 8 | usize::from(*low),
        _ => 0,
    }
}

/// The frame that is left of segments behind so many bytes.
fn mbufs(segments: &[&[u8]], len: usize) -> usize {
    let mut rest = len;
    let behind = segments.iter().position(|segment| {
        rest = rest.saturating_sub(segment.len());
        rest == 0
    });
    behind.map_or(segments.len(), |place| place + 1)
}

/// What the headers say, of a frame whose first segment ends at byte `first`.
fn look(segments: &[&[u8]], l2_len: usize, six: bool, shared: bool) -> Frame {
    let frame = segments.concat();
    let first = segments.first().map_or(0, |segment| segment.len());
    let ip = frame.get(l2_len..).unwrap_or_default();
    let shortest = if six { 40 } else { 20 };
    if l2_len > 127 || first < l2_len + shortest || ip.first().is_none_or(|byte| byte >> 4 != if six { 6 } else { 4 }) {
        return Frame::Refused;
    }
    let (header, len, place, own) = if six {
        if ip.get(6) != Some(&44) {
            return Frame::Complete(frame);
        }
        let place = u16_at(ip, 42);
        (48, 40 + u16_at(ip, 4), (place & 0xfff8, place & 1 != 0), 0)
    } else {
        let header = usize::from(ip.first().map_or(0, |byte| byte & 15)) * 4;
        let place = u16_at(ip, 6);
        (header, u16_at(ip, 2), ((place & 0x1fff) * 8, place & 0x2000 != 0), 20)
    };
    let (offset, more) = place;
    if header < shortest || !six && len < header || first < l2_len + header {
        return Frame::Refused;
    }
    let fragment = offset != 0 || more;
    if !six && !fragment {
        return Frame::Complete(frame);
    }
    let payload = len.saturating_sub(header);
    let fits =
        payload > 0 && (!more || payload.is_multiple_of(8)) && own + offset + payload <= 65_535 && len <= ip.len();
    if !fits || offset == 0 && shared {
        return Frame::Refused;
    }
    let front = frame.get(..l2_len + header).unwrap_or_default().to_vec();
    let bytes = ip.get(header..len).unwrap_or_default().to_vec();
    if !fragment {
        return Frame::Complete([without_fragment_header(front, l2_len, bytes.len()), bytes].concat());
    }
    let addresses = if six { ip.get(8..40) } else { ip.get(12..20) };
    let id = if six { ip.get(44..48) } else { ip.get(4..6) };
    let key = [addresses.unwrap_or_default(), id.unwrap_or_default()].concat();
    let mbufs = mbufs(segments, l2_len + len);
    Frame::Fragment(key, Piece { offset, more, front, l2_len, payload: bytes, mbufs })
}

fn without_fragment_header(mut front: Vec<u8>, l2_len: usize, payload: usize) -> Vec<u8> {
    let behind = front.split_off(l2_len + 40);
    let len = (payload as u16).to_be_bytes();
    front.splice(l2_len + 4..l2_len + 6, len);
    front.splice(l2_len + 6..l2_len + 7, behind.first().copied());
    front
}

fn ipv4_header_of_whole(mut front: Vec<u8>, l2_len: usize, payload: usize) -> Vec<u8> {
    let len = ((front.len() - l2_len + payload) as u16).to_be_bytes();
    front.splice(l2_len + 2..l2_len + 4, len);
    // Of the flags the one for no fragments stays.
    let flags = front.get(l2_len + 6).map_or(0, |byte| byte & 0x40);
    front.splice(l2_len + 6..l2_len + 8, [flags, 0]);
    front.splice(l2_len + 10..l2_len + 12, [0, 0]);
    let ip = front.get(l2_len..).unwrap_or_default();
    let mut sum: usize = (0..ip.len()).step_by(2).map(|at| u16_at(ip, at)).sum();
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    let sum = (!sum as u16).to_be_bytes();
    front.splice(l2_len + 10..l2_len + 12, sum);
    front
}

impl Waiting {
    /// Adds a fragment. The datagram, if this makes it whole; an error if the fragments cannot become one.
    fn add(&mut self, piece: Piece) -> Result<Option<Vec<u8>>, ()> {
        self.size += piece.payload.len();
        let first = |piece: &Piece| piece.offset == 0;
        let last = |piece: &Piece| piece.offset != 0 && !piece.more;
        let between = |piece: &Piece| piece.offset != 0 && piece.more;
        let of_kind =
            |kind: &dyn Fn(&Piece) -> bool| kind(&piece).then(|| self.pieces.iter().filter(|one| kind(one)).count());
        let refused = of_kind(&first).is_some_and(|count| count == 1)
            || of_kind(&last).is_some_and(|count| count == 1)
            || of_kind(&between).is_some_and(|count| count == MOST_FRAGMENTS - 2);
        self.pieces.push(piece);
        if refused {
            return Err(());
        }
        let Some(end) = self.pieces.iter().find(|one| last(one)).map(|one| one.offset + one.payload.len()) else {
            return Ok(None);
        };
        if self.size < end {
            return Ok(None);
        }
        self.pieces.sort_by_key(|piece| piece.offset);
        let mut whole = Vec::new();
        for piece in &self.pieces {
            if piece.offset != whole.len() {
                return Err(());
            }
            whole.extend(&piece.payload);
        }
        // A last fragment may end before another one does.
        if whole.len() != end || !self.pieces.last().is_some_and(last) {
            return Err(());
        }
        let Some(first) = self.pieces.first() else { return Err(()) };
        let six = first.front.get(first.l2_len).is_some_and(|byte| byte >> 4 == 6);
        let header = if six { without_fragment_header } else { ipv4_header_of_whole };
        Ok(Some([header(first.front.clone(), first.l2_len, whole.len()), whole].concat()))
    }
}

/// A frame as a program would make it, and then wrong in up to one byte of its header.
fn build(reader: &mut Reader<'_>, six: bool, l2_len: usize) -> Vec<u8> {
    let (id, places) = (reader.below(3) as u8, reader.byte());
    let (offset, more) = (usize::from(places & 31), places & 32 != 0);
    let len = if places & 64 != 0 { reader.below(200) } else { (1 + reader.below(20)) * 8 };
    let options = reader.below(4) * 4;
    let payload: Vec<u8> = (0..len).map(|place| (offset * 8 + place) as u8 ^ id).collect();
    let mut ip = if six {
        let place = ((offset * 8) as u16 | u16::from(more)).to_be_bytes();
        let size = ((payload.len() + 8) as u16).to_be_bytes();
        let mut ip = vec![0x60, 0, 0, 0, size[0], size[1], 44, 9];
        ip.extend([7; 32]);
        ip.extend([17, 0, place[0], place[1], 0, 0, 0, id]);
        ip
    } else {
        let place = (offset as u16 | u16::from(more) << 13).to_be_bytes();
        let header = 20 + options;
        let size = ((header + payload.len()) as u16).to_be_bytes();
        let mut ip = vec![0x40 | (header / 4) as u8, 0, size[0], size[1], 0, id, place[0], place[1], 64, 17, 0, 0];
        ip.extend([7; 8]);
        ip.resize(header, 1);
        ip
    };
    let wrong = reader.byte();
    if wrong & 7 == 7 {
        let at = usize::from(wrong >> 3) % ip.len();
        ip.splice(at..=at, [reader.byte()]);
    }
    let padding = if wrong & 0x18 == 0x18 { reader.below(60) } else { 0 };
    [vec![0xaa; l2_len], ip, payload, vec![0xee; padding]].concat()
}

/// Draws fragments and times from `data`, and holds the real table to the model.
///
/// # Panics
/// If the two differ, or an mbuf is lost.
pub fn reassembly(data: &[u8]) {
    thread_local! {
        static LABORATORY: RefCell<Laboratory> = RefCell::new(Laboratory::new());
    }
    LABORATORY.with(|laboratory| experiment(&mut laboratory.borrow_mut(), data));
}

fn experiment(laboratory: &mut Laboratory, data: &[u8]) {
    let Laboratory { pool, table, now, second } = laboratory;
    let mut reader = Reader::new(data);
    let mut model: BTreeMap<Key, Waiting> = BTreeMap::new();
    let mut shares: Vec<Packet> = Vec::new();
    for _ in 0..STEPS {
        if reader.is_empty() {
            break;
        }
        let choice = reader.byte();
        if choice.is_multiple_of(16) {
            *now = now.after(*second * u64::from(reader.byte() % 4));
            let _ = table.expire(*now);
            model.retain(|_, waiting| now.since(waiting.since) <= 2 * *second);
        } else {
            let six = choice & 16 != 0;
            let l2_len = LINKS.get(usize::from(choice >> 5)).copied().unwrap_or(14);
            let frame = if choice % 16 == 1 {
                let len = reader.below(256);
                reader.bytes(len).to_vec()
            } else {
                build(&mut reader, six, l2_len)
            };
            // In up to three segments, none without bytes.
            let cut = if choice % 16 < 6 { usize::from(reader.byte()) } else { 700 };
            let segments: Vec<&[u8]> = frame.chunks(cut.max(frame.len() / 3 + 1)).collect();
            if segments.is_empty() {
                continue;
            }
            let mut packet = packet(pool, segments.iter().copied());
            let shared = choice % 16 == 2;
            if shared && shares.len() < 4 {
                shares.push(packet.share(pool).expect("the pool has mbufs"));
            }
            let expected = look(&segments, l2_len, six, shared && packet.is_shared());
            let result = if six { table.ipv6(packet, l2_len, *now) } else { table.ipv4(packet, l2_len, *now) };
            let result = result.map(|found| found.map(|packet| bytes(&packet))).map_err(|(error, _)| error);
            match expected {
                Frame::Complete(frame) => assert_eq!(result.expect("a packet that is whole"), Some(frame)),
                Frame::Refused => assert!(result.is_err(), "{result:?} of {segments:?}"),
                Frame::Fragment(key, piece) => {
                    let fresh = Waiting { since: *now, size: 0, pieces: Vec::new() };
                    let waiting = model.entry(key.clone()).or_insert(fresh);
                    let whole = waiting.add(piece);
                    if whole != Ok(None) {
                        model.remove(&key);
                    }
                    assert_eq!(result, Ok(whole.unwrap_or_default()));
                }
            }
        }
        let held: usize = model.values().flat_map(|waiting| &waiting.pieces).map(|piece| piece.mbufs).sum();
        if shares.is_empty() {
            assert_eq!(pool.available(), pool.size() - held, "mbufs of {} datagrams", model.len());
        }
    }
    drop(shares);
    *now = now.after(3 * *second);
    let _ = table.expire(*now);
    assert_eq!(pool.available(), pool.size(), "an mbuf is lost");
}

fn bytes(packet: &Packet) -> Vec<u8> {
    packet.segments().collect::<Vec<_>>().concat()
}
