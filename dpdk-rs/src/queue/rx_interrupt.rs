// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Sleeping until frames arrive.

use super::epoll::{List, WATCHED};
use crate::{PortError, PrivateData, RxQueue};
use core::time::Duration;
use dpdk_sys as sys;
use std::sync::{Arc, PoisonError};

impl<P: PrivateData> RxQueue<P> {
    /// Makes the device report frames that arrive from now on, for [`Self::wait_any`]. The port needs
    /// [`PortConfig::rx_interrupts`](crate::PortConfig::rx_interrupts). Devices that always report frames, such as
    /// `net_tap`, ignore the call.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the port was configured without RX interrupts, or is one of `net_vhost`, which would switch
    /// them in memory that it may have just freed because its peer has gone; [`PortError::Refused`] if the device does not
    /// support them.
    #[doc(alias = "rte_eth_dev_rx_intr_enable")]
    pub fn enable_interrupt(&mut self) -> Result<(), PortError> {
        self.check_interrupts()?;
        let (port, queue) = (self.port().get(), self.id());
        // SAFETY: the port is started, since its queue is there, which is used on this thread alone.
        let result = unsafe { sys::rte_eth_dev_rx_intr_enable(port, queue) };
        self.check_switch("rte_eth_dev_rx_intr_enable", result, "enable")
    }

    /// Stops the reports, which saves the device work while the queue is polled.
    ///
    /// # Errors
    /// The errors of [`Self::enable_interrupt`].
    #[doc(alias = "rte_eth_dev_rx_intr_disable")]
    pub fn disable_interrupt(&mut self) -> Result<(), PortError> {
        self.check_interrupts()?;
        let (port, queue) = (self.port().get(), self.id());
        // SAFETY: the port is started, since its queue is there, which is used on this thread alone.
        let result = unsafe { sys::rte_eth_dev_rx_intr_disable(port, queue) };
        self.check_switch("rte_eth_dev_rx_intr_disable", result, "disable")
    }

    /// Sleeps until the device reports frames, at most for `timeout`, rounded up to milliseconds. The port needs
    /// [`PortConfig::rx_interrupts`](crate::PortConfig::rx_interrupts).
    ///
    /// Returns whether the device has reported frames. A frame that arrived just before the call may go unnoticed until
    /// the next one, so keep the timeout short, and receive afterwards in any case; or use [`Self::wait_any`]. After an
    /// error, continue by polling:
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
    ///     burst.clear(); // process the packets
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the port was configured without RX interrupts, [`PortError::Refused`] if the device has none.
    pub fn wait(&mut self, timeout: Duration) -> Result<bool, PortError> {
        self.enable_interrupt()?;
        let woken = Self::wait_any([&mut *self], timeout);
        self.disable_interrupt()?;
        woken
    }

    /// Sleeps until one of several queues has frames, at most for `timeout`, rounded up to milliseconds.
    ///
    /// Returns whether one of them, or another queue that this thread has waited for before, has reported since the last
    /// call. A queue whose interrupt was not enabled reports nothing. No frame goes unnoticed if the program receives from
    /// the queues once more between enabling and sleeping: this finds earlier frames, and the device reports later ones.
    ///
    /// ```no_run
    /// # use dpdk_rs::{Burst, PortError, RxQueue};
    /// # fn serve(queues: &mut [RxQueue]) -> Result<(), PortError> {
    /// let mut burst = Burst::<(), 32>::new();
    /// let mut receive = |queues: &mut [RxQueue]| queues.iter_mut().map(|rx| rx.rx(&mut burst)).sum::<usize>();
    /// if receive(queues) == 0 {
    ///     queues.iter_mut().try_for_each(RxQueue::enable_interrupt)?;
    ///     while receive(queues) == 0 {
    ///         RxQueue::wait_any(queues.iter_mut(), std::time::Duration::from_millis(10))?;
    ///     }
    ///     queues.iter_mut().try_for_each(RxQueue::disable_interrupt)?;
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`PortError::Lacks`] if a port was configured without RX interrupts, [`PortError::Refused`] if a device has none. The
    /// call then returns without sleeping.
    #[doc(alias = "rte_eth_dev_rx_intr_ctl_q")]
    #[doc(alias = "rte_epoll_wait")]
    pub fn wait_any<'q>(queues: impl IntoIterator<Item = &'q mut Self>, timeout: Duration) -> Result<bool, PortError>
    where
        P: 'q,
    {
        let list = List::own();
        let mut first = None;
        for queue in queues {
            queue.watch(&list)?;
            first.get_or_insert(queue);
        }
        let reported = list.map_or(0, |list| list.wait(timeout));
        match first {
            Some(queue) => {
                queue.device().check("rte_epoll_wait", reported, format!("wait for RX queue {}", queue.id()))?;
                Ok(reported > 0)
            }
            None => Ok(false),
        }
    }

    /// Adds the queue's interrupt to this thread's list. It stays there: some drivers report an event only once, and
    /// would repeat old events after each addition (`net_virtio_user`).
    fn watch(&mut self, list: &Result<Arc<List>, i32>) -> Result<(), PortError> {
        self.check_interrupts()?;
        let action = format!("wait for RX queue {}", self.id());
        let list = match list {
            Ok(list) => list,
            Err(error) => return self.device().check("epoll_create1", *error, action),
        };
        if self.watcher.as_ref().is_some_and(|watcher| Arc::ptr_eq(watcher, list)) {
            return Ok(());
        }
        self.unwatch();
        // SAFETY: the port is started, since its queue is there, which is used on this thread alone.
        let result = unsafe { sys::dpdk_sys_eth_rx_intr_watch(self.port().get(), self.id(), list.file(), 1) };
        self.device().check("rte_eth_dev_rx_intr_ctl_q", result, action)?;
        self.watcher = Some(Arc::clone(list));
        Ok(())
    }

    /// Removes the interrupt from the list of the thread that has waited for it.
    fn unwatch(&mut self) {
        if let Some(list) = self.watcher.take() {
            let _watched = WATCHED.write().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: the port is started, since its queue is there, which is used on this thread alone. No thread is about
            // to read what the list has reported about this queue.
            unsafe { sys::dpdk_sys_eth_rx_intr_watch(self.port().get(), self.id(), list.file(), 0) };
        }
    }

    fn check_interrupts(&self) -> Result<(), PortError> {
        let device = self.device();
        if device.is_forked() {
            // The general error of a child process created by `fork`.
            drop(device.control()?);
        }
        if device.has_rx_interrupts() {
            Ok(())
        } else {
            Err(device.lacks("RX interrupts, as it was configured, or with its driver: poll the queue"))
        }
    }

    /// Checks the result of switching the interrupt. On a device without a switch, the interrupt is always enabled.
    fn check_switch(&self, call: &'static str, result: i32, verb: &str) -> Result<(), PortError> {
        let result = if result == -sys::ENOTSUP.cast_signed() { 0 } else { result };
        self.device().check(call, result, format!("{verb} the interrupt of RX queue {}", self.id()))
    }
}

impl<P: PrivateData> Drop for RxQueue<P> {
    fn drop(&mut self) {
        if !self.device().is_forked() {
            self.unwatch();
        }
    }
}
