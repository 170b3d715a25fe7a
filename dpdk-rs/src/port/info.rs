// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a device can do.

use core::fmt;
use dpdk_sys as sys;

/// What a device can do.
#[doc(alias = "rte_eth_dev_info")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PortInfo {
    /// The driver, such as `net_null`.
    pub driver: String,
    /// The most RX queues.
    pub max_rx_queues: u16,
    /// The most TX queues.
    pub max_tx_queues: u16,
    /// How many descriptors an RX queue may have.
    pub rx_descriptors: DescriptorLimits,
    /// How many descriptors a TX queue may have.
    pub tx_descriptors: DescriptorLimits,
    /// The smallest data room of an mbuf that it can receive into, in bytes, headroom included.
    pub min_data_room: u32,
    /// The smallest MTU, in bytes.
    pub min_mtu: u16,
    /// The largest MTU, in bytes.
    pub max_mtu: u16,
}

/// How many descriptors a queue may have.
#[doc(alias = "rte_eth_desc_lim")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptorLimits {
    /// The fewest.
    pub min: u16,
    /// The most.
    pub max: u16,
    /// The number must be a multiple of this.
    pub align: u16,
}

impl DescriptorLimits {
    /// Whether a queue may have `descriptors`.
    #[must_use]
    pub const fn allows(self, descriptors: u16) -> bool {
        self.min <= descriptors
            && descriptors <= self.max
            && (self.align == 0 || descriptors.is_multiple_of(self.align))
    }
}

impl From<sys::rte_eth_desc_lim> for DescriptorLimits {
    fn from(limits: sys::rte_eth_desc_lim) -> Self {
        Self { min: limits.nb_min, max: limits.nb_max, align: limits.nb_align.max(1) }
    }
}

impl fmt::Display for DescriptorLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {} in steps of {}", self.min, self.max, self.align)
    }
}

#[cfg(test)]
mod tests {
    use super::DescriptorLimits;

    #[test]
    fn ends_and_steps_count() {
        let limits = DescriptorLimits { min: 64, max: 4096, align: 32 };
        for good in [64, 96, 4096] {
            assert!(limits.allows(good), "{good}");
        }
        for bad in [0, 32, 65, 4097, u16::MAX] {
            assert!(!limits.allows(bad), "{bad}");
        }
        assert_eq!(limits.to_string(), "64 to 4096 in steps of 32");
    }
}
