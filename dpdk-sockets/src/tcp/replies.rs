// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Segments without data that no socket of the engine writes.

use crate::demux::{Flow, Segment, Terms};
use crate::link::{Hop, Link};
use crate::wire::Wire;
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{IpProtocol, IpRepr, TcpControl, TcpPacket, TcpRepr, TcpSeqNumber};

/// A segment without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) flow: Flow,
    pub(crate) control: TcpControl,
    pub(crate) seq: TcpSeqNumber,
    pub(crate) ack: Option<TcpSeqNumber>,
    pub(crate) window: u16,
    /// The maximum segment size, in a SYN.
    pub(crate) segment_size: Option<u16>,
}

/// RFC 9293, section 3.10.7.1: what answers a segment that belongs to no connection.
pub(crate) fn reset_for(segment: &Segment<'_>) -> Option<Reply> {
    if segment.rst {
        return None;
    }
    let (seq, ack) = match segment.ack {
        Some(ack) => (ack, None),
        None => (TcpSeqNumber(0), Some(segment.seq + segment.len())),
    };
    Some(Reply { flow: segment.flow, control: TcpControl::Rst, seq, ack, window: 0, segment_size: None })
}

impl Reply {
    /// An acknowledgment.
    pub(crate) fn acknowledge(flow: Flow, seq: TcpSeqNumber, ack: TcpSeqNumber, window: u16) -> Self {
        Self { flow, control: TcpControl::None, seq, ack: Some(ack), window, segment_size: None }
    }

    pub(crate) fn send<W: Wire>(self, link: &mut Link<W>, hop: Hop) {
        let (ip, tcp) = self.headers();
        link.transmit(ip.buffer_len(), hop, |bytes| emit(&ip, &tcp, bytes));
    }

    /// The IP packet, without checksums.
    pub(crate) fn packet(self) -> Vec<u8> {
        let (ip, tcp) = self.headers();
        packet(&ip, &tcp)
    }

    /// The packet of a SYN with options, for the engine.
    pub(crate) fn syn(flow: Flow, seq: TcpSeqNumber, terms: Terms) -> Vec<u8> {
        let (segment_size, control) = (Some(terms.segment_size), TcpControl::Syn);
        let (ip, tcp) = Self { flow, control, seq, ack: None, window: 0, segment_size }.headers();
        let tcp = TcpRepr { window_scale: Some(terms.window_shift), sack_permitted: terms.sack, ..tcp };
        packet(&IpRepr::new(ip.src_addr(), ip.dst_addr(), IpProtocol::Tcp, tcp.buffer_len(), ip.hop_limit()), &tcp)
    }

    fn headers(self) -> (IpRepr, TcpRepr<'static>) {
        let (local, remote) = (self.flow.local(), self.flow.remote());
        let tcp = TcpRepr {
            src_port: local.port(),
            dst_port: remote.port(),
            control: self.control,
            seq_number: self.seq,
            ack_number: self.ack,
            window_len: self.window,
            window_scale: None,
            max_seg_size: self.segment_size,
            sack_permitted: false,
            sack_ranges: [None; 3],
            timestamp: None,
            payload: &[],
        };
        (IpRepr::new(local.ip().into(), remote.ip().into(), IpProtocol::Tcp, tcp.buffer_len(), 64), tcp)
    }
}

fn packet(ip: &IpRepr, tcp: &TcpRepr<'_>) -> Vec<u8> {
    let mut bytes = vec![0; ip.buffer_len()];
    emit(ip, tcp, &mut bytes);
    bytes
}

fn emit(ip: &IpRepr, tcp: &TcpRepr<'_>, bytes: &mut [u8]) {
    let checksums = ChecksumCapabilities::ignored();
    ip.emit(&mut *bytes, &checksums);
    let mut segment = TcpPacket::new_unchecked(&mut bytes[ip.header_len()..]);
    tcp.emit(&mut segment, &ip.src_addr(), &ip.dst_addr(), &checksums);
}
