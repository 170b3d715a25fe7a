// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Which packets can be joined, and what they are before and behind it.

use super::tcp::Tcp;
use crate::{Checksum, Packet, PrivateData, packet::unshared};
use dpdk_sys as sys;

/// An Ethernet header without a tag, of which the type of IPv4 is the end. DPDK would join segments of different VLANs.
const ETHERNET: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];

/// An IPv4 header without options, which DPDK does not compare.
const IP_HEADER: usize = 20;

/// The flags of a segment in the middle of a stream: ACK alone. DPDK 22.11 joins no others; 24.11 does, and there were versions that
/// wrote their flags where the header was that they had just taken off, into the data. So it is the same with all of them.
const MIDDLE: u8 = 0x10;

/// Whether a packet is a segment that can be joined. Then its mbuf says so, and how long the headers are, and there are no bytes
/// behind the IPv4 packet.
pub(super) fn prepare<P: PrivateData>(packet: &mut Packet<P>) -> bool {
    let Some(tcp) = joinable(packet) else { return false };
    packet.keep_front(ETHERNET + tcp.packet_len);
    let head = packet.head();
    head.set_packet_type(sys::DPDK_SYS_PTYPE_L2_ETHER | sys::DPDK_SYS_PTYPE_L3_IPV4 | sys::DPDK_SYS_PTYPE_L4_TCP);
    head.set_tx_offload(lengths(tcp));
    true
}

/// The segment in a packet, if it is one that can be joined with others.
fn joinable<P: PrivateData>(packet: &Packet<P>) -> Option<Tcp> {
    let data = packet.data();
    let tcp = Tcp::new(data, packet.len(), ETHERNET).ok()?;
    let ip = data.get(ETHERNET..)?;
    let byte = |at: usize| ip.get(at).copied().unwrap_or_default();
    // Bits that DPDK does not compare: the reserved ones of both headers, and the mark of too many packets (RFC 3168).
    let plain = byte(6) & 0x80 == 0 && byte(IP_HEADER + 12) & 0x0f == 0 && byte(1) & 3 != 3;
    let middle = data.get(12..ETHERNET) == Some(&IPV4[..])
        && packet.stripped_vlan().is_none()
        && tcp.l3_len == IP_HEADER
        && tcp.flags == MIDDLE
        // 65,495 bytes of data are then in fewer mbufs than a chain can have: DPDK does not look.
        && tcp.payload() >= 2 * packet.segment_count();
    // DPDK writes to the headers of the first.
    let own = unshared(packet.head()).is_ok();
    (plain && middle && own && tcp.has_right_ip_checksum(packet) && has_right_data(tcp, packet)).then_some(tcp)
}

/// Whether nothing is wrong with the data, as the device or else the checksum says.
fn has_right_data<P: PrivateData>(tcp: Tcp, packet: &Packet<P>) -> bool {
    match packet.l4_checksum() {
        Checksum::Good | Checksum::Absent => true,
        Checksum::Bad => false,
        Checksum::Unknown => tcp.has_right_checksum(packet),
    }
}

/// What the mbuf of a segment says of its headers. In place of the data that a device is to put into each segment, of which it is
/// not asked, there is how long the IPv4 packet is: so it is known later whether others were joined to it.
fn lengths(tcp: Tcp) -> u64 {
    // `joinable` has compared all of them, and the headers have said them in as many bits.
    // SAFETY: the call packs numbers into one.
    unsafe { sys::dpdk_sys_mbuf_tx_offload(ETHERNET as u8, IP_HEADER as u16, tcp.l4_len as u8, tcp.packet_len as u16) }
}

/// Makes a packet that DPDK gives back one like any other. To one that was joined of several, DPDK has written the length.
pub(super) fn finish<P: PrivateData>(packet: &mut Packet<P>) {
    const CHECKS: u64 = sys::DPDK_SYS_MBUF_F_RX_IP_CKSUM_MASK | sys::DPDK_SYS_MBUF_F_RX_L4_CKSUM_MASK;
    let head = packet.head();
    let before = head.tx_offload();
    head.set_tx_offload(0);
    let Some(tcp) = Tcp::new(packet.data(), packet.len(), ETHERNET).ok().filter(|tcp| before != lengths(*tcp)) else {
        return;
    };
    head.set_ol_flags(head.ol_flags() & !CHECKS);
    for mbuf in head.chain().skip(1) {
        mbuf.forget_findings(head.port());
        mbuf.set_tx_offload(0);
        mbuf.set_segment_count(1);
        mbuf.set_pkt_len(u32::from(mbuf.data_len()));
    }
    tcp.write_checksums(packet);
}
