// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The frames of each workload.

use parsing_bench::{
    contract::Workload,
    frames::{Ipv4, data, ethernet, ethertype, protocol},
    trace::{SEED, Trace},
};

/// So many flows; each frame is of one.
const FLOWS: u8 = 64;
/// Makes frames of 64 bytes with the FCS, which is not in memory: the smallest, as in every overload test.
const DATA: usize = 18;

/// Of the mixed trace: 2,048 frames, more than the processor learns by heart.
const DECKS: usize = 32;

/// What a round over the workload consists of: UDP datagrams with checksums to rewrite, a mixed trace to read.
pub(crate) fn of(workload: Workload) -> Vec<Vec<u8>> {
    match workload {
        Workload::W1 | Workload::W2 | Workload::W3 => (0..FLOWS).map(datagram).collect(),
        Workload::W4 => Trace::new(SEED, DECKS).frames().map(|(_, frame)| frame.to_vec()).collect(),
    }
}

/// A datagram of one flow, checksums included.
fn datagram(flow: u8) -> Vec<u8> {
    let ends = Ipv4 { source: [192, 0, 2, flow], destination: [198, 18, 0, flow], ..Ipv4::new(protocol::UDP) };
    ethernet(&[], ethertype::IPV4, &ends.with_udp(&data(DATA)))
}
