// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a stack counts.

use crate::event::Ended;

/// Declares the counters, so that each one is also found by its name.
macro_rules! counters {
    ($($(#[$doc:meta])+ $name:ident,)+) => {
        /// What a stack has counted since it was made.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counters {
            $($(#[$doc])+ pub $name: u64,)+
        }

        impl Counters {
            /// All counters with the names of their fields, for programs that export them.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)+].into_iter()
            }
        }
    };
}

counters! {
    /// Frames received.
    frames,
    /// Microseconds from polls that neither received frames nor sent segments until the next ones.
    idle_micros,
    /// Segments received for connections, repeated ones included.
    segments_received,
    /// Segments sent by connections, repeated ones included.
    segments_sent,
    /// Bytes that have arrived in order.
    bytes_received,
    /// Bytes that the program has sent.
    bytes_sent,
    /// Segments with data, a SYN or a FIN that were sent again, since no acknowledgment had come: for lack of one in time, after
    /// three duplicates, or to ask whether a window is still closed.
    retransmits,
    /// Segments with data that came before others with lower numbers: the network has lost or reordered something.
    out_of_order,
    /// Segments all of whose data had arrived before: the peer repeats what was acknowledged.
    duplicates,
    /// Connections that the program has asked for, whatever became of them.
    connects,
    /// Connections that the program has asked for and that were established.
    connected,
    /// Connections that listeners have accepted.
    accepted,
    /// Handshakes with listeners that came to nothing: the peer fell silent or reset them, or the listener was closed.
    handshakes_failed,
    /// Connections that both sides have closed.
    ended_closed,
    /// Connections that the peer has reset.
    ended_reset,
    /// Connections that the program has aborted, or closed while bytes were not read. The peers got resets.
    ended_aborted,
    /// Connections that were asked for and refused, by a reset or an ICMP message.
    ended_refused,
    /// Connections whose peer did not answer in time. The peers got resets.
    ended_timed_out,
    /// Connections without data for too long. The peers got resets.
    ended_idle,
    /// Connections that were asked for, and to which there was no way.
    ended_unreachable,
    /// Resets received that had the expected number.
    resets_received,
    /// Resets sent for segments of no connection.
    refused,
    /// Segments that could be forged, and were answered by an acknowledgment (RFC 5961).
    challenges,
    /// SYNs that were answered by a cookie, since the listener had too many incomplete handshakes (RFC 4987).
    cookies,
    /// Connections that were accepted by a cookie.
    cookies_accepted,
    /// Handshakes that were ignored, since the stack had too many connections.
    overflows,
    /// Handshakes that were ignored, since the peer had too many connections.
    peer_overflows,
    /// Frames that were for nobody here, or not understood.
    ignored,
    /// Packets with a wrong checksum.
    damaged,
    /// Datagrams that were dropped, since too many waited for the program.
    datagrams_dropped,
    /// Frames that came here and were passed to another stack of the group.
    passed_on,
    /// Frames that were dropped, since too many waited for the stack of the group that they are for.
    not_passed_on,
    /// Parts of IPv4 packets, which are dropped.
    fragments,
    /// Packets that were dropped since nobody answered to ARP, or since too many waited for the answer.
    unresolved,
    /// Frames that were not sent since there was no mbuf, or no place in the TX queue. They are repeated as if the network
    /// had lost them.
    dropped,
}

impl Counters {
    /// Where the end of a connection is counted.
    pub(crate) const fn end(&mut self, how: Ended, is_aborted: bool, was_half_open: bool) -> &mut u64 {
        match how {
            _ if was_half_open => &mut self.handshakes_failed,
            Ended::Reset if is_aborted => &mut self.ended_aborted,
            Ended::Closed => &mut self.ended_closed,
            Ended::Reset => &mut self.ended_reset,
            Ended::Refused => &mut self.ended_refused,
            Ended::TimedOut => &mut self.ended_timed_out,
            Ended::Idle => &mut self.ended_idle,
            Ended::Unreachable => &mut self.ended_unreachable,
        }
    }
}
