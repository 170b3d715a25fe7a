// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The mixed trace for W4: typical traffic at a firewall, and some invalid frames.
//!
//! Frames are dealt in decks of 64, each of which has exactly the [`SHARES`] and, drawn independently, the tags and sizes
//! below, in an order of its own. So one deck, which is two bursts, has every kind in it, and more decks only have more
//! orders, addresses and bytes. The same seed gives the same bytes everywhere.
//!
//! | of 64 frames | kind |
//! |---|---|
//! | 16, 10, 2 | IPv4 with TCP, UDP, ICMP |
//! | 2 | IPv4 with options, TCP or UDP after them |
//! | 1, 2 | IPv4: a first fragment of UDP or TCP, a later fragment |
//! | 8, 5, 2 | IPv6 with TCP, UDP, ICMPv6 |
//! | 5 | IPv6 with one to four extension headers, TCP or UDP after them |
//! | 1, 1, 1 | IPv6: a first fragment, a later fragment, a fragment header on a whole datagram |
//! | 2 | GRE, ESP, OSPF or SCTP, over IPv4 or IPv6 |
//! | 1, 1 | ARP; another ethertype, or an IEEE 802.3 length |
//! | 1 | random bytes |
//! | 2 | truncated, in the headers or after them |
//! | 1 | wrong in one field |
//!
//! 45 are untagged, 13 have one tag and 6 have two (random bytes are untagged). 37 hold 6 bytes of data, with the
//! necessary padding; 21 hold about 510; 6 hold about 1,270: 7 to 4 to 1, the simple IMIX.
//!
//! The 58 whole IP frames must be accepted, and the other 6 rejected; no frame leaves the library a choice. Checksums of
//! IPv4 headers are correct, others are not: W4 verifies none.

mod compose;
mod kind;
mod random;

use core::ops::Range;
pub use kind::Kind;
use random::Random;

/// Frames in a burst.
pub const BURST: usize = 32;
/// Frames in a deck, over which the shares are counted.
pub const DECK: usize = 64;
/// The seed of published figures.
pub const SEED: u64 = 4;

/// How many frames of each kind are in a deck.
pub const SHARES: [(Kind, usize); 19] = [
    (Kind::Ipv4Tcp, 16),
    (Kind::Ipv4Udp, 10),
    (Kind::Icmp, 2),
    (Kind::Ipv4Options, 2),
    (Kind::Ipv4FirstFragment, 1),
    (Kind::Ipv4LaterFragment, 2),
    (Kind::Ipv6Tcp, 8),
    (Kind::Ipv6Udp, 5),
    (Kind::Icmpv6, 2),
    (Kind::Ipv6Extensions, 5),
    (Kind::Ipv6FirstFragment, 1),
    (Kind::Ipv6LaterFragment, 1),
    (Kind::Ipv6AtomicFragment, 1),
    (Kind::OtherProtocol, 2),
    (Kind::Arp, 1),
    (Kind::OtherEthertype, 1),
    (Kind::RandomBytes, 1),
    (Kind::CutShort, 2),
    (Kind::WrongField, 1),
];

/// How many frames have no tag, one and two.
const TAGGED: [(usize, usize); 3] = [(0, 45), (1, 13), (2, 6)];
/// How many frames hold this many bytes of data, and up to 63 more unless it is 6.
const SIZES: [(usize, usize); 3] = [(6, 37), (480, 21), (1240, 6)];
/// Where a frame begins: at a cache line, as in a packet buffer.
const ALIGNMENT: usize = 64;

/// Frames in their order.
#[derive(Debug)]
pub struct Trace {
    bytes: Vec<u8>,
    places: Vec<(Kind, Range<usize>)>,
}

impl Trace {
    /// A trace of this many decks.
    ///
    /// ```
    /// use parsing_bench::trace::{SEED, Trace};
    ///
    /// let trace = Trace::new(SEED, 3);
    /// assert_eq!(trace.bursts().map(|burst| burst.len()).sum::<usize>(), 192);
    /// ```
    pub fn new(seed: u64, decks: usize) -> Self {
        let mut random = Random::new(seed);
        let mut frames = Vec::with_capacity(decks * DECK);
        for _ in 0..decks {
            let kinds = random.shuffled(&SHARES);
            let tags = random.shuffled(&TAGGED);
            let sizes = random.shuffled(&SIZES);
            for ((kind, tags), size) in kinds.into_iter().zip(tags).zip(sizes) {
                frames.push((kind, compose::frame(&mut random, kind, tags, size)));
            }
        }
        Self::placed(&frames)
    }

    fn placed(frames: &[(Kind, Vec<u8>)]) -> Self {
        let room: usize = frames.iter().map(|(_, frame)| frame.len().next_multiple_of(ALIGNMENT)).sum();
        let mut bytes = vec![0; room + ALIGNMENT];
        let mut start = bytes.as_ptr().align_offset(ALIGNMENT);
        let mut places = Vec::with_capacity(frames.len());
        for (kind, frame) in frames {
            let place = start..start + frame.len();
            bytes[place.clone()].copy_from_slice(frame);
            start += frame.len().next_multiple_of(ALIGNMENT);
            places.push((*kind, place));
        }
        Self { bytes, places }
    }

    /// The frames in order, each with its kind.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = (Kind, &[u8])> {
        self.places.iter().map(|(kind, place)| (*kind, &self.bytes[place.clone()]))
    }

    /// The frames in bursts. A benchmark collects them first, so that it does not measure their composition.
    pub fn bursts(&self) -> impl ExactSizeIterator<Item = [&[u8]; BURST]> {
        let (bursts, _) = self.places.as_chunks::<BURST>();
        bursts.iter().map(|burst| burst.each_ref().map(|(_, place)| &self.bytes[place.clone()]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        contract::Rejected,
        impls::LIBRARIES,
        reference::{Expected, five_tuple},
    };

    #[test]
    fn a_deck_has_the_shares() {
        let trace = Trace::new(SEED, 3);
        let frames: Vec<_> = trace.frames().collect();
        for deck in frames.chunks(DECK) {
            for (kind, share) in SHARES {
                assert_eq!(deck.iter().filter(|(other, _)| *other == kind).count(), share, "{kind:?}");
            }
        }
        assert_eq!(frames.len(), 3 * DECK);
    }

    #[test]
    fn bursts_hold_all_frames_in_order() {
        let trace = Trace::new(SEED, 3);
        let frames: Vec<_> = trace.frames().map(|(_, frame)| frame).collect();
        assert_eq!(trace.bursts().collect::<Vec<_>>().as_flattened(), frames);
    }

    #[test]
    fn the_reference_is_never_in_two_minds() {
        for (kind, frame) in Trace::new(SEED, 200).frames() {
            match five_tuple(frame) {
                Expected::Accept(_) => assert!(kind < Kind::Arp, "{kind:?} accepted: {frame:02x?}"),
                Expected::Reject => assert!(kind >= Kind::Arp, "{kind:?} rejected: {frame:02x?}"),
                Expected::Either(_) => unreachable!("{kind:?} may be either: {frame:02x?}"),
            }
        }
    }

    #[test]
    fn every_library_reads_it_as_the_reference_does() {
        let trace = Trace::new(SEED, 100);
        for library in LIBRARIES {
            let Some(reader) = library.reader() else { continue };
            for (kind, frame) in trace.frames() {
                let right = match five_tuple(frame) {
                    Expected::Accept(tuple) | Expected::Either(tuple) => Ok(tuple),
                    Expected::Reject => Err(Rejected),
                };
                assert_eq!(reader(frame), right, "{} of {kind:?}: {frame:02x?}", library.name);
            }
        }
    }

    #[test]
    fn frames_are_as_ethernet_has_them() {
        for (kind, frame) in Trace::new(SEED, 20).frames() {
            assert!(frame.len() >= 60 || kind == Kind::CutShort, "{kind:?} of {} bytes", frame.len());
            assert!(frame.len() <= 1522, "{kind:?} of {} bytes", frame.len());
            assert_eq!(frame.as_ptr().align_offset(ALIGNMENT), 0);
        }
    }

    #[test]
    fn tags_have_their_shares() {
        let trace = Trace::new(SEED, 50);
        let tags = |frame: &[u8]| {
            let tag = |place: usize| matches!(frame.get(place..place + 2), Some([0x81, 0x00] | [0x88, 0xa8]));
            usize::from(tag(12)) + usize::from(tag(12) && tag(16))
        };
        let of_ip: Vec<_> =
            trace.frames().filter(|(kind, _)| *kind < Kind::Arp).map(|(_, frame)| tags(frame)).collect();
        for (count, share) in TAGGED {
            let found = of_ip.iter().filter(|tags| **tags == count).count() * DECK / of_ip.len();
            assert!(found.abs_diff(share) <= 2, "{found} of 64 with {count} tags");
        }
    }

    #[test]
    fn a_seed_gives_the_same_bytes_everywhere() {
        // FNV-1a. Figures of a trace with another digest are those of another trace.
        let digest = |trace: &Trace| {
            let bytes = trace.frames().flat_map(|(_, frame)| frame);
            bytes.fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| {
                (digest ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
            })
        };
        assert_eq!(digest(&Trace::new(SEED, 10)), 3_095_726_849_674_543_545);
        assert_ne!(digest(&Trace::new(SEED, 10)), digest(&Trace::new(SEED + 1, 10)));
    }
}
