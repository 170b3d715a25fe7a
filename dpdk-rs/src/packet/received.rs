// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the device has found out about a frame.

use super::Packet;
use crate::{PrivateData, dynamic::RxTimestamp};
use dpdk_sys as sys;

/// What a device says of a checksum.
#[doc(alias = "RTE_MBUF_F_RX_IP_CKSUM_MASK")]
#[doc(alias = "RTE_MBUF_F_RX_L4_CKSUM_MASK")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Checksum {
    /// Nothing: it has not looked.
    Unknown,
    /// It is right.
    Good,
    /// It is wrong.
    Bad,
    /// It is not there or not right in the frame, yet nothing is wrong with the data: the sender is another virtual machine on
    /// the same host, for instance, or has sent a UDP datagram without one.
    Absent,
}

/// The type of a frame, without tunnels.
#[doc(alias = "RTE_PTYPE_L2_ETHER")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PacketType(u32);

/// What the Ethernet header is.
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

/// What follows the Ethernet header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum L3 {
    /// IPv4, with or without options.
    Ipv4,
    /// IPv6, with or without extension headers.
    Ipv6,
}

/// What the IP packet carries.
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
    /// A fragment of a packet.
    Fragment,
}

impl PacketType {
    pub(crate) const fn new(bits: u32) -> Self {
        Self(bits)
    }

    /// DPDK's number, of `RTE_PTYPE_*`; 0 if nothing is known.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// What the Ethernet header is, as far as it is known.
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

    /// What follows it, as far as it is known.
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

    /// What the IP packet carries, as far as it is known.
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

/// The type of a frame and the lengths of its headers, in bytes; made by [`Packet::headers`].
#[doc(alias = "rte_net_hdr_lens")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Headers {
    /// What they are.
    pub packet_type: PacketType,
    /// The Ethernet header, VLAN tags included.
    pub l2_len: u8,
    /// The IP header, options or extension headers included; 0 if there is none.
    pub l3_len: u16,
    /// The header of TCP, UDP or SCTP; 0 if there is none.
    pub l4_len: u8,
}

impl<P: PrivateData> Packet<P> {
    /// The type of the frame, as its device has found it; with [`Self::headers`] the processor finds it.
    #[inline]
    #[must_use]
    pub fn packet_type(&self) -> PacketType {
        PacketType(self.head().packet_type())
    }

    /// Looks at the headers, without trust in their contents: what is behind the end of the frame is not there. Tunnels are
    /// not entered.
    #[doc(alias = "rte_net_get_ptype")]
    #[must_use]
    pub fn headers(&self) -> Headers {
        let mut lens = sys::rte_net_hdr_lens::default();
        let layers = sys::DPDK_SYS_PTYPE_L2_MASK | sys::DPDK_SYS_PTYPE_L3_MASK | sys::DPDK_SYS_PTYPE_L4_MASK;
        // SAFETY: the packet's chain is live, nobody writes to it, and the call compares with its length before it reads; it
        // fills a struct of ours.
        let found = unsafe { sys::rte_net_get_ptype(self.mbuf(), &raw mut lens, layers) };
        Headers { packet_type: PacketType(found), l2_len: lens.l2_len, l3_len: lens.l3_len, l4_len: lens.l4_len }
    }

    /// The hash by which the device chose the queue, if it says so ([`RxOffloads::RSS_HASH`](crate::port::RxOffloads)).
    #[doc(alias = "RTE_MBUF_F_RX_RSS_HASH")]
    #[inline]
    #[must_use]
    pub fn rss_hash(&self) -> Option<u32> {
        let head = self.head();
        (head.ol_flags() & sys::DPDK_SYS_MBUF_F_RX_RSS_HASH != 0).then(|| head.hash_rss())
    }

    /// The tag that the device has taken off the frame ([`PortConfig::vlan_strip`](crate::PortConfig::vlan_strip)): priority,
    /// drop eligibility and number of the VLAN (TCI). `None` for a frame without, or of which the tag is where it was.
    #[doc(alias = "RTE_MBUF_F_RX_VLAN_STRIPPED")]
    #[inline]
    #[must_use]
    pub fn stripped_vlan(&self) -> Option<u16> {
        const BOTH: u64 = sys::DPDK_SYS_MBUF_F_RX_VLAN | sys::DPDK_SYS_MBUF_F_RX_VLAN_STRIPPED;
        let head = self.head();
        (head.ol_flags() & BOTH == BOTH).then(|| head.vlan_tci())
    }

    /// What the device says of the checksum of the IPv4 header
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

    /// What the device says of the checksum of a UDP datagram or TCP segment
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

    /// How many bytes each TCP segment carried of which the device has made this one, if it has
    /// ([`RxOffloads::TCP_LRO`](crate::port::RxOffloads::TCP_LRO)); 0 if it does not say. To be sent the packet must be cut again, as
    /// by [`TxRequest::tcp_segments`](crate::TxRequest::tcp_segments).
    #[doc(alias = "RTE_MBUF_F_RX_LRO")]
    #[inline]
    #[must_use]
    pub fn lro_segment_len(&self) -> Option<u16> {
        let head = self.head();
        // SAFETY: the packet owns the mbuf, which is live; the call reads a field of it.
        (head.ol_flags() & sys::DPDK_SYS_MBUF_F_RX_LRO != 0)
            .then(|| unsafe { sys::dpdk_sys_mbuf_tso_segsz(self.mbuf()) })
    }

    /// The four bytes behind the data: of a received frame that nobody has changed its checksum (FCS), in the order of
    /// transmission, if its port keeps it there ([`RxOffloads::KEEP_CRC`](crate::port::RxOffloads::KEEP_CRC)), and any bytes of
    /// any other packet. `None` if there are not so many, and for a frame in several segments, of which drivers cut off what lies
    /// in an mbuf of its own. If that leaves one segment, for frames a little longer than an mbuf has room, these are old bytes.
    #[doc(alias = "RTE_ETH_RX_OFFLOAD_KEEP_CRC")]
    #[must_use]
    pub fn kept_crc(&self) -> Option<[u8; 4]> {
        if self.is_contiguous() { self.head().behind_data() } else { None }
    }

    /// When the frame came, by the device's clock, if it says so. The unit is the driver's: nanoseconds of most NICs, and
    /// microseconds of `net_pcap`.
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
