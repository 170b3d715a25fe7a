// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Mutants: frames of every kind, each broken in one place, in every way that a parser may overlook.

use super::seeds::{Seed, seeds};
use crate::{
    contract::{Rule, Workload},
    frames::{DO_NOT_FRAGMENT, MORE_FRAGMENTS, ethertype},
};
use core::fmt;

/// How a frame is broken, or may be.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Class {
    /// Unchanged.
    Whole,
    /// Truncated.
    Truncated,
    /// Another version of IP, or another length of its header.
    Version,
    /// The length of an IP packet.
    IpLength,
    /// The length of a UDP datagram.
    UdpLength,
    /// The data offset of TCP.
    DataOffset,
    /// The length of an extension header.
    ExtensionLength,
    /// Another ethertype.
    Ethertype,
    /// Tags in front.
    Tags,
    /// A fragment.
    Fragment,
    /// Another protocol above IP, or another next header.
    Protocol,
    /// Another checksum.
    Checksum,
    /// One flipped bit.
    Bit,
    /// Drawn at random.
    Drawn,
}

impl fmt::Display for Class {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::Whole => "whole",
            Self::Truncated => "truncated",
            Self::Version => "version and header length",
            Self::IpLength => "length of IP",
            Self::UdpLength => "length of UDP",
            Self::DataOffset => "data offset of TCP",
            Self::ExtensionLength => "length of an extension header",
            Self::Ethertype => "ethertype",
            Self::Tags => "tags",
            Self::Fragment => "fragment",
            Self::Protocol => "protocol",
            Self::Checksum => "checksum",
            Self::Bit => "bit turned over",
            Self::Drawn => "drawn at random",
        })
    }
}

/// A frame for the test of a library.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its kind, and how it was changed.
    pub name: String,
    /// How it is broken.
    pub class: Class,
    /// Its bytes.
    pub frame: Vec<u8>,
    /// The addresses to write.
    pub rule: Rule,
}

/// The rules that alternate from case to case: one differs from the frames in every byte, the other in few.
pub const RULES: [Rule; 2] = [
    Rule {
        destination: [0x0a, 0x1b, 0x2c, 0x3d, 0x4e, 0x5f],
        source: [0xfa, 0xeb, 0xdc, 0xcd, 0xbe, 0xaf],
        address: [203, 0, 113, 221],
    },
    Rule { destination: [0x02, 0, 0, 0, 0, 0x03], source: [0x02, 0, 0, 0, 0, 0x04], address: [198, 51, 100, 35] },
];

/// The mutants for a workload.
pub fn mutants(workload: Workload) -> Vec<Case> {
    let mut cases = Cases::default();
    for seed in seeds(workload) {
        cases.add(&seed, "as it is", Class::Whole, |_| ());
        cases.truncated(&seed);
        cases.ip(&seed);
        cases.transport(&seed);
        cases.extensions(&seed);
        cases.ethernet(&seed);
        cases.bits(&seed);
    }
    cases.checksums(&seeds(workload));
    cases.0
}

#[derive(Default)]
struct Cases(Vec<Case>);

impl Cases {
    fn add(&mut self, seed: &Seed, what: impl fmt::Display, class: Class, spoil: impl FnOnce(&mut Vec<u8>)) {
        let mut frame = seed.frame.clone();
        spoil(&mut frame);
        let rule = RULES[self.0.len() % RULES.len()];
        self.0.push(Case { name: format!("{}, {what}", seed.name), class, frame, rule });
    }

    fn truncated(&mut self, seed: &Seed) {
        for length in 0..seed.frame.len() {
            self.add(seed, format_args!("cut to {length} bytes"), Class::Truncated, |frame| frame.truncate(length));
        }
    }

    fn ip(&mut self, seed: &Seed) {
        let ip = seed.ip;
        for byte in 0..=u8::MAX {
            self.add(seed, format_args!("first byte of IP 0x{byte:02x}"), Class::Version, |frame| frame[ip] = byte);
        }
        let (field, next) = if seed.is_ipv4() { (ip + 2, ip + 9) } else { (ip + 4, ip + 6) };
        let length = read(&seed.frame, field);
        let lengths = (0..=48).chain(length.saturating_sub(9)..=length + 40).chain([1500, 0x7fff, 0x8000, 0xffff]);
        for length in lengths {
            self.add(seed, format_args!("length of IP {length}"), Class::IpLength, |frame| store(frame, field, length));
        }
        for protocol in 0..=u8::MAX {
            self.add(seed, format_args!("protocol {protocol}"), Class::Protocol, |frame| frame[next] = protocol);
        }
        if seed.is_ipv4() {
            let fields = [0x0001, 0x00ff, 0x0100, 0x1fff, MORE_FRAGMENTS, MORE_FRAGMENTS | 1, DO_NOT_FRAGMENT, 0x8000];
            for field in fields.into_iter().chain([0xffff, DO_NOT_FRAGMENT | MORE_FRAGMENTS]) {
                self.add(seed, format_args!("fragment field 0x{field:04x}"), Class::Fragment, |frame| {
                    store(frame, ip + 6, field);
                });
            }
        }
    }

    fn transport(&mut self, seed: &Seed) {
        if let Some(udp) = seed.udp {
            let length = read(&seed.frame, udp + 4);
            let lengths = (0..=17).chain(length.saturating_sub(3)..=length + 9).chain([1500, 0x7fff, 0x8000, 0xffff]);
            for length in lengths {
                for (whole, field) in [(true, 0), (false, MORE_FRAGMENTS), (false, 3)] {
                    if !whole && !seed.is_ipv4() {
                        continue;
                    }
                    let what = format!("length of UDP {length}{}", if whole { "" } else { " in a fragment" });
                    self.add(seed, what, Class::UdpLength, |frame| {
                        store(frame, udp + 4, length);
                        if !whole {
                            store(frame, seed.ip + 6, field);
                        }
                    });
                }
            }
        }
        if let Some(tcp) = seed.tcp {
            for offset in 0..=15 {
                self.add(seed, format_args!("data offset {offset}"), Class::DataOffset, |frame| {
                    frame[tcp + 12] = offset << 4;
                });
            }
        }
    }

    fn extensions(&mut self, seed: &Seed) {
        for place in &seed.extensions {
            for length in (0..=16).chain([0x1f, 0x7f, 0x80, 0xfe, 0xff]) {
                let what = format!("length {length} of the extension header at {place}");
                self.add(seed, what, Class::ExtensionLength, |frame| frame[place + 1] = length);
            }
            for next in 0..=u8::MAX {
                let what = format!("next header {next} at {place}");
                self.add(seed, what, Class::Protocol, |frame| frame[*place] = next);
            }
        }
    }

    fn ethernet(&mut self, seed: &Seed) {
        let place = seed.ip - 2;
        let (v4, v6) = (ethertype::IPV4, ethertype::IPV6);
        let (tag, service) = (ethertype::TAG, ethertype::SERVICE_TAG);
        // Lengths of IEEE 802.3, ARP, the older service tags, MPLS, PPPoE, MACsec, LLDP and none.
        let others =
            [0, 3, 46, 1500, 1536, 0x0806, 0x9100, 0x9200, 0x8847, 0x8848, 0x8863, 0x8864, 0x88e5, 0x88cc, 0xffff];
        for value in others.into_iter().chain([v4, v6, tag, service]) {
            self.add(seed, format_args!("ethertype 0x{value:04x}"), Class::Ethertype, |frame| {
                store(frame, place, value)
            });
        }
        for tags in [
            &[tag][..],
            &[service],
            &[service, tag],
            &[tag, tag],
            &[tag, service],
            &[service, service],
            &[service, tag, tag],
            &[tag, tag, tag, tag],
            &[0x9100],
            &[0x9100, tag],
        ] {
            let outer = (seed.ip - 14) / 4;
            self.add(seed, format_args!("in tags {tags:04x?}"), Class::Tags, |frame| {
                let front: Vec<u8> = tags.iter().flat_map(|tag| [tag.to_be_bytes(), [0, 7]]).flatten().collect();
                frame.splice(12..12, front);
            });
            // The tag is the last that there is.
            self.add(seed, format_args!("in tags {tags:04x?} and cut behind them"), Class::Tags, |frame| {
                let front: Vec<u8> = tags.iter().flat_map(|tag| [tag.to_be_bytes(), [0, 7]]).flatten().collect();
                let end = 12 + front.len() + 4 * outer;
                frame.splice(12..12, front);
                frame.truncate(end);
            });
        }
    }

    fn bits(&mut self, seed: &Seed) {
        for place in 0..seed.frame.len().min(seed.ip + 68) {
            for bit in 0..8 {
                self.add(seed, format_args!("bit {bit} of byte {place}"), Class::Bit, |frame| frame[place] ^= 1 << bit);
            }
        }
    }

    /// Checksums at the edges of ones' complement, below addresses at the edges too.
    fn checksums(&mut self, seeds: &[Seed]) {
        for seed in seeds.iter().filter(|seed| seed.is_ipv4()) {
            for checksum in [0, 1, 0x7fff, 0x8000, 0xfffe, 0xffff] {
                self.add(seed, format_args!("header checksum 0x{checksum:04x}"), Class::Checksum, |frame| {
                    store(frame, seed.ip + 10, checksum);
                });
                let Some(udp) = seed.udp else { continue };
                self.add(seed, format_args!("UDP checksum 0x{checksum:04x}"), Class::Checksum, |frame| {
                    store(frame, udp + 6, checksum);
                });
            }
            for (old, new) in [([255; 4], [0; 4]), ([0; 4], [255; 4]), ([0; 4], [0; 4]), ([1, 2, 3, 4], [3, 4, 1, 2])] {
                for checksum in [0, 0xffff, 0x1234] {
                    self.add(
                        seed,
                        format_args!("from {old:?} to {new:?} below 0x{checksum:04x}"),
                        Class::Checksum,
                        |frame| {
                            frame[seed.ip + 16..seed.ip + 20].copy_from_slice(&old);
                            store(frame, seed.ip + 10, checksum);
                            if let Some(udp) = seed.udp {
                                store(frame, udp + 6, checksum);
                            }
                        },
                    );
                    if let Some(case) = self.0.last_mut() {
                        case.rule.address = new;
                    }
                }
            }
        }
    }
}

fn read(bytes: &[u8], place: usize) -> u16 {
    u16::from_be_bytes([bytes[place], bytes[place + 1]])
}

fn store(bytes: &mut [u8], place: usize, value: u16) {
    bytes[place..place + 2].copy_from_slice(&value.to_be_bytes());
}
