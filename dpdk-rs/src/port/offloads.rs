// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a device does in the program's place, with frames that it receives and with frames that it sends.

use core::{fmt, ops::BitOr};
use dpdk_sys as sys;

/// Declares a set of offloads: its members, each with the name that DPDK gives it.
macro_rules! set {
    ($(#[$doc:meta])* $set:ident { $($(#[$member_doc:meta])* $member:ident = $bits:ident, $name:literal;)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
        pub struct $set(u64);

        impl $set {
            /// Nothing.
            pub const NONE: Self = Self(0);
            $($(#[$member_doc])* pub const $member: Self = Self(sys::$bits);)+

            const MEMBERS: &[(&'static str, Self)] = &[$(($name, Self::$member)),+];

            /// What this crate has a name for, of DPDK's bits.
            pub(crate) fn from_bits(bits: u64) -> Self {
                let known = Self::MEMBERS.iter().fold(0, |known, (_, member)| known | member.0);
                Self(bits & known)
            }

            /// The bits of DPDK.
            #[must_use]
            pub const fn bits(self) -> u64 {
                self.0
            }

            /// Whether all of `other` is in this set.
            #[must_use]
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// What of this set is not in `other`.
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
            /// The names of what is in the set.
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
    /// What a device finds out about received frames, and does to them: a set, joined by `|`. What it found is then asked of
    /// each [`Packet`](crate::Packet).
    #[doc(alias = "RTE_ETH_RX_OFFLOAD_CHECKSUM")]
    RxOffloads {
        /// Whether the checksum of an IPv4 header is right: [`Packet::ip_checksum`](crate::Packet::ip_checksum).
        IPV4_CHECKSUM = DPDK_SYS_RX_OFFLOAD_IPV4_CKSUM, "IPV4_CKSUM";
        /// Whether the checksum of a UDP datagram is right: [`Packet::l4_checksum`](crate::Packet::l4_checksum).
        UDP_CHECKSUM = DPDK_SYS_RX_OFFLOAD_UDP_CKSUM, "UDP_CKSUM";
        /// Whether the checksum of a TCP segment is right: [`Packet::l4_checksum`](crate::Packet::l4_checksum).
        TCP_CHECKSUM = DPDK_SYS_RX_OFFLOAD_TCP_CKSUM, "TCP_CKSUM";
        /// The hash that chose the queue: [`Packet::rss_hash`](crate::Packet::rss_hash).
        RSS_HASH = DPDK_SYS_RX_OFFLOAD_RSS_HASH, "RSS_HASH";
        /// When the frame came: [`Packet::rx_timestamp`](crate::Packet::rx_timestamp).
        TIMESTAMP = DPDK_SYS_RX_OFFLOAD_TIMESTAMP, "TIMESTAMP";
        /// Merges segments of TCP that follow each other into a long one (LRO), of up to
        /// [`PortConfig::max_lro_len`](crate::PortConfig::max_lro_len) bytes: [`Packet::lro_segment_len`](crate::Packet::lro_segment_len).
        /// Such packets are longer than the MTU, and lie in several mbufs where the data room is short; many drivers want
        /// [`PortConfig::scatter`](crate::PortConfig::scatter) for that. They cannot be sent as they are.
        TCP_LRO = DPDK_SYS_RX_OFFLOAD_TCP_LRO, "TCP_LRO";
        /// Leaves the checksum of the frame (FCS, 4 bytes) where the device wrote it. Drivers of Intel's and Nvidia's NICs keep it
        /// behind the data: it is in no length, such as [`Packet::len`](crate::Packet::len), and read by
        /// [`Packet::kept_crc`](crate::Packet::kept_crc). A few others (`net_enetc`) count it as the last 4 bytes of the data.
        /// Whether a NIC counts FCSs in [`PortStats::ibytes`](crate::port::PortStats::ibytes) does not depend on it.
        KEEP_CRC = DPDK_SYS_RX_OFFLOAD_KEEP_CRC, "KEEP_CRC";
    }
}

set! {
    /// What a device does to frames before it sends them: a set, joined by `|`. It is asked for with each frame, by a
    /// [`TxRequest`](crate::TxRequest).
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
        /// Puts a VLAN tag in.
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
        // What has no name here is left out.
        assert_eq!(TxOffloads::from_bits(u64::MAX).bits(), 1 | 1 << 1 | 1 << 2 | 1 << 3 | 1 << 5);
    }
}
