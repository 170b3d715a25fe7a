// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a device can do.

use super::{LinkSpeeds, RssFields, RxOffloads, TxOffloads};
use core::{
    ffi::{CStr, c_char},
    fmt,
};
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
    /// How many MAC addresses it can have, its own included.
    pub max_mac_addrs: u32,
    /// What it can hash to spread frames over its RX queues.
    pub rss_fields: RssFields,
    /// The length of that hash's key in bytes.
    pub rss_key_len: u8,
    /// How many entries its redirection table has; 0 if it has none.
    pub rss_table_len: u16,
    /// Whether it can be told which VLANs to receive.
    pub vlan_filter: bool,
    /// Whether it can take VLAN tags off.
    pub vlan_strip: bool,
    /// Whether it can tell when its link changes.
    pub link_interrupts: bool,
    /// The speeds that its link can have; none if its driver does not say.
    pub speeds: LinkSpeeds,
    /// The longest packet that it makes of several received ones ([`RxOffloads::TCP_LRO`]), in bytes, if that can be chosen
    /// ([`PortConfig::max_lro_len`](crate::PortConfig::max_lro_len)).
    pub max_lro_len: Option<u32>,
    /// Whether it can be started again once it was stopped: all devices but those of `net_af_packet`.
    pub restarts: bool,
    /// What it can find out about received frames.
    pub offers_rx: RxOffloads,
    /// What it can be asked to do with frames that it sends.
    pub offers_tx: TxOffloads,
    /// All that it can do with received frames, by DPDK's names, such as `RSS_HASH`.
    pub rx_offloads: Vec<String>,
    /// All that it can do with frames that it sends, such as `MULTI_SEGS`.
    pub tx_offloads: Vec<String>,
}

/// The names of a set of offloads.
pub(super) fn offload_names(offloads: u64, name: unsafe extern "C" fn(u64) -> *const c_char) -> Vec<String> {
    let bits = (0..u64::BITS).map(|bit| 1 << bit).filter(|bit| offloads & bit != 0);
    let names = bits.map(|bit| {
        // SAFETY: the callers give `rte_eth_dev_rx_offload_name` or its like for TX, which take any number.
        let text = unsafe { name(bit) };
        // SAFETY: those return a static string, for a number that they do not know too.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    });
    names.collect()
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
