// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Extended statistics: what a device counts beside the basic counters, by name.

use super::{Device, Port, PortError, Started};
use crate::PrivateData;
use core::ffi::CStr;
use dpdk_sys as sys;

/// One extended counter.
#[doc(alias = "rte_eth_xstat")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Xstat {
    /// Its name as the device has it, such as `rx_q0_packets`.
    pub name: String,
    /// What it has counted.
    pub value: u64,
}

impl<P: PrivateData> Port<Started<P>> {
    /// The device's extended counters, with the basic ones of the port and of each queue among them.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not say.
    #[doc(alias = "rte_eth_xstats_get")]
    #[doc(alias = "rte_eth_xstats_get_names")]
    pub fn xstats(&self) -> Result<Vec<Xstat>, PortError> {
        self.device.xstats()
    }

    /// Sets the extended counters to zero, and the basic ones with them.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device cannot.
    #[doc(alias = "rte_eth_xstats_reset")]
    pub fn reset_xstats(&self) -> Result<(), PortError> {
        self.device.reset_xstats()
    }
}

impl Device {
    pub(super) fn xstats(&self) -> Result<Vec<Xstat>, PortError> {
        const NAMES: &str = "rte_eth_xstats_get_names";
        const VALUES: &str = "rte_eth_xstats_get";
        let port = self.id().get();
        let _control = self.control()?;
        // SAFETY: the port exists as long as this `Device`, and the control plane is locked; without an array the call counts.
        let count = unsafe { sys::rte_eth_xstats_get_names(port, core::ptr::null_mut(), 0) };
        let count = self.count(NAMES, count)?;
        let mut names = vec![sys::rte_eth_xstat_name::default(); count as usize];
        // SAFETY: the port exists as long as this `Device`, and the control plane is locked; the array has `count` entries.
        let named = unsafe { sys::rte_eth_xstats_get_names(port, names.as_mut_ptr(), count) };
        names.truncate(self.count(NAMES, named)? as usize);
        let mut values = vec![sys::rte_eth_xstat::default(); count as usize];
        // SAFETY: the port exists as long as this `Device`, and the control plane is locked; the array has `count` entries.
        let valued = unsafe { sys::rte_eth_xstats_get(port, values.as_mut_ptr(), count) };
        values.truncate(self.count(VALUES, valued)? as usize);
        let xstat = |value: &sys::rte_eth_xstat| {
            let name = names.get(usize::try_from(value.id).ok()?)?;
            // SAFETY: DPDK ends each name with a zero within its array.
            let name = unsafe { CStr::from_ptr(name.name.as_ptr()) };
            Some(Xstat { name: name.to_string_lossy().into_owned(), value: value.value })
        };
        Ok(values.iter().filter_map(xstat).collect())
    }

    /// A number that a call returned.
    fn count(&self, call: &'static str, result: i32) -> Result<u32, PortError> {
        self.check(call, result, "read the extended statistics")?;
        Ok(result.unsigned_abs())
    }

    fn reset_xstats(&self) -> Result<(), PortError> {
        let _control = self.control()?;
        // SAFETY: the port exists as long as this `Device`, and the control plane is locked.
        let result = unsafe { sys::rte_eth_xstats_reset(self.id().get()) };
        self.check("rte_eth_xstats_reset", result, "reset the extended statistics")
    }
}
