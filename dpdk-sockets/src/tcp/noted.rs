// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is noted of a connection for those who watch it.

use crate::demux::{Segment, Terms};
use crate::engine::Sent;
use crate::time::Time;
use crate::watch::Counters;
use smoltcp::wire::TcpSeqNumber;

#[derive(Debug)]
pub(crate) struct Noted {
    /// What the peer's SYN said.
    pub(super) terms: Terms,
    /// When the last segment came.
    pub(super) last_segment: Time,
    /// The window in it, as announced.
    pub(super) peer_window: u16,
    pub(super) retransmits: u32,
    pub(super) out_of_order: u32,
    /// Bytes that the program has written.
    pub(super) written: u64,
}

impl Noted {
    pub(super) fn new(now: Time) -> Self {
        let terms = Terms::default();
        Self { terms, last_segment: now, peer_window: 0, retransmits: 0, out_of_order: 0, written: 0 }
    }

    /// A segment has come. `expected` is the number after all that has arrived.
    pub(super) fn received(
        &mut self,
        segment: &Segment<'_>,
        expected: Option<TcpSeqNumber>,
        now: Time,
        counters: &mut Counters,
    ) {
        counters.segments_received += 1;
        self.last_segment = now;
        self.peer_window = segment.window;
        if let Some(expected) = expected
            && segment.seq != expected
            && segment.payload > 0
        {
            self.misplaced(segment, expected, counters);
        }
    }

    /// Counts a segment with data that does not begin where the last one ended.
    #[cold]
    fn misplaced(&mut self, segment: &Segment<'_>, expected: TcpSeqNumber, counters: &mut Counters) {
        if segment.seq > expected {
            self.out_of_order += 1;
            counters.out_of_order += 1;
        } else if segment.seq + segment.len() <= expected {
            counters.duplicates += 1;
        }
    }

    /// A segment was sent. What came before `acknowledged` has arrived, and what comes after `next` was not sent before.
    pub(super) fn sent(&mut self, sent: Sent, acknowledged: TcpSeqNumber, next: TcpSeqNumber, counters: &mut Counters) {
        counters.segments_sent += 1;
        // An old number asks the peer for a sign, and repeats nothing (RFC 9293, section 3.8.4).
        if sent.seq < next && sent.seq >= acknowledged && sent.len > 0 {
            self.retransmits += 1;
            counters.retransmits += 1;
        }
    }
}
