// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Segments without data that no socket of the engine writes.

use crate::demux::{Flow, Segment};
use crate::link::{Hop, Link};
use crate::wire::Wire;
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{IpAddress, IpProtocol, Ipv4Packet, Ipv4Repr, TcpControl, TcpPacket, TcpRepr, TcpSeqNumber};

/// A segment without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) flow: Flow,
    pub(crate) reset: bool,
    pub(crate) seq: TcpSeqNumber,
    pub(crate) ack: Option<TcpSeqNumber>,
    pub(crate) window: u16,
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
    Some(Reply { flow: segment.flow, reset: true, seq, ack, window: 0 })
}

impl Reply {
    pub(crate) fn send<W: Wire>(self, link: &mut Link<W>, hop: Hop) {
        let (local, remote) = (self.flow.local(), self.flow.remote());
        let tcp = TcpRepr {
            src_port: local.port(),
            dst_port: remote.port(),
            control: if self.reset { TcpControl::Rst } else { TcpControl::None },
            seq_number: self.seq,
            ack_number: self.ack,
            window_len: self.window,
            window_scale: None,
            max_seg_size: None,
            sack_permitted: false,
            sack_ranges: [None; 3],
            timestamp: None,
            payload: &[],
        };
        let ip = Ipv4Repr {
            src_addr: *local.ip(),
            dst_addr: *remote.ip(),
            next_header: IpProtocol::Tcp,
            payload_len: tcp.buffer_len(),
            hop_limit: 64,
        };
        let checksums = ChecksumCapabilities::default();
        link.transmit(ip.buffer_len() + tcp.buffer_len(), hop, |bytes| {
            ip.emit(&mut Ipv4Packet::new_unchecked(&mut *bytes), &checksums);
            let mut packet = TcpPacket::new_unchecked(&mut bytes[ip.buffer_len()..]);
            tcp.emit(&mut packet, &IpAddress::Ipv4(*local.ip()), &IpAddress::Ipv4(*remote.ip()), &checksums);
        });
    }
}
