// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Receive side scaling: how frames are spread over the RX queues, by a hash of their headers and a table.

use super::{Device, Port, PortError, Started};
use crate::PrivateData;
use core::{fmt, ops::BitOr};
use dpdk_sys as sys;

/// What a frame's hash is made of: a set, joined by `|`.
#[doc(alias = "RTE_ETH_RSS_IP")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RssFields(u64);

impl RssFields {
    /// Nothing: all frames go to one queue.
    pub const NONE: Self = Self(0);
    /// The IP addresses of any packet of IPv4 or IPv6.
    pub const IP: Self = Self(sys::DPDK_SYS_RSS_IP);
    /// IP addresses and ports of TCP.
    pub const TCP: Self = Self(sys::DPDK_SYS_RSS_TCP);
    /// IP addresses and ports of UDP.
    pub const UDP: Self = Self(sys::DPDK_SYS_RSS_UDP);
    /// IP addresses and ports of SCTP.
    pub const SCTP: Self = Self(sys::DPDK_SYS_RSS_SCTP);

    const NAMES: [(&'static str, Self); 4] =
        [("IP", Self::IP), ("TCP", Self::TCP), ("UDP", Self::UDP), ("SCTP", Self::SCTP)];

    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// The bits of DPDK, `RTE_ETH_RSS_*`.
    #[must_use]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether all of `other` is in this set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// What is in both sets.
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
    /// The names of what is in the set, and in hexadecimal what has no name here.
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

/// The hash of a port.
#[doc(alias = "rte_eth_rss_conf")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RssHash {
    /// What it is made of.
    pub fields: RssFields,
    /// Its key; empty if the device does not say how long it is.
    pub key: Vec<u8>,
}

impl<P: PrivateData> Port<Started<P>> {
    /// The hash by which frames are spread.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not say.
    #[doc(alias = "rte_eth_dev_rss_hash_conf_get")]
    pub fn rss_hash(&self) -> Result<RssHash, PortError> {
        self.device.rss_hash()
    }

    /// Spreads frames by a hash of `fields`, with `key` or the key as it is.
    ///
    /// # Errors
    /// [`PortError::Unsupported`] if the key has another length than the device's, [`PortError::Lacks`] if that does not say how
    /// long it is, or cannot hash all of `fields`, [`PortError::Refused`] if it refuses.
    #[doc(alias = "rte_eth_dev_rss_hash_update")]
    pub fn set_rss_hash(&self, fields: RssFields, key: Option<&[u8]>) -> Result<(), PortError> {
        self.device.set_rss_hash(fields, key)
    }

    /// The redirection table: the queue for each remainder of the hash.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the device has none, [`PortError::Refused`] if it does not say.
    #[doc(alias = "rte_eth_dev_rss_reta_query")]
    pub fn rss_table(&self) -> Result<Vec<u16>, PortError> {
        self.device.rss_table()
    }

    /// Sets the redirection table, all of it.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the device has none, [`PortError::Unsupported`] for another length than the device's or a queue
    /// that the port does not have, [`PortError::Refused`] if it refuses.
    #[doc(alias = "rte_eth_dev_rss_reta_update")]
    pub fn set_rss_table(&self, queues: &[u16]) -> Result<(), PortError> {
        self.device.set_rss_table(queues)
    }
}

/// Entries of the table in one struct of DPDK.
const GROUP: usize = sys::RTE_ETH_RETA_GROUP_SIZE as usize;

impl Device {
    /// Refuses a key of another length than the device's, which a driver would not notice, and what cannot be hashed.
    pub(crate) fn check_rss(&self, fields: RssFields, key: Option<&[u8]>) -> Result<(), PortError> {
        let info = self.info()?;
        let lacking = fields.without(info.rss_fields);
        if lacking != RssFields::NONE {
            return Err(self.lacks(format!("RSS over {lacking}")));
        }
        match key {
            // Drivers that do not say how long it is read as much as they like.
            Some(_) if info.rss_key_len == 0 => Err(self.lacks("RSS key of a known length")),
            Some(key) if key.len() != usize::from(info.rss_key_len) => {
                let len = u32::try_from(key.len()).unwrap_or(u32::MAX);
                Err(self.unsupported("bytes of RSS key", len, format!("{}", info.rss_key_len)))
            }
            _ => Ok(()),
        }
    }

    fn rss_hash(&self) -> Result<RssHash, PortError> {
        let len = self.info()?.rss_key_len;
        // More than any length that a device can tell.
        let mut key = vec![0; 256];
        let mut conf = sys::rte_eth_rss_conf { rss_key: key.as_mut_ptr(), rss_key_len: len, ..Default::default() };
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked; the key has room
        // for as many bytes as the device says, and for whatever a length of 8 bits can say.
        let result = unsafe { sys::rte_eth_dev_rss_hash_conf_get(self.id().get(), &raw mut conf) };
        self.check("rte_eth_dev_rss_hash_conf_get", result, "read the RSS hash")?;
        key.truncate(usize::from(len));
        Ok(RssHash { fields: RssFields(conf.rss_hf), key })
    }

    fn set_rss_hash(&self, fields: RssFields, key: Option<&[u8]>) -> Result<(), PortError> {
        self.check_rss(fields, key)?;
        let mut key = key.map(<[u8]>::to_vec);
        let mut conf = sys::rte_eth_rss_conf { rss_hf: fields.bits(), ..Default::default() };
        if let Some(key) = &mut key {
            conf.rss_key = key.as_mut_ptr();
            conf.rss_key_len = u8::try_from(key.len()).unwrap_or(u8::MAX);
        }
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked; `check_rss` has
        // compared the key's length with the device's, and the driver copies the key.
        let result = unsafe { sys::rte_eth_dev_rss_hash_update(self.id().get(), &raw mut conf) };
        self.check("rte_eth_dev_rss_hash_update", result, format!("hash {fields}"))
    }

    /// The length of the redirection table.
    fn rss_table_len(&self) -> Result<u16, PortError> {
        match self.info()?.rss_table_len {
            0 => Err(self.lacks("RSS redirection table")),
            len => Ok(len),
        }
    }

    fn rss_table(&self) -> Result<Vec<u16>, PortError> {
        let len = self.rss_table_len()?;
        let group = sys::rte_eth_rss_reta_entry64 { mask: u64::MAX, ..Default::default() };
        let mut groups = vec![group; usize::from(len).div_ceil(GROUP)];
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked; there are as many
        // groups as the table has, of which DPDK is told the length.
        let result = unsafe { sys::rte_eth_dev_rss_reta_query(self.id().get(), groups.as_mut_ptr(), len) };
        self.check("rte_eth_dev_rss_reta_query", result, "read the RSS redirection table")?;
        Ok(groups.iter().flat_map(|group| group.reta).take(usize::from(len)).collect())
    }

    fn set_rss_table(&self, queues: &[u16]) -> Result<(), PortError> {
        let len = self.rss_table_len()?;
        if queues.len() != usize::from(len) {
            let asked = u32::try_from(queues.len()).unwrap_or(u32::MAX);
            return Err(self.unsupported("entries of an RSS redirection table", asked, len.to_string()));
        }
        self.check_queues(queues)?;
        let mut groups = Vec::new();
        for chunk in queues.chunks(GROUP) {
            let mut group = sys::rte_eth_rss_reta_entry64::default();
            for (place, (entry, queue)) in group.reta.iter_mut().zip(chunk).enumerate() {
                *entry = *queue;
                group.mask |= 1 << place;
            }
            groups.push(group);
        }
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked; there are as many
        // groups as the table has, of which DPDK is told the length.
        let result = unsafe { sys::rte_eth_dev_rss_reta_update(self.id().get(), groups.as_mut_ptr(), len) };
        self.check("rte_eth_dev_rss_reta_update", result, "set the RSS redirection table")
    }

    /// Refuses numbers of RX queues that the port does not have.
    pub(crate) fn check_queues(&self, queues: &[u16]) -> Result<(), PortError> {
        // Also of those that are stopped and were given back.
        let (rx, _) = self.configured_queues();
        match queues.iter().find(|queue| **queue >= rx) {
            Some(queue) => {
                Err(self.unsupported("as the number of an RX queue", u32::from(*queue), format!("below {rx}")))
            }
            None => Ok(()),
        }
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
