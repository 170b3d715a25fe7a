// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Setting a link up and down.

use super::{Device, Port, PortError, Started};
use crate::PrivateData;
use dpdk_sys as sys;

impl<P: PrivateData> Port<Started<P>> {
    /// Sets the link up or down, as if its cable were plugged in or unplugged. The queues are unaffected. When a port
    /// starts, its link is up. Some devices take a while ([`Self::link`]). Some only change the link state that they
    /// report (`net_ring`).
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the device cannot switch its link, [`PortError::Refused`] if it refuses.
    #[doc(alias = "rte_eth_dev_set_link_up")]
    #[doc(alias = "rte_eth_dev_set_link_down")]
    pub fn set_link(&self, up: bool) -> Result<(), PortError> {
        self.device.set_link(up)
    }
}

impl Device {
    fn set_link(&self, up: bool) -> Result<(), PortError> {
        let lacking = ("switch for its link", "stop the port, or take the other end down");
        let port = self.id().get();
        let _control = self.control()?;
        if up {
            // SAFETY: the port exists until the drop of this `Device` closes it, is started, and the control plane is locked.
            let result = unsafe { sys::rte_eth_dev_set_link_up(port) };
            self.check_offered("rte_eth_dev_set_link_up", result, "take the link up", lacking)
        } else {
            // SAFETY: the port exists until the drop of this `Device` closes it, is started, and the control plane is locked.
            let result = unsafe { sys::rte_eth_dev_set_link_down(port) };
            self.check_offered("rte_eth_dev_set_link_down", result, "take the link down", lacking)
        }
    }
}
