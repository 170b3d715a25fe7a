// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is shown of a connection.

use super::{Connection, NEVER, Patience, Stage};
use crate::engine::State;
use crate::event::ConnectionId;
use crate::time::Time;
use crate::watch::ConnectionInfo;

impl Connection {
    /// What is known of it. `mtu` is that of its path.
    pub(crate) fn info(&self, id: ConnectionId, mtu: usize, now: Time, patience: &Patience) -> ConnectionInfo {
        let (socket, noted) = (&self.socket, &self.noted);
        // Of one that has ended, the socket may not know it.
        let state = if matches!(self.stage, Stage::Over(_)) { State::Closed } else { socket.state() };
        // RFC 7323, section 2.2: the window of a SYN is in bytes.
        let shift = if matches!(state, State::SynSent | State::SynReceived) { 0 } else { noted.terms.window_shift };
        ConnectionInfo {
            id,
            local: self.flow.local(),
            peer: self.flow.remote(),
            state: state.into(),
            listener: self.listener,
            is_closed: self.is_closed,
            unread: socket.unread(),
            unacknowledged: socket.unacknowledged(),
            in_flight: self.next_to_send - self.acknowledged,
            receive_window: self.window.into(),
            send_window: u32::from(noted.peer_window) << shift,
            segment_size: noted.terms.segment_size.min((mtu - self.flow.headers_len()) as u16),
            path_mtu: mtu as u16,
            bytes_received: self.bytes_received(),
            bytes_acknowledged: noted.written - socket.unacknowledged() as u64,
            retransmits: noted.retransmits,
            out_of_order: noted.out_of_order,
            since_heard: now.since(noted.last_segment),
            since_active: now.since(self.active),
            timer: (self.due != NEVER).then(|| Time::from_millis(self.due).since(now)),
            deadline: match self.stage {
                Stage::Over(_) => None,
                _ => self.deadline(patience).map(|(at, how)| (at.since(now), how)),
            },
        }
    }
}
