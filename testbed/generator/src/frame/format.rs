// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The headers that all frames of a run have in common.

use super::checksum::{checksum, sum_of};
use dpdk_rs::MacAddr;

/// The shortest frame of Ethernet, IPv4 and UDP, without FCS: exactly the headers and the payload that identifies it.
pub(crate) const HEAD_LEN: usize = 60;
/// The shortest frame with all headers that a format can have.
pub(crate) const LEAST_LEN_MAX: usize = HEAD_LEN + 2 * TAG_LEN + VXLAN_MORE + IPV6_MORE;
pub(super) const UDP: u8 = 17;
/// Time to live of IPv4, hop limit of IPv6.
pub(super) const HOPS: u8 = 64;

/// Tag protocol identifiers: of a customer's tag, and of a service's tag before it (IEEE 802.1Q, table 9-1).
const CUSTOMER_TAG: u16 = 0x8100;
const SERVICE_TAG: u16 = 0x88a8;
const TAG_LEN: usize = 4;

const ETHERTYPE_IPV4: u16 = 0x0800;
const ETHERTYPE_IPV6: u16 = 0x86dd;
/// Version 6; traffic class and flow label 0.
const VERSION_6: [u8; 4] = [0x60, 0, 0, 0];
const IPV6_LEN: usize = 40;
const IPV4_LEN: usize = 20;
const IPV6_MORE: usize = IPV6_LEN - IPV4_LEN;
/// Of an IPv6 header, what comes before the head.
const SRC_BEFORE_WORDS: usize = 10;

/// Ethernet, IPv4, UDP and VXLAN around an Ethernet frame (RFC 7348, section 5).
const VXLAN_MORE: usize = 14 + IPV4_LEN + 8 + 8;
/// The source and the destination of the tunnel.
pub(crate) const TUNNEL_ENDS: [[u8; 4]; 2] = [[198, 18, 0, 0], [198, 19, 0, 0]];
/// Of the frame inside.
const INNER_MACS: [u8; 12] = [2, 0, 0, 0, 3, 0, 2, 0, 0, 0, 2, 0];
/// The first of the dynamic ports, which RFC 7348 recommends, and VXLAN's.
const VXLAN_SRC_UDP: u16 = 49_152;
const VXLAN_DST_UDP: u16 = 4789;

/// Addresses of the Ethernet header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Macs {
    pub(crate) dst: MacAddr,
    pub(crate) src: MacAddr,
}

/// What the frames have beside Ethernet, IPv4 and UDP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Format {
    /// VLAN identifiers; of two, that of the service tag first (QinQ). Priority and drop eligibility are 0.
    pub(crate) vlans: Vec<u16>,
    /// The VXLAN network identifier (24 bits) of a tunnel around each frame, whose tags are outside.
    pub(crate) vxlan: Option<u32>,
    /// IPv6 in place of IPv4.
    pub(crate) ipv6: Option<Ipv6>,
}

/// What the addresses of all IPv6 frames have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ipv6 {
    pub(crate) src: [u8; 16],
    /// The beginning of the destination. The rest of it is in the two addresses of [`Fields`](crate::addresses::Fields), whose
    /// places are the same as with IPv4, counted from the end of the frame.
    pub(crate) dst: [u8; 8],
}

impl Format {
    /// Bytes of the shortest frame, without FCS.
    pub(crate) const fn least_len(&self) -> usize {
        let vxlan = if self.vxlan.is_some() { VXLAN_MORE } else { 0 };
        let ipv6 = if self.ipv6.is_some() { IPV6_MORE } else { 0 };
        HEAD_LEN + TAG_LEN * self.vlans.len() + vxlan + ipv6
    }

    /// The bytes before the words of a frame of `len` bytes: all up to the Ethertype before IPv4, or into the source address of
    /// IPv6.
    pub(super) fn before_words(&self, macs: Macs, len: usize) -> Vec<u8> {
        let mut bytes = [macs.dst.octets(), macs.src.octets()].concat();
        let services = self.vlans.len().saturating_sub(1);
        for (number, vlan) in self.vlans.iter().enumerate() {
            let protocol = if number < services { SERVICE_TAG } else { CUSTOMER_TAG };
            bytes.extend([protocol, *vlan].map(u16::to_be_bytes).concat());
        }
        if let Some(vni) = self.vxlan {
            bytes.extend(tunnel(vni, len - bytes.len() - 2));
        }
        if let Some(Ipv6 { src, .. }) = self.ipv6 {
            let payload_len = (len - bytes.len() - 2 - IPV6_LEN) as u16;
            bytes.extend(ETHERTYPE_IPV6.to_be_bytes());
            bytes.extend(VERSION_6);
            bytes.extend(payload_len.to_be_bytes());
            bytes.extend([UDP, HOPS]);
            bytes.extend(src.into_iter().take(SRC_BEFORE_WORDS));
        }
        bytes
    }
}

impl Ipv6 {
    /// Of these addresses, and the 32 bits of the destination that stand for the source address in the fields.
    pub(crate) fn new(src: [u8; 16], dst: [u8; 16]) -> (Self, u32) {
        let number = u128::from_be_bytes(dst);
        (Self { src, dst: ((number >> 64) as u64).to_be_bytes() }, (number >> 32) as u32)
    }

    /// The two words after [`Format::before_words`], as numbers; the last two bytes are 0, for the fields.
    pub(super) fn words(&self) -> [u64; 2] {
        let src = u128::from_be_bytes(self.src) << (8 * SRC_BEFORE_WORDS);
        let words = src | u128::from(u64::from_be_bytes(self.dst)) << 16;
        [(words >> 64) as u64, words as u64]
    }
}

/// From the Ethertype of the tunnel's frame, whose IPv4 packet has `ip_len` bytes, to the addresses of the frame inside.
fn tunnel(vni: u32, ip_len: usize) -> Vec<u8> {
    let ip_len = (ip_len as u16).to_be_bytes();
    let udp_len = (u16::from_be_bytes(ip_len) - IPV4_LEN as u16).to_be_bytes();
    let ip = |checksum: [u8; 2]| {
        // Do not fragment; in the first byte the version and 5 words of header.
        [&[0x45, 0], &ip_len[..], &[0, 0, 0x40, 0, HOPS, UDP], &checksum, TUNNEL_ENDS.as_flattened()].concat()
    };
    let checksum = checksum(sum_of(&ip([0; 2]))) as u16;
    let ports = [VXLAN_SRC_UDP, VXLAN_DST_UDP].map(u16::to_be_bytes).concat();
    [
        &ETHERTYPE_IPV4.to_be_bytes()[..],
        &ip(checksum.to_be_bytes()),
        &ports,
        &udp_len,
        // No UDP checksum (RFC 7348, section 5); the flag says that the identifier is valid.
        &[0, 0, 8, 0, 0, 0],
        &(vni << 8).to_be_bytes(),
        &INNER_MACS,
    ]
    .concat()
}
