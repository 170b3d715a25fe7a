// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The counters of a port, and the state of its link.

use core::fmt;
use dpdk_sys as sys;

/// The basic counters of a port. A device that does not count something reports 0.
#[doc(alias = "rte_eth_stats")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct PortStats {
    /// Frames received.
    pub ipackets: u64,
    /// Frames sent.
    pub opackets: u64,
    /// Bytes received.
    pub ibytes: u64,
    /// Bytes sent.
    pub obytes: u64,
    /// Frames dropped by the device because no descriptor was free.
    pub imissed: u64,
    /// Frames received with errors.
    pub ierrors: u64,
    /// Frames that could not be sent.
    pub oerrors: u64,
    /// How often no mbuf was available for a frame.
    pub rx_nombuf: u64,
}

impl From<sys::rte_eth_stats> for PortStats {
    fn from(stats: sys::rte_eth_stats) -> Self {
        Self {
            ipackets: stats.ipackets,
            opackets: stats.opackets,
            ibytes: stats.ibytes,
            obytes: stats.obytes,
            imissed: stats.imissed,
            ierrors: stats.ierrors,
            oerrors: stats.oerrors,
            rx_nombuf: stats.rx_nombuf,
        }
    }
}

/// The state of a link.
#[doc(alias = "rte_eth_link")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Link {
    /// Whether it is up.
    pub up: bool,
    /// Its speed in Mbit/s; `None` if the device does not know.
    pub speed_mbps: Option<u32>,
    /// Whether it is full duplex.
    pub full_duplex: bool,
    /// Whether the speed was negotiated.
    pub autonegotiated: bool,
}

impl From<sys::dpdk_sys_link> for Link {
    fn from(link: sys::dpdk_sys_link) -> Self {
        // 0 is RTE_ETH_SPEED_NUM_NONE, the largest number RTE_ETH_SPEED_NUM_UNKNOWN.
        let speed_mbps = Some(link.speed_mbps).filter(|speed| ![0, u32::MAX].contains(speed));
        Self { up: link.up != 0, speed_mbps, full_duplex: link.full_duplex != 0, autonegotiated: link.autoneg != 0 }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.up {
            return f.write_str("down");
        }
        let duplex = if self.full_duplex { "full" } else { "half" };
        match self.speed_mbps {
            Some(speed) => write!(f, "up, {speed} Mbit/s, {duplex} duplex"),
            None => write!(f, "up, {duplex} duplex"),
        }
    }
}
