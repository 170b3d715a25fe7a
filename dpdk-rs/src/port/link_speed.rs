// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The possible speeds of a port's link.

use super::{Device, Link, PortError};
use core::{fmt, ops::BitOr};
use dpdk_sys as sys;

/// Declares the speeds: for each its name here, DPDK's name, Mbit/s, and whether it is full duplex.
macro_rules! speeds {
    ($($(#[$doc:meta])* $name:ident = $bit:ident, $mbps:literal, $full:literal;)+) => {
        /// The speed of a link; full duplex unless its name says otherwise.
        #[doc(alias = "RTE_ETH_LINK_SPEED_10G")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum LinkSpeed {
            $($(#[$doc])* $name,)+
        }

        impl LinkSpeed {
            const ALL: &[Self] = &[$(Self::$name),+];

            const fn bit(self) -> u32 {
                match self { $(Self::$name => sys::$bit,)+ }
            }

            /// The speed in Mbit/s.
            #[must_use]
            pub const fn mbps(self) -> u32 {
                match self { $(Self::$name => $mbps,)+ }
            }

            /// Whether the link is full duplex.
            #[must_use]
            pub const fn is_full_duplex(self) -> bool {
                match self { $(Self::$name => $full,)+ }
            }
        }
    };
}

speeds! {
    /// 10 Mbit/s, half duplex.
    M10Half = DPDK_SYS_LINK_SPEED_10M_HD, 10, false;
    /// 10 Mbit/s.
    M10 = DPDK_SYS_LINK_SPEED_10M, 10, true;
    /// 100 Mbit/s, half duplex.
    M100Half = DPDK_SYS_LINK_SPEED_100M_HD, 100, false;
    /// 100 Mbit/s.
    M100 = DPDK_SYS_LINK_SPEED_100M, 100, true;
    /// 1 Gbit/s.
    G1 = DPDK_SYS_LINK_SPEED_1G, 1_000, true;
    /// 2.5 Gbit/s.
    G2_5 = DPDK_SYS_LINK_SPEED_2_5G, 2_500, true;
    /// 5 Gbit/s.
    G5 = DPDK_SYS_LINK_SPEED_5G, 5_000, true;
    /// 10 Gbit/s.
    G10 = DPDK_SYS_LINK_SPEED_10G, 10_000, true;
    /// 20 Gbit/s.
    G20 = DPDK_SYS_LINK_SPEED_20G, 20_000, true;
    /// 25 Gbit/s.
    G25 = DPDK_SYS_LINK_SPEED_25G, 25_000, true;
    /// 40 Gbit/s.
    G40 = DPDK_SYS_LINK_SPEED_40G, 40_000, true;
    /// 50 Gbit/s.
    G50 = DPDK_SYS_LINK_SPEED_50G, 50_000, true;
    /// 56 Gbit/s.
    G56 = DPDK_SYS_LINK_SPEED_56G, 56_000, true;
    /// 100 Gbit/s.
    G100 = DPDK_SYS_LINK_SPEED_100G, 100_000, true;
    /// 200 Gbit/s.
    G200 = DPDK_SYS_LINK_SPEED_200G, 200_000, true;
    /// 400 Gbit/s. DPDK 22.11 does not know it: with that version no device has this speed.
    G400 = DPDK_SYS_LINK_SPEED_400G, 400_000, true;
    /// 800 Gbit/s. DPDK 22.11 and 24.11 do not know it.
    G800 = DPDK_SYS_LINK_SPEED_800G, 800_000, true;
}

impl LinkSpeed {
    /// The speed with this number of Mbit/s, if it exists.
    ///
    /// ```
    /// use dpdk_rs::port::LinkSpeed;
    ///
    /// assert_eq!(LinkSpeed::new(2_500, true), Some(LinkSpeed::G2_5));
    /// assert_eq!(LinkSpeed::new(1_000, false), None);
    /// ```
    #[doc(alias = "rte_eth_speed_bitflag")]
    #[must_use]
    pub fn new(mbps: u32, full_duplex: bool) -> Option<Self> {
        Self::ALL.iter().copied().find(|speed| speed.mbps() == mbps && speed.is_full_duplex() == full_duplex)
    }
}

impl fmt::Display for LinkSpeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Mbit/s{}", self.mbps(), if self.is_full_duplex() { "" } else { " half duplex" })
    }
}

impl Link {
    /// The speed of a link that is up, if it is one of the named ones.
    #[must_use]
    pub fn speed(&self) -> Option<LinkSpeed> {
        LinkSpeed::new(self.speed_mbps.filter(|_| self.up)?, self.full_duplex)
    }
}

/// A set of speeds, combined by `|`.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct LinkSpeeds(u32);

impl LinkSpeeds {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// The speeds in DPDK's bits that have a name here.
    pub(super) fn from_bits(bits: u32) -> Self {
        let known = LinkSpeed::ALL.iter().fold(0, |known, speed| known | speed.bit());
        Self(bits & known)
    }

    /// DPDK's bits, `RTE_ETH_LINK_SPEED_*`.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether the set contains this speed.
    #[must_use]
    pub const fn contains(self, speed: LinkSpeed) -> bool {
        self.0 & speed.bit() != 0
    }

    /// The speeds that are not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The speeds, slowest first.
    pub fn iter(self) -> impl Iterator<Item = LinkSpeed> {
        LinkSpeed::ALL.iter().copied().filter(move |speed| self.contains(*speed))
    }
}

impl From<LinkSpeed> for LinkSpeeds {
    fn from(speed: LinkSpeed) -> Self {
        Self(speed.bit())
    }
}

impl<T: Into<LinkSpeeds>> BitOr<T> for LinkSpeed {
    type Output = LinkSpeeds;

    fn bitor(self, other: T) -> LinkSpeeds {
        LinkSpeeds(self.bit() | other.into().0)
    }
}

impl<T: Into<Self>> BitOr<T> for LinkSpeeds {
    type Output = Self;

    fn bitor(self, other: T) -> Self {
        Self(self.0 | other.into().0)
    }
}

impl fmt::Display for LinkSpeeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.iter().map(|speed| speed.to_string()).collect();
        f.write_str(if words.is_empty() { "none" } else { "" })?;
        f.write_str(&words.join(", "))
    }
}

impl fmt::Debug for LinkSpeeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LinkSpeeds({self})")
    }
}

/// How both ends of a link agree on its speed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Negotiation {
    /// They negotiate the best common speed.
    #[default]
    Any,
    /// They negotiate the best common speed of this set.
    Of(LinkSpeeds),
    /// They do not negotiate.
    Fixed(LinkSpeed),
}

impl Negotiation {
    /// The value for `struct rte_eth_conf`.
    pub(super) const fn bits(self) -> u32 {
        match self {
            Self::Any => 0,
            Self::Of(speeds) => speeds.0,
            Self::Fixed(speed) => speed.bit() | sys::DPDK_SYS_LINK_SPEED_FIXED,
        }
    }

    /// Checks against the device's speeds.
    pub(super) fn check(self, device: &Device, has: LinkSpeeds) -> Result<(), PortError> {
        let asked = match self {
            Self::Any => return Ok(()),
            // DPDK would interpret this as any speed.
            Self::Of(LinkSpeeds::NONE) => {
                return Err(device.unsupported("link speeds to advertise", 0, "1 or more".to_owned()));
            }
            Self::Of(speeds) => speeds,
            Self::Fixed(speed) => speed.into(),
        };
        match asked.without(has) {
            LinkSpeeds::NONE => Ok(()),
            lacking if has == LinkSpeeds::NONE => {
                Err(device.lacks(format!("link speed {lacking}: its driver reports no speeds to choose from")))
            }
            lacking => Err(device.lacks(format!("link speed {lacking}: it has {has}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LinkSpeed, LinkSpeeds, Negotiation};
    use crate::{PortConfig, port::Link};

    #[test]
    fn speeds_have_dpdks_bits() {
        assert_eq!(LinkSpeed::ALL.len(), 17);
        for (place, speed) in LinkSpeed::ALL.iter().enumerate() {
            // Bit 0 disables negotiation.
            assert_eq!(speed.bit(), 2 << place, "{speed}");
            assert_eq!(LinkSpeed::new(speed.mbps(), speed.is_full_duplex()), Some(*speed));
        }
        let bits = |config: PortConfig| config.negotiation.bits();
        assert_eq!(bits(PortConfig::default()), 0);
        assert_eq!(bits(PortConfig::default().fixed_speed(LinkSpeed::M100)), 1 << 4 | 1);
        let several = LinkSpeed::M10Half | LinkSpeed::G1 | LinkSpeed::G25;
        assert_eq!(bits(PortConfig::default().advertised_speeds(several)), 1 << 1 | 1 << 5 | 1 << 10);
        assert_eq!(PortConfig::default().advertised_speeds(several).fixed_speed(LinkSpeed::G1).negotiation, {
            Negotiation::Fixed(LinkSpeed::G1)
        });
    }

    #[test]
    fn sets_are_printed_and_taken_apart() {
        let set = LinkSpeeds::from_bits(u32::MAX);
        assert_eq!((set.iter().count(), set.bits()), (17, 0x3_fffe));
        let set = LinkSpeed::G2_5 | (LinkSpeed::M100Half | LinkSpeed::M100);
        assert_eq!(set.to_string(), "100 Mbit/s half duplex, 100 Mbit/s, 2500 Mbit/s");
        assert_eq!(set.without(LinkSpeed::M100 | LinkSpeed::G2_5), LinkSpeed::M100Half.into());
        assert!(set.contains(LinkSpeed::M100) && !set.contains(LinkSpeed::M10));
        assert_eq!(format!("{:?}", LinkSpeeds::NONE), "LinkSpeeds(none)");
    }

    #[test]
    fn a_link_has_a_speed_while_it_is_up() {
        let mut link = Link { up: true, speed_mbps: Some(10), full_duplex: false, autonegotiated: true };
        assert_eq!(link.speed(), Some(LinkSpeed::M10Half));
        link.up = false;
        assert_eq!(link.speed(), None);
        let odd = Link { up: true, speed_mbps: Some(12), ..link };
        assert_eq!(odd.speed(), None);
    }
}
