// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a stack says to the program.

use thiserror::Error;

slotmap::new_key_type! {
    /// A connection of one stack. After [`Stack::close`](crate::Stack::close) it stands for nothing, also when other
    /// connections are made.
    pub struct ConnectionId;

    /// A listener of one stack.
    pub struct ListenerId;

    /// A UDP port of one stack.
    pub struct UdpId;
}

/// What has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A peer has connected to a listener.
    Accepted(ListenerId, ConnectionId),
    /// The connection that the program asked for is established.
    Connected(ConnectionId),
    /// Bytes have arrived, or the peer has closed its direction. It comes once for all that has arrived: read until
    /// [`Stack::recv`](crate::Stack::recv) returns `None` or `Some(0)`.
    Readable(ConnectionId),
    /// There is space again, after [`Stack::send`](crate::Stack::send) did not take all bytes.
    Writable(ConnectionId),
    /// Datagrams have arrived. It comes once for all of them: call [`Stack::recv_from`](crate::Stack::recv_from) until it
    /// returns `None`.
    Datagram(UdpId),
    /// The connection has ended. What has arrived before can still be read; [`Stack::close`](crate::Stack::close) it then.
    Ended(ConnectionId, Ended),
}

/// How a connection has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Ended {
    /// Both directions were closed.
    #[error("both sides have closed it")]
    Closed,
    /// The peer has reset it.
    #[error("the peer has reset it")]
    Reset,
    /// Nobody listens on the peer's port.
    #[error("the peer has refused it: nobody listens on that port")]
    Refused,
    /// The peer did not answer in time.
    #[error("the peer did not answer in time")]
    TimedOut,
    /// No data came or went for [`Config::idle_timeout`](crate::Config::idle_timeout).
    #[error("no data came or went for too long")]
    Idle,
    /// The peer, or the gateway to it, did not answer to ARP or neighbor discovery, or a router has said that there is no way to
    /// the peer (ICMP).
    #[error(
        "the host cannot be reached: it, or the gateway, does not answer to ARP or neighbor discovery, or a router knows no way to it"
    )]
    Unreachable,
}

/// What a stack has counted since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Frames received.
    pub frames: u64,
    /// Frames that were for nobody here, or not understood.
    pub ignored: u64,
    /// Packets with a wrong checksum.
    pub damaged: u64,
    /// Datagrams that were dropped, since too many waited for the program.
    pub datagrams_dropped: u64,
    /// Parts of IP packets, which are dropped.
    pub fragments: u64,
    /// Handshakes that were ignored, since the stack had too many connections.
    pub overflows: u64,
    /// Handshakes that were ignored, since the peer had too many connections.
    pub peer_overflows: u64,
    /// SYNs that were answered by a cookie, since the listener had too many incomplete handshakes (RFC 4987).
    pub cookies: u64,
    /// Resets sent for segments of no connection.
    pub refused: u64,
    /// Segments that could be forged, and were answered by an acknowledgment (RFC 5961).
    pub challenges: u64,
    /// Packets that were dropped since nobody answered to ARP or neighbor discovery, or since too many waited for the answer.
    pub unresolved: u64,
    /// Frames that were not sent since there was no mbuf, or no place in the TX queue. They are repeated as if the network
    /// had lost them.
    pub dropped: u64,
}
