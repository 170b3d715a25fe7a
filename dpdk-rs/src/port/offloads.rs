// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Work that a device does instead of the program, on received and on sent frames.

use core::{fmt, ops::BitOr};
use dpdk_sys as sys;

/// Declares a set of offloads: its members, each with DPDK's name.
macro_rules! set {
    ($(#[$doc:meta])* $set:ident { $($(#[$member_doc:meta])* $member:ident = $bits:ident, $name:literal;)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
        pub struct $set(u64);

        impl $set {
            /// The empty set.
            pub const NONE: Self = Self(0);
            $($(#[$member_doc])* pub const $member: Self = Self(sys::$bits);)+

            const MEMBERS: &[(&'static str, Self)] = &[$(($name, Self::$member)),+];

            /// The offloads in DPDK's bits that have a name here.
            pub(crate) fn from_bits(bits: u64) -> Self {
                let known = Self::MEMBERS.iter().fold(0, |known, (_, member)| known | member.0);
                Self(bits & known)
            }

            /// DPDK's bits.
            #[must_use]
            pub const fn bits(self) -> u64 {
                self.0
            }

            /// Whether this set contains all of `other`.
            #[must_use]
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// The offloads of this set that are not in `other`.
            #[must_use]
            pub const fn without(self, other: Self) -> Self {
                Self(self.0 & !other.0)
            }
        }

        impl BitOr for $set {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl fmt::Display for $set {
            /// The names of the offloads in the set.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let names = Self::MEMBERS.iter().filter(|(_, member)| self.contains(*member)).map(|(name, _)| *name);
                let names: Vec<_> = names.collect();
                f.write_str(if names.is_empty() { "nothing" } else { "" })?;
                f.write_str(&names.join(" | "))
            }
        }

        impl fmt::Debug for $set {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($set), "({})"), self)
            }
        }
    };
}

set! {
    /// Receive offloads: what a device finds out about received frames, and does to them. A set, combined by `|`. Each
    /// [`Packet`](crate::Packet) returns the findings.
    #[doc(alias = "RTE_ETH_RX_OFFLOAD_CHECKSUM")]
    RxOffloads {
        /// Checks the checksum of an IPv4 header: [`Packet::ip_checksum`](crate::Packet::ip_checksum).
        IPV4_CHECKSUM = DPDK_SYS_RX_OFFLOAD_IPV4_CKSUM, "IPV4_CKSUM";
        /// Checks the checksum of a UDP datagram: [`Packet::l4_checksum`](crate::Packet::l4_checksum).
        UDP_CHECKSUM = DPDK_SYS_RX_OFFLOAD_UDP_CKSUM, "UDP_CKSUM";
        /// Checks the checksum of a TCP segment: [`Packet::l4_checksum`](crate::Packet::l4_checksum).
        TCP_CHECKSUM = DPDK_SYS_RX_OFFLOAD_TCP_CKSUM, "TCP_CKSUM";
        /// Reports the hash that chose the queue: [`Packet::rss_hash`](crate::Packet::rss_hash).
        RSS_HASH = DPDK_SYS_RX_OFFLOAD_RSS_HASH, "RSS_HASH";
        /// Reports the reception time: [`Packet::rx_timestamp`](crate::Packet::rx_timestamp).
        TIMESTAMP = DPDK_SYS_RX_OFFLOAD_TIMESTAMP, "TIMESTAMP";
        /// Merges consecutive TCP segments into a long one (LRO) of up to
        /// [`PortConfig::max_lro_len`](crate::PortConfig::max_lro_len) bytes:
        /// [`Packet::lro_segment_len`](crate::Packet::lro_segment_len). Such packets are longer than the MTU, and take
        /// several mbufs if the data room is short. Many drivers then require
        /// [`PortConfig::scatter`](crate::PortConfig::scatter). The packets must be cut again before they are sent.
        TCP_LRO = DPDK_SYS_RX_OFFLOAD_TCP_LRO, "TCP_LRO";
        /// Keeps the frame check sequence (FCS, 4 bytes) of received frames. Drivers of Intel's and Nvidia's NICs leave
        /// it after the data: it is not included in any length, such as [`Packet::len`](crate::Packet::len), and
        /// [`Packet::kept_crc`](crate::Packet::kept_crc) reads it. A few others (`net_enetc`) count it as the last 4
        /// bytes of the data. This offload does not affect whether a NIC includes the FCS in
        /// [`PortStats::ibytes`](crate::port::PortStats::ibytes).
        KEEP_CRC = DPDK_SYS_RX_OFFLOAD_KEEP_CRC, "KEEP_CRC";
    }
}

set! {
    /// Transmit offloads: what a device does to frames before it sends them. A set, combined by `|`. A
    /// [`TxRequest`](crate::TxRequest) requests them for each frame.
    #[doc(alias = "RTE_ETH_TX_OFFLOAD_IPV4_CKSUM")]
    TxOffloads {
        /// Writes the checksum of an IPv4 header.
        IPV4_CHECKSUM = DPDK_SYS_TX_OFFLOAD_IPV4_CKSUM, "IPV4_CKSUM";
        /// Writes the checksum of a UDP datagram.
        UDP_CHECKSUM = DPDK_SYS_TX_OFFLOAD_UDP_CKSUM, "UDP_CKSUM";
        /// Writes the checksum of a TCP segment.
        TCP_CHECKSUM = DPDK_SYS_TX_OFFLOAD_TCP_CKSUM, "TCP_CKSUM";
        /// Cuts a long TCP segment into several (TSO).
        TCP_SEGMENTS = DPDK_SYS_TX_OFFLOAD_TCP_TSO, "TCP_TSO";
        /// Inserts a VLAN tag.
        VLAN_INSERT = DPDK_SYS_TX_OFFLOAD_VLAN_INSERT, "VLAN_INSERT";
    }
}

#[cfg(test)]
mod tests {
    use super::{RxOffloads, TxOffloads};

    #[test]
    fn sets_have_dpdks_bits_and_names() {
        let both = RxOffloads::IPV4_CHECKSUM | RxOffloads::RSS_HASH;
        assert_eq!(both.bits(), 1 << 1 | 1 << 19);
        assert_eq!(
            (both.to_string(), format!("{both:?}").as_str()),
            ("IPV4_CKSUM | RSS_HASH".into(), "RxOffloads(IPV4_CKSUM | RSS_HASH)")
        );
        assert!(both.contains(RxOffloads::RSS_HASH) && !RxOffloads::RSS_HASH.contains(both));
        assert_eq!(both.without(RxOffloads::RSS_HASH), RxOffloads::IPV4_CHECKSUM);
        assert_eq!(TxOffloads::NONE.to_string(), "nothing");
        // Offloads without a name here are left out.
        assert_eq!(TxOffloads::from_bits(u64::MAX).bits(), 1 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 5);
    }
}
