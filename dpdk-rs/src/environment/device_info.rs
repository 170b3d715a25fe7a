// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! DPDK's information about a device. It has pointers to what the device and its driver own.

use core::{marker::PhantomData, ops::Deref};
use dpdk_sys as sys;

/// What DPDK has said of a port's device, which is there as long as this lives. The default says nothing.
#[derive(Clone, Copy, Default)]
pub(crate) struct DeviceInfo<'d> {
    port: u16,
    raw: sys::rte_eth_dev_info,
    device: PhantomData<&'d ()>,
}

impl DeviceInfo<'_> {
    /// Asks DPDK.
    ///
    /// # Errors
    /// DPDK's negative number, also if there is no such port.
    ///
    /// # Safety
    /// The EAL is initialised, and as long as the result lives nobody removes the device.
    pub(crate) unsafe fn of(port: u16) -> Result<Self, i32> {
        let mut raw = sys::rte_eth_dev_info::default();
        // SAFETY: the call checks the number, and fills a struct of ours.
        let result = unsafe { sys::rte_eth_dev_info_get(port, &raw mut raw) };
        if result < 0 { Err(result) } else { Ok(Self { port, raw, device: PhantomData }) }
    }

    /// The number of the port.
    pub(super) const fn port(&self) -> u16 {
        self.port
    }
}

impl Deref for DeviceInfo<'_> {
    type Target = sys::rte_eth_dev_info;

    fn deref(&self) -> &Self::Target {
        &self.raw
    }
}
