// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Extended statistics: the counters of a device beyond the basic ones, by name; or a selection that is read
//! repeatedly.

use super::{Device, Port, PortError, Started};
use crate::{PrivateData, environment::ControlGuard};
use core::{ffi::CStr, fmt};
use dpdk_sys as sys;
use std::sync::{Arc, Weak};

/// One extended counter.
#[doc(alias = "rte_eth_xstat")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Xstat {
    /// The device's name for it, such as `rx_q0_packets`.
    pub name: String,
    /// Its value.
    pub value: u64,
}

/// A selection of a port's extended counters; from [`Port::select_xstats`].
pub struct XstatSelection {
    /// Only keeps the address from being reused.
    device: Weak<Device>,
    /// The port's number of resets at the time of the selection: a reset changes the ids.
    resets: u32,
    names: Vec<String>,
    ids: Vec<u64>,
}

impl XstatSelection {
    /// The names of the counters, in the order in which they are read.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

impl fmt::Debug for XstatSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("XstatSelection").field(&self.names).finish()
    }
}

impl<P: PrivateData> Port<Started<P>> {
    /// Selects extended counters by name, for frequent reading with [`Self::read_xstats`].
    ///
    /// ```no_run
    /// # use dpdk_rs::{Port, PortError};
    /// # fn serve(port: &Port) -> Result<(), PortError> {
    /// let missed = port.select_xstats(["rx_missed_errors", "rx_q0_errors"])?;
    /// let mut counted = [0; 2];
    /// loop {
    ///     port.read_xstats(&missed, &mut counted)?;
    ///     println!("{:?}: {counted:?}", missed.names());
    ///     std::thread::sleep(std::time::Duration::from_secs(1));
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the device has no counter of a name, or is one of `net_vhost`; [`PortError::Refused`] if it does not report the
    /// names.
    #[doc(alias = "rte_eth_xstats_get_id_by_name")]
    #[doc(alias = "rte_eth_xstats_get_names_by_id")]
    pub fn select_xstats<N: Into<String>>(
        &self,
        names: impl IntoIterator<Item = N>,
    ) -> Result<XstatSelection, PortError> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let ids = self.device.xstat_ids(&names)?;
        Ok(XstatSelection { device: Arc::downgrade(&self.device), resets: self.device.resets(), names, ids })
    }

    /// Reads the selected counters into the front of `values`, in the order of [`XstatSelection::names`]. The call does
    /// not read names, nor other counters if the driver can avoid it.
    ///
    /// # Errors
    /// [`PortError::Unsupported`] if `values` is shorter than the selection, or if the selection is of another port or
    /// from before a reset of this port; [`PortError::Refused`] if the device does not report the counters.
    #[doc(alias = "rte_eth_xstats_get_by_id")]
    pub fn read_xstats(&self, selection: &XstatSelection, values: &mut [u64]) -> Result<(), PortError> {
        self.device.read_xstats(selection, values)
    }

    /// The device's extended counters. These include the basic ones of the port and of each queue.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not report them; [`PortError::Lacks`] for `net_vhost`, which would read
    /// memory that it may have just freed because its peer has gone.
    #[doc(alias = "rte_eth_xstats_get")]
    #[doc(alias = "rte_eth_xstats_get_names")]
    pub fn xstats(&self) -> Result<Vec<Xstat>, PortError> {
        self.device.xstats()
    }

    /// Sets the extended counters to zero, and the basic ones too.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device cannot; [`PortError::Lacks`] for `net_vhost`, as for [`Self::xstats`].
    #[doc(alias = "rte_eth_xstats_reset")]
    pub fn reset_xstats(&self) -> Result<(), PortError> {
        self.device.reset_xstats()
    }
}

/// DPDK allocates an array of this many counters on the stack.
const MOST_AT_ONCE: usize = 256;

impl Device {
    pub(super) fn xstats(&self) -> Result<Vec<Xstat>, PortError> {
        const VALUES: &str = "rte_eth_xstats_get";
        let port = self.id().get();
        let control = self.control()?;
        let names = self.xstat_names(&control)?;
        let count = u32::try_from(names.len()).unwrap_or(u32::MAX);
        let mut values = vec![sys::rte_eth_xstat::default(); count as usize];
        // SAFETY: the port exists as long as this `Device`, and the control plane is locked; the array has `count` entries.
        let valued = unsafe { sys::rte_eth_xstats_get(port, values.as_mut_ptr(), count) };
        values.truncate(self.count(VALUES, valued)? as usize);
        let xstat = |value: &sys::rte_eth_xstat| {
            let name = names.get(usize::try_from(value.id).ok()?)?;
            Some(Xstat { name: name.clone(), value: value.value })
        };
        Ok(values.iter().filter_map(xstat).collect())
    }

    /// Rejects a device whose driver would read or reset counters of a peer that it is about to free.
    fn check_xstats(&self) -> Result<(), PortError> {
        if self.quirks().loses_peers {
            return Err(self.lacks("extended counters in safe use: its driver keeps them where it frees them when its peer goes; see stats()"));
        }
        Ok(())
    }

    /// The names of all counters. A counter's id is its index in this list.
    fn xstat_names(&self, _control: &ControlGuard<'_>) -> Result<Vec<String>, PortError> {
        const NAMES: &str = "rte_eth_xstats_get_names";
        self.check_xstats()?;
        let port = self.id().get();
        // SAFETY: the port exists as long as this `Device`, and the control plane is locked; without an array the call counts.
        let count = unsafe { sys::rte_eth_xstats_get_names(port, core::ptr::null_mut(), 0) };
        let count = self.count(NAMES, count)?;
        let mut names = vec![sys::rte_eth_xstat_name::default(); count as usize];
        // SAFETY: the port exists as long as this `Device`, and the control plane is locked; the array has `count` entries.
        let named = unsafe { sys::rte_eth_xstats_get_names(port, names.as_mut_ptr(), count) };
        names.truncate(self.count(NAMES, named)? as usize);
        let text = |name: &sys::rte_eth_xstat_name| {
            // SAFETY: DPDK ends each name with a zero within its array.
            unsafe { CStr::from_ptr(name.name.as_ptr()) }.to_string_lossy().into_owned()
        };
        Ok(names.iter().map(text).collect())
    }

    fn xstat_ids(&self, wanted: &[String]) -> Result<Vec<u64>, PortError> {
        let names = self.xstat_names(&self.control()?)?;
        let id = |name: &String| match names.iter().position(|known| known == name) {
            Some(place) => Ok(place as u64),
            None => Err(self.lacks(format!("extended counter '{name}': choose one of the names from xstats()"))),
        };
        wanted.iter().map(id).collect()
    }

    fn read_xstats(&self, selection: &XstatSelection, values: &mut [u64]) -> Result<(), PortError> {
        const CALL: &str = "rte_eth_xstats_get_by_id";
        let count = selection.ids.len();
        let number = |len| u32::try_from(len).unwrap_or(u32::MAX);
        if !core::ptr::eq(selection.device.as_ptr(), self) {
            return Err(self.unsupported("counters of another port", number(count), "its own only".to_owned()));
        }
        if selection.resets != self.resets() {
            let limits = "those selected after its reset".to_owned();
            return Err(self.unsupported("counters from before its reset", number(count), limits));
        }
        let Some(values) = values.get_mut(..count) else {
            let limits = format!("at least {count}, one for each selected counter");
            return Err(self.unsupported("room for values", number(values.len()), limits));
        };
        let _control = self.control()?;
        for (ids, values) in selection.ids.chunks(MOST_AT_ONCE).zip(values.chunks_mut(MOST_AT_ONCE)) {
            let (ids, values, most) = (ids.as_ptr(), values.as_mut_ptr(), number(ids.len()));
            // SAFETY: the port exists as long as this `Device`, and the control plane is locked; both arrays have `most` entries.
            let result = unsafe { sys::rte_eth_xstats_get_by_id(self.id().get(), ids, values, most) };
            self.count(CALL, result)?;
        }
        Ok(())
    }

    /// Checks the number that a call returned.
    fn count(&self, call: &'static str, result: i32) -> Result<u32, PortError> {
        self.check(call, result, "read the extended statistics")?;
        Ok(result.unsigned_abs())
    }

    fn reset_xstats(&self) -> Result<(), PortError> {
        self.check_xstats()?;
        let _control = self.control()?;
        // SAFETY: the port exists as long as this `Device`, and the control plane is locked.
        let result = unsafe { sys::rte_eth_xstats_reset(self.id().get()) };
        self.check("rte_eth_xstats_reset", result, "reset the extended statistics")
    }
}
