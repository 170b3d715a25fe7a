// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Sleeping until frames come.

use crate::{PortError, PrivateData, RxQueue};
use core::time::Duration;
use dpdk_sys as sys;

impl<P: PrivateData> RxQueue<P> {
    /// Sleeps until the device tells that frames have come, at most for `timeout`, rounded up to milliseconds. The port needs
    /// [`PortConfig::rx_interrupts`](crate::PortConfig::rx_interrupts).
    ///
    /// Returns whether the device has told. A frame that came just before may go unnoticed until the next one, so let the time be
    /// short, and receive afterwards in any case. Where there is an error, go on polling:
    ///
    /// ```no_run
    /// # use dpdk_rs::{Burst, RxQueue};
    /// # fn serve(rx: &mut RxQueue) {
    /// let mut burst = Burst::<(), 32>::new();
    /// let mut sleeps = true;
    /// loop {
    ///     if rx.rx(&mut burst) == 0 && sleeps {
    ///         sleeps = rx.wait(std::time::Duration::from_millis(10)).is_ok();
    ///     }
    ///     burst.clear(); // or something more useful
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the port was configured without RX interrupts, [`PortError::Refused`] if the device has none.
    #[doc(alias = "rte_eth_dev_rx_intr_enable")]
    #[doc(alias = "rte_eth_dev_rx_intr_ctl_q")]
    #[doc(alias = "rte_epoll_wait")]
    pub fn wait(&mut self, timeout: Duration) -> Result<bool, PortError> {
        let (port, queue) = (self.port().get(), self.id());
        let device = self.device();
        if device.is_forked() {
            // The error of all that a child cannot do.
            drop(device.control()?);
        }
        if !device.has_rx_interrupts() {
            return Err(device.lacks("RX interrupts, as it was configured"));
        }
        // SAFETY: the port is started, since its queue is there, which is used on this thread alone.
        let watched = unsafe { sys::dpdk_sys_eth_rx_intr_watch(port, queue, 1) };
        device.check("rte_eth_dev_rx_intr_ctl_q", watched, format!("wait for RX queue {queue}"))?;
        // SAFETY: the port is started, since its queue is there, which is used on this thread alone.
        let enabled = unsafe { sys::rte_eth_dev_rx_intr_enable(port, queue) };
        // Those of some devices, such as `net_tap`, are always on.
        let enabled = if enabled == -sys::ENOTSUP.cast_signed() { 0 } else { enabled };
        let mut told = 0;
        if enabled >= 0 {
            let millis = i32::try_from(timeout.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX);
            // SAFETY: the call waits for what this thread has added: the interrupt of this queue.
            told = unsafe { sys::dpdk_sys_epoll_wait(millis) };
            // SAFETY: the port is started, since its queue is there, which is used on this thread alone.
            unsafe { sys::rte_eth_dev_rx_intr_disable(port, queue) };
        }
        // Another thread may have the queue when it next sleeps.
        // SAFETY: the port is started, since its queue is there, which is used on this thread alone.
        unsafe { sys::dpdk_sys_eth_rx_intr_watch(port, queue, 0) };
        device.check("rte_eth_dev_rx_intr_enable", enabled, format!("enable the interrupt of RX queue {queue}"))?;
        device.check("rte_epoll_wait", told, format!("wait for RX queue {queue}"))?;
        Ok(told > 0)
    }
}
