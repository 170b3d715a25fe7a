// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Random frames. Most are nearly valid, since completely wrong frames are rejected by the first check.

use super::mutants::{Case, Class};
use crate::{
    contract::{Rule, Workload},
    frames::{
        Ipv4, MORE_FRAGMENTS, authentication, data, echo, ethernet,
        ethertype::{IPV4, IPV6, SERVICE_TAG, TAG},
        fragment, ipv6, options,
        protocol::{AUTHENTICATION, DESTINATION_OPTIONS, FRAGMENT, GRE, HOP_BY_HOP, ICMP, ICMPV6, ROUTING, TCP, UDP},
        routing, tcp, udp,
    },
};
use proptest::{
    collection::vec,
    prelude::{Just, Strategy, any},
    prop_oneof,
    sample::{Index, select},
    strategy::{BoxedStrategy, ValueTree},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

/// Frames and rules from a seed: the same seed gives the same ones.
#[derive(Debug)]
pub struct Drawn {
    runner: TestRunner,
    strategy: BoxedStrategy<(Vec<u8>, Rule)>,
    number: usize,
}

impl Drawn {
    /// The cases of a workload.
    pub fn new(workload: Workload, seed: u64) -> Self {
        // Never all zeros, with which the generator would stand still. Another would take most of the gate's time.
        let mut bytes = [1 + workload as u8; 16];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let random = TestRng::from_seed(RngAlgorithm::XorShift, &bytes);
        let config = Config { failure_persistence: None, ..Config::default() };
        Self { runner: TestRunner::new_with_rng(config, random), strategy: drawn(workload), number: 0 }
    }

    /// The next one, as a tree that can be made smaller; `None` if the strategy has given up.
    fn tree(&mut self) -> Option<impl ValueTree<Value = (Vec<u8>, Rule)> + use<>> {
        self.strategy.new_tree(&mut self.runner).ok()
    }

    /// The number-th case of those that `self` would still give, made smaller as long as it `fails`.
    pub fn smallest(mut self, number: usize, mut fails: impl FnMut(&Case) -> bool) -> Option<Case> {
        let mut tree = self.nth_tree(number)?;
        let named =
            |(frame, rule)| Case { name: format!("drawn {number}, made smaller"), class: Class::Drawn, frame, rule };
        let mut smallest = None;
        // Bounded, should a library not do the same each time.
        for _ in 0..4096 {
            let case = named(tree.current());
            let goes_on = if fails(&case) {
                smallest = Some(case);
                tree.simplify()
            } else {
                tree.complicate()
            };
            if !goes_on {
                break;
            }
        }
        smallest
    }

    fn nth_tree(&mut self, number: usize) -> Option<impl ValueTree<Value = (Vec<u8>, Rule)> + use<>> {
        for _ in 0..number {
            self.tree()?;
        }
        self.tree()
    }
}

impl Iterator for Drawn {
    type Item = Case;

    fn next(&mut self) -> Option<Case> {
        let (frame, rule) = self.tree()?.current();
        let name = format!("drawn {}", self.number);
        self.number += 1;
        Some(Case { name, class: Class::Drawn, frame, rule })
    }
}

fn drawn(workload: Workload) -> BoxedStrategy<(Vec<u8>, Rule)> {
    let frames = match workload {
        Workload::W4 => prop_oneof![9 => spoilt(any_frame()), 1 => vec(any::<u8>(), 0..160)].boxed(),
        _ => prop_oneof![9 => spoilt(frame_of(vec![], ipv4_packet())), 1 => spoilt(any_frame())].boxed(),
    };
    (frames, rule()).boxed()
}

fn rule() -> impl Strategy<Value = Rule> {
    let address = prop_oneof![8 => any::<[u8; 4]>(), 1 => Just([0; 4]), 1 => Just([255; 4])];
    (any::<[u8; 6]>(), any::<[u8; 6]>(), address).prop_map(|(destination, source, address)| Rule {
        destination,
        source,
        address,
    })
}

/// Frames with both versions of IP, sometimes with one or two tags.
fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    let tags = prop_oneof![
        4 => Just(vec![]),
        2 => Just(vec![TAG]),
        2 => Just(vec![SERVICE_TAG, TAG]),
        1 => vec(select(vec![TAG, SERVICE_TAG, 0x9100]), 1..4),
    ];
    tags.prop_flat_map(|tags| prop_oneof![frame_of(tags.clone(), ipv4_packet()), frame_of(tags, ipv6_packet())])
}

/// The packet after its ethertype, sometimes with padding.
fn frame_of(tags: Vec<u16>, packet: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    (packet, prop_oneof![3 => Just(0), 1 => 0..20_usize]).prop_map(move |(packet, padding)| {
        let ethertype = if packet[0] >> 4 == 4 { IPV4 } else { IPV6 };
        let mut frame = ethernet(&tags, ethertype, &packet);
        frame.extend(vec![0; padding]);
        frame
    })
}

/// A datagram, segment or message, and its protocol.
fn upper_layer(icmp: u8, kind: u8) -> impl Strategy<Value = (u8, Vec<u8>)> {
    (0..8, 0..70_usize, 0..=10_u8).prop_map(move |(which, length, options)| match which {
        0..4 => (UDP, udp(&data(length))),
        4..6 => (TCP, tcp(options, &data(length))),
        6 => (icmp, echo(kind, &data(length))),
        _ => (GRE, data(length)),
    })
}

fn ipv4_packet() -> impl Strategy<Value = Vec<u8>> {
    let fragment = prop_oneof![6 => Just(0), 1 => Just(MORE_FRAGMENTS), 1 => any::<u16>()];
    let addresses = (any::<[u8; 4]>(), any::<[u8; 4]>());
    let options = prop_oneof![2 => Just(0), 1 => 0..=10_u8];
    (upper_layer(ICMP, 8), addresses, options, fragment, 0..10).prop_map(
        |((protocol, payload), (source, destination), options, fragment, which)| {
            let mut packet = Ipv4::new(protocol).options(options).fragment(fragment);
            (packet.source, packet.destination) = (source, destination);
            match which {
                // Most datagrams have a right checksum, some have none.
                0..6 if protocol == UDP => packet.with_udp(&payload[8..]),
                6 => {
                    packet.protocol = AUTHENTICATION;
                    packet.with(&authentication(protocol, &payload))
                }
                _ => packet.with(&payload),
            }
        },
    )
}

fn ipv6_packet() -> impl Strategy<Value = Vec<u8>> {
    let headers = vec((0..6, 1..4_u8, prop_oneof![2 => Just(0), 1 => 0..9_u16], any::<bool>()), 0..5);
    (upper_layer(ICMPV6, 128), headers).prop_map(|((mut next, mut payload), headers)| {
        for (which, units, offset, more) in headers {
            (next, payload) = match which {
                0 => (HOP_BY_HOP, options(next, units, &payload)),
                1 | 2 => (DESTINATION_OPTIONS, options(next, units, &payload)),
                3 => (ROUTING, routing(next, &payload)),
                4 => (FRAGMENT, fragment(next, offset, more, &payload)),
                _ => (AUTHENTICATION, authentication(next, &payload)),
            };
        }
        ipv6(next, &payload)
    })
}

/// Half of them unchanged; the others with overwritten bytes, flipped bits, or truncated.
fn spoilt(frames: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let harm = prop_oneof![
        (any::<Index>(), any::<u8>()).prop_map(|(place, byte)| Harm::Byte(place, byte)),
        (any::<Index>(), 0..8_u32).prop_map(|(place, bit)| Harm::Bit(place, 1 << bit)),
        any::<Index>().prop_map(Harm::Cut),
    ];
    (frames, prop_oneof![Just(vec![]), vec(harm, 1..4)]).prop_map(|(mut frame, harms)| {
        for harm in harms {
            // The headers are where it hurts.
            let reach = frame.len().min(80);
            match harm {
                _ if reach == 0 => (),
                Harm::Byte(place, byte) => frame[place.index(reach)] = byte,
                Harm::Bit(place, bit) => frame[place.index(reach)] ^= bit,
                Harm::Cut(place) => frame.truncate(place.index(frame.len())),
            }
        }
        frame
    })
}

#[derive(Clone, Copy, Debug)]
enum Harm {
    Byte(Index, u8),
    Bit(Index, u8),
    Cut(Index),
}
