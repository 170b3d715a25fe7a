// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Selecting the frames that a started port receives: by address and by VLAN.

use super::{Device, Port, PortError, Started};
use crate::{MacAddr, PrivateData};
use dpdk_sys as sys;

impl<P: PrivateData> Port<Started<P>> {
    /// Sets whether the port receives frames for any address.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device cannot (`ENOTSUP`).
    #[doc(alias = "rte_eth_promiscuous_enable")]
    #[doc(alias = "rte_eth_promiscuous_disable")]
    pub fn set_promiscuous(&self, on: bool) -> Result<(), PortError> {
        self.device.set_promiscuous(on)
    }

    /// Whether the port receives frames for any address; `false` in a child process created by `fork`, since the port
    /// belongs to its parent.
    #[doc(alias = "rte_eth_promiscuous_get")]
    #[must_use]
    pub fn is_promiscuous(&self) -> bool {
        let Ok(_control) = self.device.control() else { return false };
        // SAFETY: the port exists as long as its `Device`, which `self` holds. The call reads a bit next to others, and
        // all of them change only while the control plane is locked, as it is here.
        unsafe { sys::rte_eth_promiscuous_get(self.id().get()) == 1 }
    }

    /// Sets whether the port receives frames for any multicast address.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device cannot (`ENOTSUP`).
    #[doc(alias = "rte_eth_allmulticast_enable")]
    #[doc(alias = "rte_eth_allmulticast_disable")]
    pub fn set_allmulticast(&self, on: bool) -> Result<(), PortError> {
        self.device.set_allmulticast(on)
    }

    /// Whether the port receives frames for any multicast address; `false` in a child process created by `fork`, since
    /// the port belongs to its parent.
    #[doc(alias = "rte_eth_allmulticast_get")]
    #[must_use]
    pub fn is_allmulticast(&self) -> bool {
        let Ok(_control) = self.device.control() else { return false };
        // SAFETY: the port exists as long as its `Device`, which `self` holds. The call reads a bit next to others, and
        // all of them change only while the control plane is locked, as it is here.
        unsafe { sys::rte_eth_allmulticast_get(self.id().get()) == 1 }
    }

    /// Makes `addr` the port's own address.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not support it (`ENOTSUP`), or for an address that is not a unicast
    /// address (`EINVAL`).
    #[doc(alias = "rte_eth_dev_default_mac_addr_set")]
    pub fn set_mac_addr(&self, addr: MacAddr) -> Result<(), PortError> {
        let call = "rte_eth_dev_default_mac_addr_set";
        self.device.with_addr(call, addr, "make the port's own", |port, addr| {
            // SAFETY: the port exists as long as its `Device`, which has locked the control plane; the call copies the
            // address.
            unsafe { sys::rte_eth_dev_default_mac_addr_set(port, addr) }
        })
    }

    /// Also receives frames for `addr`.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not support it (`ENOTSUP`), or has no room for another address
    /// (`ENOSPC`); see [`PortInfo::max_mac_addrs`](super::PortInfo::max_mac_addrs).
    #[doc(alias = "rte_eth_dev_mac_addr_add")]
    pub fn add_mac_addr(&self, addr: MacAddr) -> Result<(), PortError> {
        self.device.with_addr("rte_eth_dev_mac_addr_add", addr, "add", |port, addr| {
            // SAFETY: the port exists as long as its `Device`, which has locked the control plane; the call copies the
            // address.
            unsafe { sys::rte_eth_dev_mac_addr_add(port, addr, 0) }
        })
    }

    /// Stops receiving frames for `addr`. Does nothing if the address was not added.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not support it (`ENOTSUP`), or for the port's own address
    /// (`EADDRINUSE`).
    #[doc(alias = "rte_eth_dev_mac_addr_remove")]
    pub fn remove_mac_addr(&self, addr: MacAddr) -> Result<(), PortError> {
        self.device.with_addr("rte_eth_dev_mac_addr_remove", addr, "remove", |port, addr| {
            // SAFETY: the port exists as long as its `Device`, which has locked the control plane; the call reads the
            // address.
            unsafe { sys::rte_eth_dev_mac_addr_remove(port, addr) }
        })
    }

    /// Also receives frames for these multicast addresses, which replace those of the last call; an empty list clears them.
    /// Not every device filters exactly: some receive other addresses with the same hash, or all of them.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the device has no list, [`PortError::Refused`] if the list is too long for it, or contains
    /// an address that is not a group address (`EINVAL`).
    #[doc(alias = "rte_eth_dev_set_mc_addr_list")]
    pub fn set_multicast_addrs(&self, addrs: &[MacAddr]) -> Result<(), PortError> {
        self.device.set_multicast_addrs(addrs)
    }

    /// Sets whether the port receives frames of VLAN `id`. The port must have been configured with
    /// [`PortConfig::vlan_filter`](super::PortConfig::vlan_filter).
    ///
    /// # Errors
    /// [`PortError::Refused`] if it was not (`ENOSYS`), for a number above 4,095 (`EINVAL`), or if the device refuses.
    #[doc(alias = "rte_eth_dev_vlan_filter")]
    pub fn set_vlan(&self, id: u16, on: bool) -> Result<(), PortError> {
        self.device.set_vlan(id, on)
    }

    /// Sets whether the device removes the VLAN tag from received frames.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the device does not support it; [`PortError::Refused`] if it refuses.
    #[doc(alias = "rte_eth_dev_set_vlan_offload")]
    pub fn set_vlan_strip(&self, on: bool) -> Result<(), PortError> {
        self.device.set_vlan_strip(on)
    }

    /// Whether the device removes the VLAN tag from received frames; `false` in a child process created by `fork`,
    /// since the port belongs to its parent.
    #[doc(alias = "rte_eth_dev_get_vlan_offload")]
    #[must_use]
    pub fn strips_vlan(&self) -> bool {
        let Ok(_control) = self.device.control() else { return false };
        // SAFETY: the port exists as long as its `Device`, which `self` holds; the call reads flags that change only while the
        // control plane is locked, as it is here.
        let offloads = unsafe { sys::rte_eth_dev_get_vlan_offload(self.id().get()) };
        offloads > 0 && offloads.unsigned_abs() & sys::RTE_ETH_VLAN_STRIP_OFFLOAD != 0
    }
}

impl Device {
    fn set_promiscuous(&self, on: bool) -> Result<(), PortError> {
        let _control = self.control()?;
        if on {
            // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked.
            let result = unsafe { sys::rte_eth_promiscuous_enable(self.id().get()) };
            self.check("rte_eth_promiscuous_enable", result, "enable promiscuous mode")
        } else {
            // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked.
            let result = unsafe { sys::rte_eth_promiscuous_disable(self.id().get()) };
            self.check("rte_eth_promiscuous_disable", result, "disable promiscuous mode")
        }
    }

    fn set_allmulticast(&self, on: bool) -> Result<(), PortError> {
        let _control = self.control()?;
        if on {
            // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked.
            let result = unsafe { sys::rte_eth_allmulticast_enable(self.id().get()) };
            self.check("rte_eth_allmulticast_enable", result, "enable all-multicast mode")
        } else {
            // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked.
            let result = unsafe { sys::rte_eth_allmulticast_disable(self.id().get()) };
            self.check("rte_eth_allmulticast_disable", result, "disable all-multicast mode")
        }
    }

    /// Calls DPDK with an address, with the control plane locked.
    fn with_addr(
        &self,
        call: &'static str,
        addr: MacAddr,
        action: &str,
        run: impl FnOnce(u16, *mut sys::rte_ether_addr) -> i32,
    ) -> Result<(), PortError> {
        let mut raw = sys::rte_ether_addr { addr_bytes: addr.octets() };
        let _control = self.control()?;
        let result = run(self.id().get(), &raw mut raw);
        self.check(call, result, format!("{action} MAC address {addr}"))
    }

    fn set_multicast_addrs(&self, addrs: &[MacAddr]) -> Result<(), PortError> {
        const CALL: &str = "rte_eth_dev_set_mc_addr_list";
        if let Some(addr) = addrs.iter().find(|addr| addr.octets()[0] & 1 == 0) {
            // Most drivers do not check this.
            let action = format!("receive multicast frames for {addr}, which is the address of one host");
            return self.check(CALL, -sys::EINVAL.cast_signed(), action);
        }
        let mut raw: Vec<_> = addrs.iter().map(|addr| sys::rte_ether_addr { addr_bytes: addr.octets() }).collect();
        let count = u32::try_from(raw.len()).unwrap_or(u32::MAX);
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked; the call reads
        // `count` addresses, which the vector has, and copies what it keeps.
        let result = unsafe { sys::rte_eth_dev_set_mc_addr_list(self.id().get(), raw.as_mut_ptr(), count) };
        let lacking = ("list of multicast addresses", "receive all of them, by set_allmulticast");
        self.check_offered(CALL, result, format!("receive frames for {count} multicast addresses"), lacking)
    }

    fn set_vlan(&self, id: u16, on: bool) -> Result<(), PortError> {
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked.
        let result = unsafe { sys::rte_eth_dev_vlan_filter(self.id().get(), id, i32::from(on)) };
        let action = if on { format!("receive VLAN {id}") } else { format!("stop receiving VLAN {id}") };
        self.check("rte_eth_dev_vlan_filter", result, action)
    }

    fn set_vlan_strip(&self, on: bool) -> Result<(), PortError> {
        if on && !self.info()?.vlan_strip {
            return Err(self.lacks("VLAN strip"));
        }
        let port = self.id().get();
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked.
        let now = unsafe { sys::rte_eth_dev_get_vlan_offload(port) };
        self.check("rte_eth_dev_get_vlan_offload", now, "read the VLAN offloads")?;
        let strip = sys::RTE_ETH_VLAN_STRIP_OFFLOAD.cast_signed();
        let wanted = if on { now | strip } else { now & !strip };
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked.
        let result = unsafe { sys::rte_eth_dev_set_vlan_offload(port, wanted) };
        let action = if on { "strip VLAN tags" } else { "leave VLAN tags" };
        self.check("rte_eth_dev_set_vlan_offload", result, action)
    }
}
