// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is known of a connection, as `ss -ti` shows it of the kernel's.

use crate::event::{ConnectionId, Ended, ListenerId};
use core::fmt;
use core::net::SocketAddr;
use core::time::Duration;

/// A connection at the moment when the stack was polled last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionInfo {
    /// The connection. It stands for nothing in calls if the program has closed it, or does not know of it yet.
    pub id: ConnectionId,
    /// The stack's address and port.
    pub local: SocketAddr,
    /// The peer's address and port.
    pub peer: SocketAddr,
    /// The state.
    pub state: TcpState,
    /// Who has accepted it; nobody, if the program has called `connect`.
    pub listener: Option<ListenerId>,
    /// Whether the program has closed it, and the stack sends what is left.
    pub is_closed: bool,
    /// Bytes that have arrived and were not read by the program.
    pub unread: usize,
    /// Bytes that the program has sent and the peer has not acknowledged, those that have not left included.
    pub unacknowledged: usize,
    /// Sequence numbers that are on their way: bytes, and a SYN or FIN.
    pub in_flight: usize,
    /// How many bytes the peer may send, as the last segment to it said.
    pub receive_window: u32,
    /// How many bytes the peer takes, as its last segment said.
    pub send_window: u32,
    /// The most bytes of data in a segment to the peer: what it takes, or what the path takes.
    pub segment_size: u16,
    /// The maximum length of a packet to the peer in bytes.
    pub path_mtu: u16,
    /// Bytes that have arrived in order.
    pub bytes_received: u64,
    /// Bytes that the peer has acknowledged.
    pub bytes_acknowledged: u64,
    /// As [`Counters::retransmits`](crate::Counters::retransmits).
    pub retransmits: u32,
    /// As [`Counters::out_of_order`](crate::Counters::out_of_order).
    pub out_of_order: u32,
    /// How long ago the last segment came, or the connection began if none has.
    pub since_heard: Duration,
    /// How long ago data came or was written by the program, or the handshake was completed.
    pub since_active: Duration,
    /// After so long the stack looks at the connection, whether there is something to repeat, to ask for, or to end; `None` if
    /// it waits for the peer or for the program alone.
    pub timer: Option<Duration>,
    /// After so long the connection ends in this way if the peer stays silent.
    pub deadline: Option<(Duration, Ended)>,
}

/// The state of a connection (RFC 9293, section 3.3.2). Its text is the RFC's name, such as `SYN-SENT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the RFC has them")]
pub enum TcpState {
    Closed,
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
}

impl TcpState {
    pub(crate) const ALL: [Self; 11] = [
        Self::Closed,
        Self::Listen,
        Self::SynSent,
        Self::SynReceived,
        Self::Established,
        Self::FinWait1,
        Self::FinWait2,
        Self::CloseWait,
        Self::Closing,
        Self::LastAck,
        Self::TimeWait,
    ];
}

impl fmt::Display for TcpState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Closed => "CLOSED",
            Self::Listen => "LISTEN",
            Self::SynSent => "SYN-SENT",
            Self::SynReceived => "SYN-RECEIVED",
            Self::Established => "ESTABLISHED",
            Self::FinWait1 => "FIN-WAIT-1",
            Self::FinWait2 => "FIN-WAIT-2",
            Self::CloseWait => "CLOSE-WAIT",
            Self::Closing => "CLOSING",
            Self::LastAck => "LAST-ACK",
            Self::TimeWait => "TIME-WAIT",
        })
    }
}
