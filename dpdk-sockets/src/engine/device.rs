// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A device of smoltcp that hands out one packet, and sends to the link.

use crate::ip;
use crate::link::{Hop, Link};
use crate::wire::Wire;
use core::num::NonZeroUsize;
use smoltcp::phy::{Checksum, Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::time::Instant;
use smoltcp::wire::{IpProtocol, TcpPacket, TcpSeqNumber};

/// What a segment that was sent says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Its sequence number.
    pub(crate) seq: TcpSeqNumber,
    /// How many sequence numbers it takes.
    pub(crate) len: u16,
    /// Its acknowledgment number.
    pub(crate) ack: TcpSeqNumber,
    /// Its window, as announced.
    pub(crate) window: u16,
}

impl Sent {
    /// The sequence number after it.
    pub(crate) fn next(self) -> TcpSeqNumber {
        self.seq + usize::from(self.len)
    }
}

/// One received packet at most, and the way out.
pub(super) struct OneFrame<'d, W: Wire> {
    packet: Option<&'d [u8]>,
    link: &'d mut Link<W>,
    hop: Hop,
    mtu: usize,
    /// SND.NXT.
    next: Option<TcpSeqNumber>,
    pub(super) sent: Option<Sent>,
}

impl<'d, W: Wire> OneFrame<'d, W> {
    pub(super) fn new(packet: Option<&'d [u8]>, link: &'d mut Link<W>, hop: Hop, mtu: usize) -> Self {
        Self { packet, link, hop, mtu, next: None, sent: None }
    }

    /// Of a socket that has sent all numbers before this one.
    pub(super) const fn after(mut self, next: TcpSeqNumber) -> Self {
        self.next = Some(next);
        self
    }
}

impl<W: Wire> Device for OneFrame<'_, W> {
    type RxToken<'t>
        = Received<'t>
    where
        Self: 't;
    type TxToken<'t>
        = Transmission<'t, W>
    where
        Self: 't;

    fn receive(&mut self, _: Instant) -> Option<(Received<'_>, Transmission<'_, W>)> {
        let packet = self.packet.take()?;
        let (next, sent) = (self.next, &mut self.sent);
        Some((Received(packet), Transmission { link: self.link, hop: self.hop, next, sent }))
    }

    fn transmit(&mut self, _: Instant) -> Option<Transmission<'_, W>> {
        let has_room = matches!(self.hop, Hop::Nowhere) || self.link.wire.has_room();
        let (next, sent) = (self.next, &mut self.sent);
        has_room.then_some(Transmission { link: self.link, hop: self.hop, next, sent })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        capabilities(self.mtu)
    }
}

/// A packet that smoltcp reads.
pub(super) struct Received<'t>(&'t [u8]);

impl RxToken for Received<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(self.0)
    }
}

/// Room for a packet that smoltcp writes.
pub(super) struct Transmission<'t, W: Wire> {
    link: &'t mut Link<W>,
    hop: Hop,
    next: Option<TcpSeqNumber>,
    sent: &'t mut Option<Sent>,
}

impl<W: Wire> TxToken for Transmission<'_, W> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, write: F) -> R {
        let Self { link, hop, next, sent } = self;
        link.transmit(len, hop, |packet| {
            let result = write(packet);
            *sent = what_was_sent(packet, next);
            result
        })
    }
}

/// A reset has numbers of the segment that it answers. smoltcp writes nothing behind the packet.
///
/// An acknowledgment without data gets SND.NXT (RFC 9293, section 3.10.7.4). smoltcp 0.14 goes back to SND.UNA when it repeats;
/// its acknowledgments have that number then, and the peer ignores them. If both ends repeat, neither hears the other.
fn what_was_sent(packet: &mut [u8], next: Option<TcpSeqNumber>) -> Option<Sent> {
    let (header_len, protocol) = ip::header(packet)?;
    let is_tcp = protocol == IpProtocol::Tcp;
    let tcp = is_tcp.then(|| TcpPacket::new_unchecked(&mut packet[header_len..])).filter(|tcp| !tcp.rst());
    let mut tcp = tcp?;
    let len = tcp.segment_len() as u16;
    if let Some(next) = next.filter(|next| len == 0 && tcp.seq_number() < *next) {
        tcp.set_seq_number(next);
    }
    Some(Sent { seq: tcp.seq_number(), len, ack: tcp.ack_number(), window: tcp.window_len() })
}

/// Says what packets may be like, and carries none.
pub(super) struct Silent {
    pub(super) mtu: usize,
    /// The maximum length of an IPv4 packet with a TCP segment that the device cuts into packets of the MTU.
    pub(super) uncut: Option<NonZeroUsize>,
}

/// No packet can be sent.
pub(super) enum Never {}

impl TxToken for Never {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, _: usize, _: F) -> R {
        match self {}
    }
}

impl Device for Silent {
    type RxToken<'t> = Received<'t>;
    type TxToken<'t> = Never;

    fn receive(&mut self, _: Instant) -> Option<(Received<'_>, Never)> {
        None
    }

    fn transmit(&mut self, _: Instant) -> Option<Never> {
        None
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = capabilities(self.mtu);
        // smoltcp 0.14 drops packets of IPv6 that are longer than the MTU.
        capabilities.segmentation.tcpv4 = self.uncut;
        capabilities
    }
}

/// The stack verifies the checksums of what it receives, and the link, or the device, writes those of what is sent.
fn capabilities(mtu: usize) -> DeviceCapabilities {
    let mut capabilities = DeviceCapabilities::default();
    capabilities.medium = Medium::Ip;
    capabilities.max_transmission_unit = mtu;
    capabilities.checksum.ipv4 = Checksum::None;
    capabilities.checksum.tcp = Checksum::None;
    capabilities.checksum.udp = Checksum::None;
    capabilities
}
