// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The fields that an RSS hash covers.

use core::{fmt, ops::BitOr};
use dpdk_sys as sys;

/// The fields that an RSS hash covers: a set, combined by `|`.
#[doc(alias = "RTE_ETH_RSS_IP")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RssFields(u64);

impl RssFields {
    /// The empty set: all frames go to one queue.
    pub const NONE: Self = Self(0);
    /// The IP addresses of any IPv4 or IPv6 packet.
    pub const IP: Self = Self(sys::DPDK_SYS_RSS_IP);
    /// The IP addresses and ports of TCP.
    pub const TCP: Self = Self(sys::DPDK_SYS_RSS_TCP);
    /// The IP addresses and ports of UDP.
    pub const UDP: Self = Self(sys::DPDK_SYS_RSS_UDP);
    /// The IP addresses and ports of SCTP.
    pub const SCTP: Self = Self(sys::DPDK_SYS_RSS_SCTP);

    const NAMES: [(&'static str, Self); 4] =
        [("IP", Self::IP), ("TCP", Self::TCP), ("UDP", Self::UDP), ("SCTP", Self::SCTP)];

    /// The fields of DPDK's bits, `RTE_ETH_RSS_*`.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// DPDK's bits, `RTE_ETH_RSS_*`.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether this set contains all of `other`.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The fields in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for RssFields {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for RssFields {
    /// The names of the fields, and hexadecimal digits for bits without a name here.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = *self;
        let mut words = Vec::new();
        for (name, fields) in Self::NAMES {
            if self.contains(fields) {
                words.push(name.to_owned());
                rest = rest.without(fields);
            }
        }
        if rest != Self::NONE || words.is_empty() {
            words.push(format!("{:#x}", rest.0));
        }
        f.write_str(&words.join(" | "))
    }
}

impl fmt::Debug for RssFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RssFields({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::RssFields;

    #[test]
    fn sets_are_printed_by_name() {
        assert_eq!((RssFields::IP | RssFields::UDP).to_string(), "IP | UDP");
        assert_eq!(RssFields::NONE.to_string(), "0x0");
        assert_eq!((RssFields::TCP | RssFields(1 << 63)).to_string(), "TCP | 0x8000000000000000");
    }
}
