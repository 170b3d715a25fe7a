// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Which packets can be joined, and their state before and after it.

use super::tcp::Tcp;
use crate::{Checksum, Packet, PrivateData, packet::unshared};
use dpdk_sys as sys;

/// The length of an Ethernet header without a VLAN tag, whose last field is the type of IPv4. DPDK would join segments
/// of different VLANs.
const ETHERNET: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];

/// The length of an IPv4 header without options: DPDK does not compare options.
const IP_HEADER: usize = 20;

/// The flags of a segment in the middle of a stream: only ACK. DPDK 22.11 joins no others. DPDK 24.11 does, and some
/// versions wrote the flags to the place of the header that they had just removed, into the data. So all versions join
/// only these.
const MIDDLE: u8 = 0x10;

/// Whether a packet is a segment that can be joined. If so, sets the lengths of the headers in its mbuf and removes the
/// bytes after the IPv4 packet.
pub(super) fn prepare<P: PrivateData>(packet: &mut Packet<P>) -> bool {
    let Some(tcp) = joinable(packet) else { return false };
    packet.keep_front(ETHERNET + tcp.packet_len);
    let head = packet.head_mut();
    head.set_packet_type(sys::DPDK_SYS_PTYPE_L2_ETHER | sys::DPDK_SYS_PTYPE_L3_IPV4 | sys::DPDK_SYS_PTYPE_L4_TCP);
    // SAFETY: `joinable` has compared the lengths of the headers with the frame.
    unsafe { head.set_tx_offload(lengths(tcp)) };
    true
}

/// The segment in a packet, if it can be joined with others.
fn joinable<P: PrivateData>(packet: &Packet<P>) -> Option<Tcp> {
    let data = packet.data();
    let tcp = Tcp::new(data, packet.len(), ETHERNET).ok()?;
    let ip = data.get(ETHERNET..)?;
    let byte = |at: usize| ip.get(at).copied().unwrap_or_default();
    // Bits that DPDK does not compare: the reserved bits of both headers, and the congestion mark CE (RFC 3168).
    let plain = byte(6) & 0x80 == 0 && byte(IP_HEADER + 12) & 0x0f == 0 && byte(1) & 3 != 3;
    let middle = data.get(12..ETHERNET) == Some(&IPV4[..])
        && packet.stripped_vlan().is_none()
        && tcp.l3_len == IP_HEADER
        && tcp.flags == MIDDLE
        // The joined data, at most 65,495 bytes, is then in fewer mbufs than the limit of a chain, which DPDK does not
        // check.
        && tcp.payload() >= 2 * packet.segment_count();
    // DPDK writes to the headers of the first segment.
    let own = unshared(packet.head()).is_ok();
    (plain && middle && own && tcp.has_right_ip_checksum(packet) && has_right_data(tcp, packet)).then_some(tcp)
}

/// Whether the data is correct, by the device's verdict or by its checksum.
fn has_right_data<P: PrivateData>(tcp: Tcp, packet: &Packet<P>) -> bool {
    match packet.l4_checksum() {
        Checksum::Good | Checksum::Absent => true,
        Checksum::Bad => false,
        Checksum::Unknown => tcp.has_right_checksum(packet),
    }
}

/// The lengths of a segment's headers in the form of an mbuf's `tx_offload`. The field for the payload length of device
/// segmentation, which is not used here, holds the length of the IPv4 packet: [`finish`] thus finds out whether others
/// were joined to it.
fn lengths(tcp: Tcp) -> u64 {
    // `joinable` has compared all of them, and the headers encode them in as few bits.
    // SAFETY: the call packs numbers into one.
    unsafe { sys::dpdk_sys_mbuf_tx_offload(ETHERNET as u8, IP_HEADER as u16, tcp.l4_len as u8, tcp.packet_len as u16) }
}

/// Restores the fields of a packet that DPDK returns. DPDK has written the length to a joined packet.
pub(super) fn finish<P: PrivateData>(packet: &mut Packet<P>) {
    let before = packet.head().tx_offload();
    // SAFETY: the flags of a packet outside a `PreparedBurst` ask nothing of a device.
    unsafe { packet.head_mut().set_tx_offload(0) };
    let Some(tcp) = Tcp::new(packet.data(), packet.len(), ETHERNET).ok().filter(|tcp| before != lengths(*tcp)) else {
        return;
    };
    let head = packet.head_mut();
    head.forget_checksums();
    for mbuf in head.chain_mut().skip(1) {
        mbuf.forget_findings(head.port());
        // SAFETY: the mbuf does not head a frame any more, so that it counts as one segment.
        unsafe { mbuf.set_segment_count(1) };
        // SAFETY: the mbuf does not head a frame any more, so only its own bytes count.
        unsafe { mbuf.set_pkt_len(u32::from(mbuf.data_len())) };
    }
    tcp.write_checksums(packet);
}
