// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A TCP segment in its packet.

use super::Flow;
use core::net::{IpAddr, SocketAddr};
use smoltcp::wire::{TcpOption, TcpPacket, TcpSeqNumber};

/// A TCP segment.
pub(crate) struct Segment<'f> {
    /// The IP packet.
    pub(crate) packet: &'f [u8],
    /// How many bytes of data it has.
    pub(crate) payload: usize,
    pub(crate) flow: Flow,
    pub(crate) seq: TcpSeqNumber,
    pub(crate) ack: Option<TcpSeqNumber>,
    /// The window, not scaled.
    pub(crate) window: u16,
    pub(crate) syn: bool,
    pub(crate) fin: bool,
    pub(crate) rst: bool,
}

impl<'f> Segment<'f> {
    /// The segment in a packet whose IP header has so many bytes. `None` if its header is not whole.
    #[inline]
    pub(crate) fn parse(packet: &'f [u8], header_len: usize, local: IpAddr, remote: IpAddr) -> Option<Self> {
        let tcp = TcpPacket::new_checked(&packet[header_len..]).ok()?;
        let local = SocketAddr::new(local, tcp.dst_port());
        let remote = SocketAddr::new(remote, tcp.src_port());
        Some(Self {
            packet,
            payload: tcp.payload().len(),
            flow: Flow::new(local, remote),
            seq: tcp.seq_number(),
            ack: tcp.ack().then(|| tcp.ack_number()),
            window: tcp.window_len(),
            syn: tcp.syn(),
            fin: tcp.fin(),
            rst: tcp.rst(),
        })
    }

    /// How many sequence numbers it takes.
    pub(crate) fn len(&self) -> usize {
        self.payload + usize::from(self.syn) + usize::from(self.fin)
    }

    /// The length of the IP header in bytes.
    pub(crate) fn header_len(&self) -> usize {
        if self.flow.is_ipv4() { usize::from(self.packet[0] & 0xf) * 4 } else { smoltcp::wire::IPV6_HEADER_LEN }
    }

    /// What a SYN says in its options.
    pub(crate) fn terms(&self) -> Terms {
        let tcp = TcpPacket::new_unchecked(&self.packet[self.header_len()..]);
        let mut options = tcp.options();
        let segment_size = if self.flow.is_ipv4() { 536 } else { 1_220 };
        let mut terms = Terms { segment_size, ..Terms::default() };
        while let Ok((rest, option)) = TcpOption::parse(options) {
            match option {
                TcpOption::MaxSegmentSize(size) => terms.segment_size = size,
                TcpOption::WindowScale(shift) => terms.window_shift = shift.min(14),
                TcpOption::SackPermitted => terms.sack = true,
                TcpOption::EndOfList => break,
                _ => (),
            }
            options = rest;
        }
        terms
    }
}

/// What a peer wants of the segments to it, and says of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    /// The maximum segment size (RFC 9293, section 3.7.1).
    pub(crate) segment_size: u16,
    /// Its windows are counted in units of 2 to the power of this (RFC 7323, section 2).
    pub(crate) window_shift: u8,
    /// Whether it takes selective acknowledgments (RFC 2018).
    pub(crate) sack: bool,
}
