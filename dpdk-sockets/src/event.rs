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
    /// The network has given the stack other addresses, or has taken some away: see [`Stack::addresses`](crate::Stack::addresses).
    /// Connections from an address that is gone end with [`Config::user_timeout`](crate::Config::user_timeout).
    Addresses,
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
