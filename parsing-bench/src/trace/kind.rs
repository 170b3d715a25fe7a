// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The kinds of frames in the trace.

/// The kind of a frame.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    /// TCP over IPv4.
    Ipv4Tcp,
    /// UDP over IPv4.
    Ipv4Udp,
    /// ICMP.
    Icmp,
    /// TCP or UDP over IPv4 with options.
    Ipv4Options,
    /// The first fragment of UDP or TCP over IPv4.
    Ipv4FirstFragment,
    /// Another fragment of UDP or TCP over IPv4.
    Ipv4LaterFragment,
    /// TCP over IPv6.
    Ipv6Tcp,
    /// UDP over IPv6.
    Ipv6Udp,
    /// ICMPv6.
    Icmpv6,
    /// TCP or UDP over IPv6, after extension headers other than a fragment header.
    Ipv6Extensions,
    /// The first fragment of UDP or TCP over IPv6.
    Ipv6FirstFragment,
    /// Another fragment of UDP or TCP over IPv6.
    Ipv6LaterFragment,
    /// UDP or TCP over IPv6, whole, after a fragment header.
    Ipv6AtomicFragment,
    /// A protocol without ports, over IPv4 or IPv6.
    OtherProtocol,
    /// ARP.
    Arp,
    /// Neither IP nor ARP.
    OtherEthertype,
    /// Random bytes.
    RandomBytes,
    /// TCP or UDP, over IPv4 or IPv6, truncated.
    CutShort,
    /// TCP or UDP, over IPv4 or IPv6, with one invalid field.
    WrongField,
}
