// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What happens after an ICMP message says that a segment was not delivered (RFC 1122, section 4.2.3.9).

use super::{Stack, trace};
use crate::demux::{Flow, Reason, Undelivered};
use crate::engine::Path;
use crate::event::Ended;
use crate::tcp::Stage;
use crate::time::Time;
use crate::wire::Wire;

/// After this time, longer packets are tried again (RFC 1191, section 6.3; RFC 8201, section 4).
const TRY_LONGER_AFTER: Time = Time::from_secs(600);

impl<W: Wire> Stack<W> {
    pub(super) fn undelivered(&mut self, segment: Undelivered, others: usize) {
        let id = self.connections.find(segment.flow);
        if id.is_none() && self.pass_undelivered(segment, others) {
            return;
        }
        let found = id.and_then(|id| Some((id, self.connections.get_mut(id)?)));
        // Whoever does not see the connection cannot know the number.
        let Some((id, connection)) = found.filter(|(_, connection)| connection.is_in_flight(segment.seq)) else {
            self.counters.ignored += 1;
            return;
        };
        let connects = connection.stage == Stage::Opening && connection.listener.is_none();
        match segment.reason {
            Reason::TooBig(most) => {
                let flow = connection.flow;
                if let Some(mtu) = self.engine.path_mtu(connection.path).shorter(most, flow.is_ipv4()) {
                    // The engine repeats the segment, and makes it shorter.
                    connection.path = self.engine.path(flow.local().ip(), mtu, false);
                    trace::path_mtu_lowered(flow.remote().ip(), mtu);
                    self.paths.insert(flow.remote().ip(), (mtu, self.link.now() + TRY_LONGER_AFTER));
                }
            }
            Reason::Refused if connects => self.over(id, Ended::Refused),
            Reason::Unreachable if connects => self.over(id, Ended::Unreachable),
            // The way may come back.
            Reason::Refused | Reason::Unreachable => (),
        }
    }

    /// The path of a flow, as far as it is known, to a peer that takes segments with so many bytes.
    pub(super) fn path(&mut self, flow: Flow, segment_size: u16) -> Path {
        let known = self.paths.get(&flow.remote().ip());
        let mtu = known.map_or(self.engine.longest(), |(mtu, _)| *mtu);
        let takes_cut = usize::from(segment_size) >= self.config.mtu - flow.headers_len();
        self.engine.path(flow.local().ip(), mtu, takes_cut)
    }
}
