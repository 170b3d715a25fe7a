// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The capabilities of a device.

use super::{LinkSpeeds, RssFields, RxOffloads, TxOffloads};
use core::{
    ffi::{CStr, c_char},
    fmt,
};
use dpdk_sys as sys;

/// The capabilities of a device.
#[doc(alias = "rte_eth_dev_info")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PortInfo {
    /// The driver, such as `net_null`.
    pub driver: String,
    /// The maximum number of RX queues.
    pub max_rx_queues: u16,
    /// The maximum number of TX queues.
    pub max_tx_queues: u16,
    /// The allowed numbers of descriptors of an RX queue.
    pub rx_descriptors: DescriptorLimits,
    /// The allowed numbers of descriptors of a TX queue.
    pub tx_descriptors: DescriptorLimits,
    /// The minimum data room of an mbuf to receive into, in bytes, including the headroom.
    pub min_data_room: u32,
    /// The minimum MTU in bytes.
    pub min_mtu: u16,
    /// The maximum MTU in bytes.
    pub max_mtu: u16,
    /// The maximum number of MAC addresses, including the port's own.
    pub max_mac_addrs: u32,
    /// The fields that the RSS hash can cover.
    pub rss_fields: RssFields,
    /// The length of the RSS key in bytes.
    pub rss_key_len: u8,
    /// The number of entries in the RSS redirection table; 0 if there is none.
    pub rss_table_len: u16,
    /// Whether the device can filter frames by VLAN.
    pub vlan_filter: bool,
    /// Whether the device can remove VLAN tags from received frames.
    pub vlan_strip: bool,
    /// Whether the device can report link changes.
    pub link_interrupts: bool,
    /// The supported link speeds; empty if the driver does not report them.
    pub speeds: LinkSpeeds,
    /// The maximum length in bytes of a packet that the device merges from several received ones
    /// ([`RxOffloads::TCP_LRO`]), if it can be configured
    /// ([`PortConfig::max_lro_len`](crate::PortConfig::max_lro_len)).
    pub max_lro_len: Option<u32>,
    /// Whether a stopped port can be started again. All devices except those of `net_af_packet` can.
    pub restarts: bool,
    /// The supported offloads for received frames.
    pub offers_rx: RxOffloads,
    /// The supported offloads for sent frames.
    pub offers_tx: TxOffloads,
    /// All of the device's receive offloads, by DPDK's names, such as `RSS_HASH`.
    pub rx_offloads: Vec<String>,
    /// All of the device's transmit offloads, by DPDK's names, such as `MULTI_SEGS`.
    pub tx_offloads: Vec<String>,
}

/// The names of a set of offloads.
///
/// # Safety
/// `name` takes any number, and returns a static string.
pub(super) unsafe fn offload_names(offloads: u64, name: unsafe extern "C" fn(u64) -> *const c_char) -> Vec<String> {
    let bits = (0..u64::BITS).map(|bit| 1 << bit).filter(|bit| offloads & bit != 0);
    let names = bits.map(|bit| {
        // SAFETY: the caller promises a function that takes any number.
        let text = unsafe { name(bit) };
        // SAFETY: the caller promises a function that returns a static string.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    });
    names.collect()
}

/// The allowed numbers of descriptors of a queue.
#[doc(alias = "rte_eth_desc_lim")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptorLimits {
    /// The minimum.
    pub min: u16,
    /// The maximum.
    pub max: u16,
    /// The number must be a multiple of this.
    pub align: u16,
}

impl DescriptorLimits {
    /// Whether a queue may have this number of descriptors.
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
