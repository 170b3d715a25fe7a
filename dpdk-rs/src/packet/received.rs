// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the device has found out about a frame.

use super::Packet;
use crate::{PrivateData, dynamic::RxTimestamp};
use dpdk_sys as sys;

/// The device's verdict on a checksum.
#[doc(alias = "RTE_MBUF_F_RX_IP_CKSUM_MASK")]
#[doc(alias = "RTE_MBUF_F_RX_L4_CKSUM_MASK")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Checksum {
    /// The device did not check it.
    Unknown,
    /// The checksum is correct.
    Good,
    /// The checksum is wrong.
    Bad,
    /// The checksum is missing or wrong in the frame, but the data is correct: for instance, the sender is another
    /// virtual machine on the same host, or sent a UDP datagram without a checksum.
    Absent,
}

/// The packet type of a frame, without tunnels.
#[doc(alias = "RTE_PTYPE_L2_ETHER")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PacketType(u32);

/// The kind of Ethernet frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum L2 {
    /// Ethernet without a tag.
    Ethernet,
    /// One VLAN tag.
    Vlan,
    /// Two VLAN tags.
    QinQ,
    /// ARP.
    Arp,
}

/// The protocol after the Ethernet header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum L3 {
    /// IPv4, with or without options.
    Ipv4,
    /// IPv6, with or without extension headers.
    Ipv6,
}

/// The protocol that the IP packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum L4 {
    /// A TCP segment.
    Tcp,
    /// A UDP datagram.
    Udp,
    /// SCTP.
    Sctp,
    /// ICMP or ICMPv6.
    Icmp,
    /// A fragment of an IP packet.
    Fragment,
}

impl PacketType {
    pub(crate) const fn new(bits: u32) -> Self {
        Self(bits)
    }

    /// DPDK's number, from the `RTE_PTYPE_*` bits; 0 if nothing is known.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The kind of Ethernet frame, if known.
    #[must_use]
    pub const fn l2(self) -> Option<L2> {
        match self.0 & sys::DPDK_SYS_PTYPE_L2_MASK {
            sys::DPDK_SYS_PTYPE_L2_ETHER => Some(L2::Ethernet),
            sys::DPDK_SYS_PTYPE_L2_ETHER_VLAN => Some(L2::Vlan),
            sys::DPDK_SYS_PTYPE_L2_ETHER_QINQ => Some(L2::QinQ),
            sys::DPDK_SYS_PTYPE_L2_ETHER_ARP => Some(L2::Arp),
            _ => None,
        }
    }

    /// The protocol after the Ethernet header, if known.
    #[must_use]
    pub const fn l3(self) -> Option<L3> {
        match self.0 & sys::DPDK_SYS_PTYPE_L3_MASK {
            sys::DPDK_SYS_PTYPE_L3_IPV4 | sys::DPDK_SYS_PTYPE_L3_IPV4_EXT | sys::DPDK_SYS_PTYPE_L3_IPV4_EXT_UNKNOWN => {
                Some(L3::Ipv4)
            }
            sys::DPDK_SYS_PTYPE_L3_IPV6 | sys::DPDK_SYS_PTYPE_L3_IPV6_EXT | sys::DPDK_SYS_PTYPE_L3_IPV6_EXT_UNKNOWN => {
                Some(L3::Ipv6)
            }
            _ => None,
        }
    }

    /// The protocol that the IP packet carries, if known.
    #[must_use]
    pub const fn l4(self) -> Option<L4> {
        match self.0 & sys::DPDK_SYS_PTYPE_L4_MASK {
            sys::DPDK_SYS_PTYPE_L4_TCP => Some(L4::Tcp),
            sys::DPDK_SYS_PTYPE_L4_UDP => Some(L4::Udp),
            sys::DPDK_SYS_PTYPE_L4_SCTP => Some(L4::Sctp),
            sys::DPDK_SYS_PTYPE_L4_ICMP => Some(L4::Icmp),
            sys::DPDK_SYS_PTYPE_L4_FRAG => Some(L4::Fragment),
            _ => None,
        }
    }
}

/// The type of a frame and the lengths of its headers in bytes; from [`Packet::headers`].
#[doc(alias = "rte_net_hdr_lens")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Headers {
    /// The types of the headers.
    pub packet_type: PacketType,
    /// The length of the Ethernet header, including VLAN tags.
    pub l2_len: u8,
    /// The length of the IP header, including options or extension headers; 0 if there is none.
    pub l3_len: u16,
    /// The length of the TCP, UDP or SCTP header; 0 if there is none.
    pub l4_len: u8,
}

impl<P: PrivateData> Packet<P> {
    /// The packet type that the device has found. [`Self::headers`] finds it in software.
    #[inline]
    #[must_use]
    pub fn packet_type(&self) -> PacketType {
        PacketType(self.head().packet_type())
    }

    /// Parses the headers without trusting their contents: a header that would extend past the end of the frame counts
    /// as absent. Headers inside a tunnel are not parsed.
    #[doc(alias = "rte_net_get_ptype")]
    #[must_use]
    pub fn headers(&self) -> Headers {
        let mut lens = sys::rte_net_hdr_lens::default();
        let layers = sys::DPDK_SYS_PTYPE_L2_MASK | sys::DPDK_SYS_PTYPE_L3_MASK | sys::DPDK_SYS_PTYPE_L4_MASK;
        // SAFETY: the packet's chain is live and nobody writes to it. The call checks the frame's length before it
        // reads, and fills a struct of ours.
        let found = unsafe { sys::rte_net_get_ptype(self.mbuf(), &raw mut lens, layers) };
        Headers { packet_type: PacketType(found), l2_len: lens.l2_len, l3_len: lens.l3_len, l4_len: lens.l4_len }
    }

    /// The RSS hash by which the device chose the queue, if the device provides it
    /// ([`RxOffloads::RSS_HASH`](crate::port::RxOffloads)).
    #[doc(alias = "RTE_MBUF_F_RX_RSS_HASH")]
    #[inline]
    #[must_use]
    pub fn rss_hash(&self) -> Option<u32> {
        let head = self.head();
        (head.ol_flags() & sys::DPDK_SYS_MBUF_F_RX_RSS_HASH != 0).then(|| head.hash_rss())
    }

    /// The VLAN tag that the device has removed from the frame
    /// ([`PortConfig::vlan_strip`](crate::PortConfig::vlan_strip)): the TCI with priority, drop eligibility and VLAN
    /// number. `None` for a frame without a tag, or whose tag is still in place.
    #[doc(alias = "RTE_MBUF_F_RX_VLAN_STRIPPED")]
    #[inline]
    #[must_use]
    pub fn stripped_vlan(&self) -> Option<u16> {
        const BOTH: u64 = sys::DPDK_SYS_MBUF_F_RX_VLAN | sys::DPDK_SYS_MBUF_F_RX_VLAN_STRIPPED;
        let head = self.head();
        (head.ol_flags() & BOTH == BOTH).then(|| head.vlan_tci())
    }

    /// The device's verdict on the checksum of the IPv4 header
    /// ([`RxOffloads::IPV4_CHECKSUM`](crate::port::RxOffloads::IPV4_CHECKSUM)).
    #[inline]
    #[must_use]
    pub fn ip_checksum(&self) -> Checksum {
        match self.head().ol_flags() & sys::DPDK_SYS_MBUF_F_RX_IP_CKSUM_MASK {
            sys::DPDK_SYS_MBUF_F_RX_IP_CKSUM_BAD => Checksum::Bad,
            sys::DPDK_SYS_MBUF_F_RX_IP_CKSUM_GOOD => Checksum::Good,
            sys::DPDK_SYS_MBUF_F_RX_IP_CKSUM_NONE => Checksum::Absent,
            _ => Checksum::Unknown,
        }
    }

    /// The device's verdict on the checksum of the UDP datagram or TCP segment
    /// ([`RxOffloads::UDP_CHECKSUM`](crate::port::RxOffloads::UDP_CHECKSUM)).
    #[inline]
    #[must_use]
    pub fn l4_checksum(&self) -> Checksum {
        match self.head().ol_flags() & sys::DPDK_SYS_MBUF_F_RX_L4_CKSUM_MASK {
            sys::DPDK_SYS_MBUF_F_RX_L4_CKSUM_BAD => Checksum::Bad,
            sys::DPDK_SYS_MBUF_F_RX_L4_CKSUM_GOOD => Checksum::Good,
            sys::DPDK_SYS_MBUF_F_RX_L4_CKSUM_NONE => Checksum::Absent,
            _ => Checksum::Unknown,
        }
    }

    /// The payload length, in bytes, of the TCP segments that the device has merged into this frame
    /// ([`RxOffloads::TCP_LRO`](crate::port::RxOffloads::TCP_LRO)); 0 if the device does not report it, `None` if the
    /// frame is not merged. Before the packet is sent, it must be cut again, for example with
    /// [`TxRequest::tcp_segments`](crate::TxRequest::tcp_segments).
    #[doc(alias = "RTE_MBUF_F_RX_LRO")]
    #[inline]
    #[must_use]
    pub fn lro_segment_len(&self) -> Option<u16> {
        let head = self.head();
        // SAFETY: the packet owns the live mbuf, and the call reads one of its fields.
        (head.ol_flags() & sys::DPDK_SYS_MBUF_F_RX_LRO != 0)
            .then(|| unsafe { sys::dpdk_sys_mbuf_tso_segsz(self.mbuf()) })
    }

    /// The four bytes after the data. In an unchanged received frame whose port keeps the frame check sequence (FCS)
    /// there ([`RxOffloads::KEEP_CRC`](crate::port::RxOffloads::KEEP_CRC)), they are the FCS in the order of
    /// transmission. In any other packet they are arbitrary.
    ///
    /// `None` if fewer than four bytes follow the data, and for a frame in several segments, since drivers cut off an
    /// FCS that is in an mbuf of its own. If only one segment is left, as for a frame slightly longer than an mbuf's
    /// room, the result is arbitrary.
    #[doc(alias = "RTE_ETH_RX_OFFLOAD_KEEP_CRC")]
    #[must_use]
    pub fn kept_crc(&self) -> Option<[u8; 4]> {
        if self.is_contiguous() { self.head().behind_data() } else { None }
    }

    /// The reception time by the device's clock, if the device provides it. The unit depends on the driver: nanoseconds
    /// for most NICs, microseconds for `net_pcap`.
    #[doc(alias = "rte_mbuf_dyn_rx_timestamp_register")]
    #[inline]
    #[must_use]
    pub fn rx_timestamp(&self, timestamp: &RxTimestamp) -> Option<u64> {
        (self.head().ol_flags() & timestamp.flag() != 0).then(|| self.field(timestamp.field()))
    }
}

#[cfg(test)]
mod tests {
    use super::{L2, L3, L4, PacketType};

    #[test]
    fn types_are_dpdks() {
        // RTE_PTYPE_L2_ETHER_VLAN, RTE_PTYPE_L3_IPV6_EXT, RTE_PTYPE_L4_FRAG.
        let found = PacketType(0x6 | 0xc0 | 0x300);
        assert_eq!((found.l2(), found.l3(), found.l4()), (Some(L2::Vlan), Some(L3::Ipv6), Some(L4::Fragment)));
        let found = PacketType(0x1 | 0x10 | 0x200);
        assert_eq!((found.l2(), found.l3(), found.l4()), (Some(L2::Ethernet), Some(L3::Ipv4), Some(L4::Udp)));
        assert_eq!((PacketType(0).l2(), PacketType(0).l3(), PacketType(0).l4()), (None, None, None));
    }
}
