// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Where the engine, smoltcp 0.14, does not do what RFC 9293 says: segments that it must not get, or gets changed, and
//! segments that are made for it. `docs/upstream` has the reports.

use super::{Connection, Reply, Stage, retransmission};
use crate::demux::Segment;
use crate::engine::{Next, State};
use crate::time::Time;
use smoltcp::wire::{TcpControl, TcpPacket, TcpSeqNumber};

/// An acknowledgment number that is older than this was not overtaken on its way: a send buffer is not larger.
const OLDEST: i32 = 65_535;

impl Connection {
    /// Whether the engine would take what it must not: an acknowledgment of what was not sent, data after the peer's FIN, or a
    /// FIN as the end of data that the window cuts off.
    pub(super) fn is_beyond(&self, segment: &Segment<'_>, expected: TcpSeqNumber) -> bool {
        let end = segment.seq + segment.payload;
        segment.ack.is_some_and(|ack| ack > self.next_to_send)
            || (segment.fin && end > self.edge)
            || (segment.payload > 0 && end > expected && self.socket.is_at_end())
    }

    /// The packet that the engine gets in place of one that it would drop: data or a FIN that a newer acknowledgment has
    /// overtaken, or a FIN after data that have all arrived before.
    pub(crate) fn corrected(&self, segment: &Segment<'_>) -> Option<Vec<u8>> {
        let number = segment.ack.filter(|_| self.stage == Stage::Open && !segment.syn && !segment.rst)?;
        if segment.fin && segment.payload > 0 {
            let seq = segment.seq + segment.payload;
            if self.next_expected() == Some(seq) {
                let ack = Some(number.max(self.unacknowledged()));
                let (flow, control, window) = (self.flow.reversed(), TcpControl::Fin, segment.window);
                return Some(Reply { flow, control, seq, ack, window, segment_size: None }.packet());
            }
        }
        if number >= self.acknowledged || segment.len() == 0 {
            return None;
        }
        let oldest = self.unacknowledged();
        if !(1..=OLDEST).contains(&oldest.0.wrapping_sub(number.0)) {
            return None;
        }
        let mut packet = segment.packet.to_vec();
        let mut tcp = TcpPacket::new_unchecked(&mut packet[segment.header_len()..]);
        tcp.set_ack_number(oldest);
        // The window is that of the newer one.
        tcp.set_window_len(self.peer_window);
        Some(packet)
    }

    /// SND.UNA, as the engine has it.
    fn unacknowledged(&self) -> TcpSeqNumber {
        let is_fin_acknowledged = matches!(self.socket.state(), State::FinWait2 | State::TimeWait);
        self.written - self.socket.unacknowledged() + usize::from(is_fin_acknowledged)
    }

    /// Whether data wait for a peer that has taken its window back, and nothing will probe it: the engine starts to probe only
    /// if a segment with a window of 0 arrives while no other timer runs. Then this is the segment that starts it.
    pub(crate) fn probes(&self, next: Next, now: Time) -> Option<Vec<u8>> {
        let waits = match next {
            Next::Now => false,
            Next::At(at) => at > now + retransmission::LONGEST,
            Next::Never => true,
        };
        if !waits || self.socket.unacknowledged() == 0 || self.stage != Stage::Open {
            return None;
        }
        let ack = self.unacknowledged();
        Some(Reply::acknowledge(self.flow.reversed(), self.next_expected()?, ack, 0).packet())
    }

    /// Sends a FIN after what was written. In LAST-ACK the engine does not follow the peer's window, so in CLOSE-WAIT the FIN
    /// waits for the last segment.
    pub(crate) fn finish(&mut self) {
        if self.socket.state() == State::CloseWait {
            self.fin_waits = true;
        } else {
            self.socket.close();
        }
    }

    /// A FIN that waits goes with the next segment, if that is the last one; packets have so many bytes.
    pub(crate) fn finish_with_last(&mut self, mtu: usize) {
        if !self.fin_waits {
            return;
        }
        let segment_size = mtu - self.flow.headers_len();
        let is_last = self.peer_window > 0 && self.written <= self.next_to_send + segment_size;
        if is_last || self.socket.unacknowledged() == 0 {
            self.fin_waits = false;
            self.socket.close();
        }
    }
}
