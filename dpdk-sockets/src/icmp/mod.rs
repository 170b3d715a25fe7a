// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! ICMP messages about packets that nobody here serves (RFC 792).

use crate::link::{Hop, Link};
use crate::wire::Wire;
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{Icmpv4DstUnreachable, Icmpv4Message, Icmpv4Packet, IpProtocol, Ipv4Packet, Ipv4Repr};

/// The maximum length of such a message with its header of IPv4: every host takes it (RFC 1812, section 4.3.2.3).
const LONGEST: usize = 576;

/// The bytes before the packet that a message is about.
const HEADER_LEN: usize = 8;

/// Says that a received IPv4 packet is for a protocol or port that nobody serves. The message repeats the packet as it was
/// (RFC 1122, section 3.2.2).
pub(crate) fn refuse<W: Wire>(packet: &[u8], reason: Icmpv4DstUnreachable, link: &mut Link<W>, hop: Hop) {
    let received = Ipv4Packet::new_unchecked(packet);
    let mut header = Ipv4Repr {
        src_addr: received.dst_addr(),
        dst_addr: received.src_addr(),
        next_header: IpProtocol::Icmp,
        payload_len: 0,
        hop_limit: 64,
    };
    let repeated = &packet[..packet.len().min(LONGEST - header.buffer_len() - HEADER_LEN)];
    header.payload_len = HEADER_LEN + repeated.len();
    link.transmit(header.buffer_len() + header.payload_len, hop, |bytes| {
        let mut ip = Ipv4Packet::new_unchecked(bytes);
        header.emit(&mut ip, &ChecksumCapabilities::ignored());
        let message = ip.payload_mut();
        message[..HEADER_LEN].fill(0);
        message[HEADER_LEN..].copy_from_slice(repeated);
        let mut message = Icmpv4Packet::new_unchecked(message);
        message.set_msg_type(Icmpv4Message::DstUnreachable);
        message.set_msg_code(reason.into());
        message.fill_checksum();
    });
}
