// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Receive side scaling (RSS): distributing frames over the RX queues, by a hash of their headers and a table.

mod fields;
mod flow;

pub use fields::RssFields;
pub use flow::RssFlow;

use super::{Device, Port, PortError, Started};
use crate::PrivateData;
use dpdk_sys as sys;

/// The RSS hash of a port.
#[doc(alias = "rte_eth_rss_conf")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RssHash {
    /// The fields that it covers.
    pub fields: RssFields,
    /// Its key; empty if the device does not report the key's length.
    pub key: Vec<u8>,
}

impl<P: PrivateData> Port<Started<P>> {
    /// The RSS hash of the port.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not report it.
    #[doc(alias = "rte_eth_dev_rss_hash_conf_get")]
    pub fn rss_hash(&self) -> Result<RssHash, PortError> {
        self.device.rss_hash()
    }

    /// Sets the RSS hash: the fields that it covers, and its key. Without `key` the present key stays.
    ///
    /// # Errors
    /// [`PortError::Unsupported`] if the key's length is not the device's; [`PortError::Lacks`] if the device does not
    /// report that length, or cannot hash all of `fields`; [`PortError::Refused`] if it refuses.
    #[doc(alias = "rte_eth_dev_rss_hash_update")]
    pub fn set_rss_hash(&self, fields: RssFields, key: Option<&[u8]>) -> Result<(), PortError> {
        self.device.set_rss_hash(fields, key)
    }

    /// The redirection table: the RX queue for each remainder of the hash.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the device has none, [`PortError::Refused`] if it does not report it.
    #[doc(alias = "rte_eth_dev_rss_reta_query")]
    pub fn rss_table(&self) -> Result<Vec<u16>, PortError> {
        self.device.rss_table()
    }

    /// Sets the whole redirection table.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the device has none, [`PortError::Unsupported`] if the table's length is not the
    /// device's or a queue does not exist, [`PortError::Refused`] if the device refuses.
    #[doc(alias = "rte_eth_dev_rss_reta_update")]
    pub fn set_rss_table(&self, queues: &[u16]) -> Result<(), PortError> {
        self.device.set_rss_table(queues)
    }
}

/// The number of entries in one of DPDK's structs.
const GROUP: usize = sys::RTE_ETH_RETA_GROUP_SIZE as usize;

impl Device {
    /// Rejects a key of another length than the device's, which a driver would not notice, and unsupported fields.
    pub(crate) fn check_rss(&self, fields: RssFields, key: Option<&[u8]>) -> Result<(), PortError> {
        let info = self.info()?;
        let lacking = fields.without(info.rss_fields);
        if lacking != RssFields::NONE {
            return Err(self.lacks(format!("RSS over {lacking}")));
        }
        match key {
            // Drivers that do not report the length of the key read as many bytes as they like.
            Some(_) if info.rss_key_len == 0 => Err(self.lacks("RSS key of a known length")),
            Some(key) if key.len() != usize::from(info.rss_key_len) => {
                let len = u32::try_from(key.len()).unwrap_or(u32::MAX);
                Err(self.unsupported("length of the RSS key in bytes", len, format!("{}", info.rss_key_len)))
            }
            _ => Ok(()),
        }
    }

    fn rss_hash(&self) -> Result<RssHash, PortError> {
        let len = self.info()?.rss_key_len;
        // More than any length that a device can report.
        let mut key = vec![0; 256];
        let mut conf = sys::rte_eth_rss_conf { rss_key: key.as_mut_ptr(), rss_key_len: len, ..Default::default() };
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked. The key
        // has room for as many bytes as an 8-bit length can express.
        let result = unsafe { sys::rte_eth_dev_rss_hash_conf_get(self.id().get(), &raw mut conf) };
        self.check("rte_eth_dev_rss_hash_conf_get", result, "read the RSS hash")?;
        key.truncate(usize::from(len));
        Ok(RssHash { fields: RssFields::from_bits(conf.rss_hf), key })
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
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked. There are
        // as many groups as the table has, and the call is passed its length.
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
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked. There are
        // as many groups as the table has, and the call is passed its length.
        let result = unsafe { sys::rte_eth_dev_rss_reta_update(self.id().get(), groups.as_mut_ptr(), len) };
        self.check("rte_eth_dev_rss_reta_update", result, "set the RSS redirection table")
    }

    /// Rejects numbers of RX queues that the port does not have.
    pub(crate) fn check_queues(&self, queues: &[u16]) -> Result<(), PortError> {
        // Includes stopped queues that were given back.
        let (rx, _) = self.configured_queues();
        match queues.iter().find(|queue| **queue >= rx) {
            Some(queue) => Err(self.unsupported("RX queue number", u32::from(*queue), format!("below {rx}"))),
            None => Ok(()),
        }
    }
}
