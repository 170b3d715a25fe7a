// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Fragmentation and reassembly of IP datagrams, and frames with wrong lengths.

use crate::{
    frames::{bytes, frame, packet, pool},
    numbers::Numbers,
    process::isolated,
};
use dpdk_rs::{
    Burst, Mempool, Packet, PacketError, Tsc,
    fragment::{FragmentError, FragmentTable, Fragmenter, HeaderError, ReassemblyError},
};
use std::time::Duration;

const L2: usize = 14;

/// The sum over the 16-bit words, which is 0xffff if the checksum is correct.
pub(crate) fn sum(header: &[u8]) -> u32 {
    let sum: u32 = header.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum();
    (sum & 0xffff) + (sum >> 16)
}

/// An IPv4 frame, with the checksum that its sender has written.
fn ipv4(id: u16, place: u16, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let header_len = 20 + options.len();
    let len = ((header_len + payload.len()) as u16).to_be_bytes();
    let mut header = vec![0x40 | (header_len / 4) as u8, 0, len[0], len[1]];
    header.extend(id.to_be_bytes());
    header.extend(place.to_be_bytes());
    header.extend([64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    header.extend(options);
    let sum = 0xffff - sum(&header) as u16;
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    [&[0x02; 12][..], &[8, 0], &header, payload].concat()
}

fn ipv6(next: u8, payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() as u16).to_be_bytes();
    let header = [&[0x60, 0, 0, 0, len[0], len[1], next, 64][..], &[0x11; 16], &[0x22; 16]].concat();
    [&[0x02; 12][..], &[0x86, 0xdd], &header, payload].concat()
}

fn ipv6_fragment(id: u32, place: u16, payload: &[u8]) -> Vec<u8> {
    let header = [&[17, 0][..], &place.to_be_bytes(), &id.to_be_bytes()].concat();
    ipv6(44, &[&header, payload].concat())
}

/// The fields of a fragment, and its payload.
fn place(fragment: &[u8]) -> (usize, bool, Vec<u8>) {
    let header = &fragment[L2..];
    let len = usize::from(header[0] & 15) * 4;
    assert_eq!(sum(&header[..len]), 0xffff, "the checksum is right");
    assert_eq!(usize::from(u16::from_be_bytes([header[2], header[3]])), header.len());
    let place = u16::from_be_bytes([header[6], header[7]]);
    (usize::from(place & 0x1fff) * 8, place & 0x2000 != 0, header[len..].to_vec())
}

/// A packet of segments with these bytes.
pub(crate) fn segments(pool: &Mempool, bytes: &[u8], lengths: impl IntoIterator<Item = usize>) -> Packet {
    let mut rest = bytes;
    let mut chain: Option<Packet> = None;
    for len in lengths.into_iter().chain([bytes.len()]) {
        let (piece, behind) = rest.split_at(len.min(rest.len()));
        rest = behind;
        match &mut chain {
            _ if piece.is_empty() => (),
            Some(chain) => chain.chain(packet(pool, piece)).unwrap(),
            None => chain = Some(packet(pool, piece)),
        }
    }
    chain.unwrap()
}

fn whole(result: Result<Option<Packet>, (ReassemblyError, Packet)>) -> Option<Vec<u8>> {
    result.unwrap().map(|packet| bytes(&packet))
}

#[test]
fn an_ipv4_packet_is_taken_apart_and_put_together() {
    isolated(&[], |eal| {
        let (pool, headers, references): (Mempool, Mempool, Mempool) =
            (pool(&eal, "pool"), pool(&eal, "headers"), pool(&eal, "references"));
        let fragmenter = Fragmenter::new(&headers, &references).unwrap();
        let mut table = FragmentTable::builder().build(&eal).unwrap();
        // The second option is copied into every fragment, the others are not.
        let options = [7, 4, 4, 9, 0x88, 4, 1, 2, 1, 0, 0, 0];
        for (id, (payload, options, mtu, cuts)) in [
            (1_400, &[][..], 576, &[][..]),
            (1_400, &options[..], 576, &[]),
            (1_480, &[], 1_500, &[]),
            (1_481, &[], 1_500, &[34, 700]),
            (2_000, &[], 68 + 256, &[14 + 20, 1, 1, 1, 500]),
            (300, &options, 68, &[14 + 32]),
            (0, &[], 68, &[]),
        ]
        .into_iter()
        .enumerate()
        {
            let payload = frame(id, payload);
            let bytes_before = ipv4(id as u16, 0, options, &payload);
            let mut packet = segments(&pool, &bytes_before, cuts.iter().copied());
            let mut fragments = Burst::<(), 64>::new();
            let count = fragmenter.ipv4(&mut packet, L2, mtu, &mut fragments).unwrap();
            assert_eq!((count, packet.is_shared(), bytes(&packet) == bytes_before), (fragments.len(), true, true));
            let mut behind = 0;
            for (number, fragment) in fragments.iter().enumerate() {
                let fragment = bytes(fragment);
                assert!(fragment[..L2] == bytes_before[..L2] && fragment.len() <= L2 + usize::from(mtu));
                let (offset, more, data) = place(&fragment);
                assert_eq!((offset, more), (behind, number + 1 < count));
                assert_eq!(data, payload[behind..behind + data.len()]);
                behind += data.len();
                // Of the options the first fragment has all, the others what is to be copied, which is 4 bytes.
                let header = usize::from(fragment[L2] & 15) * 4;
                let expected = if number == 0 { options } else { options.get(4..8).unwrap_or_default() };
                assert_eq!(
                    fragment[L2 + 20..L2 + header],
                    *[expected, &vec![0; header - 20 - expected.len()]].concat()
                );
            }
            assert_eq!(behind, payload.len());
            drop(packet);
            // In the reverse order: as many as the table takes, of a packet that becomes whole.
            if count <= 8 {
                let mut last = None;
                while let Some(fragment) = fragments.pop() {
                    assert_eq!(last, None, "the first fragment comes last");
                    last = whole(table.ipv4(fragment, L2, Tsc::from_cycles(7)));
                }
                assert_eq!(last.unwrap(), bytes_before, "{id}");
            }
        }
        assert_eq!(table.dropped(), 0);
        for pool in [pool, headers, references] {
            assert_eq!(pool.available(), pool.size(), "{pool:?}");
        }
    });
}

#[test]
fn an_ipv6_packet_is_taken_apart_and_put_together() {
    isolated(&[], |eal| {
        let (pool, headers, references): (Mempool, Mempool, Mempool) =
            (pool(&eal, "pool"), pool(&eal, "headers"), pool(&eal, "references"));
        let fragmenter = Fragmenter::new(&headers, &references).unwrap();
        let mut table = FragmentTable::builder().build(&eal).unwrap();
        for (len, cuts) in [(3_000, &[1_500][..]), (4_000, &[54, 1_000, 1_000]), (1_232, &[]), (0, &[])] {
            let before = ipv6(17, &frame(len, len));
            let mut packet = segments(&pool, &before, cuts.iter().copied());
            let mut fragments = Burst::<(), 8>::new();
            let count = fragmenter.ipv6(&mut packet, L2, 1_280, 0x0102_0304, &mut fragments).unwrap();
            assert_eq!((count, fragments.len()), (len.div_ceil(1_232).max(1), count));
            for (number, fragment) in fragments.iter().enumerate() {
                let fragment = bytes(fragment);
                let more = u8::from(number + 1 < count);
                let place = (number as u16 * 1_232).to_be_bytes();
                assert_eq!(fragment[L2 + 40..L2 + 48], [17, 0, place[0], place[1] | more, 1, 2, 3, 4]);
                assert_eq!(
                    (
                        fragment[L2 + 6],
                        fragment[L2 + 48..] == before[L2 + 40..][number * 1_232..][..fragment.len() - L2 - 48]
                    ),
                    (44, true)
                );
            }
            drop(packet);
            if len != 0 {
                let all: Vec<_> =
                    fragments.drain().filter_map(|one| whole(table.ipv6(one, L2, Tsc::from_cycles(1)))).collect();
                assert_eq!(all, [before]);
            }
        }
        // A datagram in a single fragment is complete by itself. DPDK does not look for the fragment header after other
        // headers.
        let alone = packet(&pool, &ipv6_fragment(5, 0, b"datagram"));
        assert_eq!(whole(table.ipv6(alone, L2, Tsc::from_cycles(1))).unwrap(), ipv6(17, b"datagram"));
        let other = ipv6(0, &[44; 16]);
        assert_eq!(whole(table.ipv6(packet(&pool, &other), L2, Tsc::from_cycles(1))).unwrap(), other);
        let error = fragmenter.ipv6(&mut packet(&pool, &other), L2, 1_280, 1, &mut Burst::<(), 8>::new());
        assert_eq!(error.unwrap_err(), FragmentError::NextHeader(0));
        for pool in [pool, headers, references] {
            assert_eq!(pool.available(), pool.size(), "{pool:?}");
        }
    });
}

/// Obstacles to fragmentation are reported before anything is changed.
#[test]
fn a_packet_that_cannot_be_taken_apart_stays_as_it_is() {
    isolated(&[], |eal| {
        let (pool, headers, references): (Mempool, Mempool, Mempool) =
            (pool(&eal, "pool"), pool(&eal, "headers"), pool(&eal, "references"));
        let none: Mempool = Mempool::builder("none").size(2).cache(0).build(&eal).unwrap();
        let small: Mempool = Mempool::builder("small").data_room(187).build(&eal).unwrap();
        let error = Fragmenter::new(&small, &references).unwrap_err();
        assert_eq!(error, PacketError::NoRoom { asked: 60, room: 59 });
        let fragmenter = Fragmenter::new(&headers, &references).unwrap();
        let refused = |fragmenter: &Fragmenter, packet: &mut Packet, mtu| {
            let before = bytes(packet);
            let mut fragments = Burst::<(), 4>::new();
            let error = fragmenter.ipv4(packet, L2, mtu, &mut fragments).unwrap_err();
            assert_eq!((bytes(packet), fragments.len()), (before, 0));
            error
        };
        let good = ipv4(1, 0, &[], &[3; 1_000]);
        let changed = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            packet(&pool, &bytes)
        };
        let error = |packet: &mut Packet| refused(&fragmenter, packet, 576);
        assert_eq!(error(&mut changed(L2 + 6, 0x40)), FragmentError::DontFragment);
        assert_eq!(error(&mut changed(L2, 0x65)), HeaderError::Version { found: 6, expected: 4 }.into());
        assert_eq!(error(&mut changed(L2, 0x41)), HeaderError::HeaderLength { header: 4, packet: 1_020 }.into());
        assert_eq!(error(&mut changed(L2 + 2, 0x04)), HeaderError::Length { said: 1_276, found: 1_020 }.into());
        assert_eq!(error(&mut changed(L2 + 2, 0x02)), HeaderError::Length { said: 764, found: 1_020 }.into());
        assert_eq!(error(&mut packet(&pool, &ipv4(1, 0x1fff, &[], &[3; 1_000]))), HeaderError::Beyond(66_548).into());
        assert_eq!(error(&mut packet(&pool, &ipv4(1, 0, &[7, 8, 0, 0], &[0; 9]))), HeaderError::Options.into());
        assert_eq!(error(&mut packet(&pool, &good[..33])), HeaderError::Short { needed: 34, len: 33 }.into());
        // The header lies in two segments.
        let mut split = segments(&pool, &good, [33]);
        assert_eq!(error(&mut split), HeaderError::Short { needed: 34, len: 33 }.into());
        let mut packet = packet(&pool, &good);
        assert_eq!(refused(&fragmenter, &mut packet, 67), FragmentError::Mtu { mtu: 67, least: 68 });
        assert_eq!(refused(&fragmenter, &mut packet, 68), FragmentError::NoRoom { needed: 21, room: 4 });
        // DPDK would write one fragment past the end.
        packet.chain(pool.alloc().unwrap()).unwrap();
        assert_eq!(error(&mut packet), FragmentError::Segments { segments: 2, last: 0 });
        packet.linearize().unwrap();
        for (headers, references) in [(&headers, &none), (&none, &references)] {
            let fragmenter = Fragmenter::new(headers, references).unwrap();
            let _one = none.alloc().unwrap();
            assert_eq!(refused(&fragmenter, &mut packet, 576), FragmentError::NoMbuf);
        }
        assert!(!packet.is_shared());
        drop((packet, split));
        for pool in [pool, headers, references, none] {
            assert_eq!(pool.available(), pool.size(), "{pool:?}");
        }
    });
}

/// Datagrams of several senders, their fragments in any order, some of them lost: each complete datagram comes out
/// once, as it was sent.
#[test]
fn fragments_in_any_order_become_datagrams() {
    isolated(&[], |eal| {
        let pool: Mempool = Mempool::builder("pool").size(1_023).build(&eal).unwrap();
        let mut table = FragmentTable::builder().datagrams(64).timeout(Duration::from_secs(1)).build(&eal).unwrap();
        let second = eal.clock().cycles(Duration::from_secs(1));
        let mut numbers = Numbers(7);
        for round in 0..200_u64 {
            let now = Tsc::from_cycles((round + 1) * 4 * second);
            let mut expected = Vec::new();
            let mut sent = Vec::new();
            for id in 0..numbers.below(8) as u16 {
                let payload = frame(numbers.below(1_000), 16 + numbers.below(900));
                let pieces = 2 + numbers.below(7);
                let step = (payload.len().div_ceil(pieces) + 7) & !7;
                let lost = numbers.below(30);
                let mut came = 0;
                let six = numbers.below(2) == 0;
                let chunks: Vec<&[u8]> = payload.chunks(step).collect();
                for (number, piece) in chunks.iter().enumerate().filter(|(number, _)| *number != lost) {
                    let offset = (number * step) as u16;
                    let more = number + 1 < chunks.len();
                    let mut bytes = if six {
                        ipv6_fragment(id.into(), offset | u16::from(more), piece)
                    } else {
                        ipv4(id, (offset / 8) | (u16::from(more) << 13), &[], piece)
                    };
                    // The padding that Ethernet adds to short frames.
                    bytes.resize(bytes.len().max(60), 0xee);
                    let cut = L2 + 48 + numbers.below(20);
                    sent.push((numbers.next(), six, segments(&pool, &bytes, [cut])));
                    came += 1;
                }
                if came == chunks.len() && came > 1 {
                    expected.push(if six { ipv6(17, &payload) } else { ipv4(id, 0, &[], &payload) });
                } else if came == 1 && chunks.len() == 1 {
                    // It was not a fragment: it is returned unchanged, with its padding.
                    let bytes = if six { ipv6(17, &payload) } else { ipv4(id, 0, &[], &payload) };
                    expected.push(bytes);
                }
            }
            sent.sort_by_key(|(order, ..)| *order);
            let mut found: Vec<Vec<u8>> = sent
                .into_iter()
                .filter_map(|(_, six, packet)| {
                    whole(if six { table.ipv6(packet, L2, now) } else { table.ipv4(packet, L2, now) })
                })
                .map(|mut bytes| {
                    let len = usize::from(u16::from_be_bytes([bytes[L2 + 2], bytes[L2 + 3]]));
                    bytes.truncate(if bytes[L2] >> 4 == 4 { L2 + len } else { bytes.len() });
                    bytes
                })
                .collect();
            found.sort();
            expected.sort();
            assert!(found == expected, "round {round}: {} of {}", found.len(), expected.len());
            // Lost fragments are waited for until the timeout.
            assert_eq!(table.expire(now), 0);
            let waiting = pool.size() - pool.available();
            let dropped = table.expire(now.after(second + 1));
            assert_eq!((pool.available(), waiting == 0), (pool.size(), dropped == 0));
        }
    });
}

/// Bytes after a fragment, in separate segments, are not part of the datagram: DPDK would keep them.
#[test]
fn what_is_behind_a_fragment_is_cut_off() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut table = FragmentTable::builder().build(&eal).unwrap();
        let now = Tsc::from_cycles(1);
        let behind = |frame: Vec<u8>| segments(&pool, &[&frame[..], &[0xee; 60]].concat(), [L2 + 24, 4, 30]);
        assert!(table.ipv4(behind(ipv4(1, 0x2000, &[], &[1; 8])), L2, now).unwrap().is_none());
        assert_eq!(pool.available(), pool.size() - 2);
        let joined = table.ipv4(behind(ipv4(1, 1, &[], &[2; 8])), L2, now).unwrap().unwrap();
        let expected = ipv4(1, 0, &[], &[[1; 8], [2; 8]].concat());
        assert_eq!((bytes(&joined), joined.segment_count()), (expected, 4));
        drop(joined);
        assert_eq!(pool.available(), pool.size());
    });
}

/// If fragments contradict each other, all fragments of the datagram are dropped.
#[test]
fn hostile_fragments_are_dropped_and_leak_nothing() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut table = FragmentTable::builder().datagrams(2).build(&eal).unwrap();
        let now = Tsc::from_cycles(1);
        let more = 0x2000;
        let mut give = |frames: &[(u16, usize)]| {
            let before = table.dropped();
            for (number, (place, len)) in frames.iter().enumerate() {
                let one = packet(&pool, &ipv4(9, *place, &[], &vec![number as u8; *len]));
                assert!(table.ipv4(one, L2, now).unwrap().is_none());
            }
            (table.dropped() - before, pool.size() - pool.available())
        };
        // An overlap, the same one again, two first ones, two last ones, a hole of which an overlap has the size.
        assert_eq!(give(&[(more, 16), (1 | more, 16), (3, 8)]), (3, 0));
        assert_eq!(give(&[(more, 16), (2 | more, 8), (2 | more, 8), (3, 8)]), (4, 0));
        assert_eq!(give(&[(more, 16), (more, 16)]), (2, 0));
        assert_eq!(give(&[(2, 16), (3, 16)]), (2, 0));
        // Two of them were joined before the hole was found.
        assert_eq!(give(&[(more, 16), (3 | more, 8), (3 | more, 8), (4, 8)]), (3, 0));
        // 64 fragments of 8 bytes: the seventh in the middle is one too many, and so on.
        let many: Vec<(u16, usize)> = (0..63).map(|place| (place | more, 8)).chain([(63, 8)]).collect();
        let (_, held) = give(&many);
        assert!(held < 8, "{held}");
        // Two datagrams fit in, a third does not.
        let mut table = FragmentTable::builder().datagrams(2).build(&eal).unwrap();
        for id in 20..23 {
            let one = packet(&pool, &ipv4(id, more, &[], &[0; 8]));
            assert!(table.ipv4(one, L2, now).unwrap().is_none());
        }
        assert_eq!(table.dropped(), 1);
        drop(table);
        assert_eq!(pool.available(), pool.size() - held);
    });
}

#[test]
fn a_fragment_that_lies_is_given_back() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut table = FragmentTable::builder().build(&eal).unwrap();
        let now = Tsc::from_cycles(1);
        let mut error = |mut packet: Packet, six: bool| {
            let before = bytes(&packet);
            let result = if six { table.ipv6(packet, L2, now) } else { table.ipv4(packet, L2, now) };
            let error;
            (error, packet) = result.unwrap_err();
            assert_eq!(bytes(&packet), before);
            error
        };
        let four = |place, len| ipv4(1, place, &[], &vec![0; len]);
        let mut long = four(0x2000, 16);
        long[L2 + 2] = 0xff;
        let said = 0xff00 + 36;
        assert_eq!(error(packet(&pool, &long), false), HeaderError::Length { said, found: 36 }.into());
        assert_eq!(error(packet(&pool, &four(0x2000, 15)), false), HeaderError::Uneven(15).into());
        assert_eq!(error(packet(&pool, &four(5, 0)), false), HeaderError::Uneven(0).into());
        assert_eq!(error(packet(&pool, &four(0x1fff, 8)), false), HeaderError::Beyond(65_556).into());
        let cut = segments(&pool, &four(1, 8), [L2 + 19]);
        assert_eq!(error(cut, false), HeaderError::Short { needed: L2 + 20, len: L2 + 19 }.into());
        let six = ipv6_fragment(1, 9, &[0; 16]);
        assert_eq!(error(packet(&pool, &ipv6(44, &[0; 7])), true), HeaderError::Short { needed: 62, len: 61 }.into());
        assert_eq!(error(packet(&pool, &ipv6_fragment(1, 9, &[])), true), HeaderError::Uneven(0).into());
        assert_eq!(error(packet(&pool, &ipv6_fragment(1, 0xfff8, &[0; 8])), true), HeaderError::Beyond(65_536).into());
        assert_eq!(
            error(packet(&pool, &six[..six.len() - 1]), true),
            HeaderError::Length { said: 64, found: 63 }.into()
        );
        // The header of the datagram overwrites that of the first fragment, so nobody else may see it.
        let mut first = packet(&pool, &four(0x2000, 16));
        let share = first.share(&pool).unwrap();
        assert_eq!(error(share, false), ReassemblyError::Shared);
        drop(first);
        // The header of the first fragment has options that those of the others lack: 65,516 bytes of data are then too
        // many.
        let mut longest = FragmentTable::builder().build(&eal).unwrap();
        let big: Mempool = Mempool::builder("big").size(7).cache(0).data_room(65_535).build(&eal).unwrap();
        let last = packet(&big, &ipv4(1, 0x1000, &[], &vec![1; 65_515 - 0x8000]));
        assert!(longest.ipv4(last, L2, now).unwrap().is_none());
        let first = packet(&big, &ipv4(1, 0x2000, &[1; 4], &vec![1; 0x8000]));
        let (error, packet) = longest.ipv4(first, L2, now).unwrap_err();
        assert_eq!((error, packet.len()), (ReassemblyError::TooLong(65_539), L2 + 65_539));
        drop(packet);
        assert_eq!((big.available(), pool.available()), (big.size(), pool.size()));
    });
}

/// The table owns its fragments, in whatever order objects are dropped.
#[test]
fn what_waits_in_a_table_goes_back_with_it() {
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut table = FragmentTable::builder().build(&eal).unwrap();
        for id in 0..100 {
            let one = packet(&pool, &ipv4(id, 0x2000, &[], &[0; 8]));
            assert!(table.ipv4(one, L2, Tsc::from_cycles(1)).unwrap().is_none());
        }
        let mut moved = std::thread::spawn(move || table).join().unwrap();
        assert_eq!(pool.available(), pool.size() - 100);
        let rest = packet(&pool, &ipv4(0, 1, &[], &[1; 8]));
        assert_eq!(moved.ipv4(rest, L2, Tsc::from_cycles(2)).unwrap().unwrap().len(), L2 + 36);
        drop(moved);
        assert_eq!(pool.available(), pool.size());
        let mut table = FragmentTable::builder().build(&eal).unwrap();
        let one = packet(&pool, &ipv4(1, 0x2000, &[], &[0; 8]));
        assert!(table.ipv4(one, L2, Tsc::from_cycles(1)).unwrap().is_none());
        // The pool's memory stays until the table has given the fragment back.
        drop(pool);
        drop(eal);
        drop(table);
    });
    isolated(&[], |eal| {
        let pool: Mempool = pool(&eal, "pool");
        let mut table = FragmentTable::builder().build(&eal).unwrap();
        let one = packet(&pool, &ipv4(1, 0x2000, &[], &[0; 8]));
        assert!(table.ipv4(one, L2, Tsc::from_cycles(1)).unwrap().is_none());
        std::mem::forget(table);
        assert!(FragmentTable::<()>::builder().datagrams(0).build(&eal).is_err());
        assert!(FragmentTable::<()>::builder().datagrams(u32::MAX).build(&eal).is_err());
    });
}
