// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Sleeping until frames come.

use crate::{PortError, PrivateData, RxQueue};
use core::{cell::RefCell, time::Duration};
use dpdk_sys as sys;
use std::{
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    sync::{Arc, PoisonError, RwLock},
};

/// Which queues threads wait for. A thread that is told asks first which one that was and then follows a pointer to it: meanwhile
/// none is taken away, by whatever thread.
static WATCHED: RwLock<()> = RwLock::new(());

/// What a thread waits for: an epoll file, kept by the thread and by the queues that are in it.
pub(crate) struct List(OwnedFd);

thread_local! {
    /// The list of this thread, once it has waited.
    static LIST: RefCell<Option<Arc<List>>> = const { RefCell::new(None) };
}

impl List {
    /// The list of this thread, or the error number for which there is none.
    fn own() -> Result<Arc<Self>, i32> {
        let find = |place: &RefCell<Option<Arc<Self>>>| {
            let mut place = place.borrow_mut();
            if let Some(list) = &*place {
                return Ok(Arc::clone(list));
            }
            let list = Self::create()?;
            *place = Some(Arc::clone(&list));
            Ok(list)
        };
        // A thread whose own memory is going makes one for each time.
        LIST.try_with(find).unwrap_or_else(|_| Self::create())
    }

    fn create() -> Result<Arc<Self>, i32> {
        // SAFETY: the call makes a file.
        let file = unsafe { sys::dpdk_sys_epoll_create() };
        if file < 0 {
            return Err(file);
        }
        // SAFETY: the file is new, and nobody else has it.
        Ok(Arc::new(Self(unsafe { OwnedFd::from_raw_fd(file) })))
    }

    /// Waits until a queue has something to tell: 1, or 0 when the time is over, or an error number.
    fn wait(&self, timeout: Duration) -> i32 {
        let millis = i32::try_from(timeout.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX);
        // SAFETY: the call waits on a file of ours, and looks at nothing of a queue.
        let ready = unsafe { sys::dpdk_sys_epoll_ready(self.0.as_raw_fd(), millis) };
        if ready <= 0 {
            return ready;
        }
        let _watched = WATCHED.read().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the call looks at what was added to the list: interrupts of queues that live, since each is taken away when its
        // queue is dropped, and none is meanwhile.
        unsafe { sys::dpdk_sys_epoll_told(self.0.as_raw_fd()) }
    }
}

impl<P: PrivateData> RxQueue<P> {
    /// Has the device tell of frames that come from now on, for [`Self::wait_any`]. The port needs
    /// [`PortConfig::rx_interrupts`](crate::PortConfig::rx_interrupts). Devices that always tell, such as `net_tap`, ignore it.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the port was configured without RX interrupts, [`PortError::Refused`] if the device does not do it.
    #[doc(alias = "rte_eth_dev_rx_intr_enable")]
    pub fn enable_interrupt(&mut self) -> Result<(), PortError> {
        self.check_interrupts()?;
        let (port, queue) = (self.port().get(), self.id());
        // SAFETY: the port is started, since its queue is there, which is used on this thread alone.
        let result = unsafe { sys::rte_eth_dev_rx_intr_enable(port, queue) };
        self.check_switch("rte_eth_dev_rx_intr_enable", result, "enable")
    }

    /// Has the device tell nothing more, which spares it the work while the queue is polled.
    ///
    /// # Errors
    /// As [`Self::enable_interrupt`].
    #[doc(alias = "rte_eth_dev_rx_intr_disable")]
    pub fn disable_interrupt(&mut self) -> Result<(), PortError> {
        self.check_interrupts()?;
        let (port, queue) = (self.port().get(), self.id());
        // SAFETY: the port is started, since its queue is there, which is used on this thread alone.
        let result = unsafe { sys::rte_eth_dev_rx_intr_disable(port, queue) };
        self.check_switch("rte_eth_dev_rx_intr_disable", result, "disable")
    }

    /// Sleeps until the device tells that frames have come, at most for `timeout`, rounded up to milliseconds. The port needs
    /// [`PortConfig::rx_interrupts`](crate::PortConfig::rx_interrupts).
    ///
    /// Returns whether the device has told. A frame that came just before may go unnoticed until the next one, so let the time be
    /// short, and receive afterwards in any case; or see [`Self::wait_any`]. Where there is an error, go on polling:
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
    pub fn wait(&mut self, timeout: Duration) -> Result<bool, PortError> {
        self.enable_interrupt()?;
        let told = Self::wait_any([&mut *self], timeout);
        self.disable_interrupt()?;
        told
    }

    /// Sleeps until one of several queues has frames, at most for `timeout`, rounded up to milliseconds.
    ///
    /// Returns whether one has told since the last time, or another queue that this thread has waited for before. Those whose
    /// interrupts were not enabled tell nothing. No frame goes unnoticed if the queues are received from once more between enabling
    /// and sleeping: what came before is found then, what comes after is told.
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
    /// [`PortError::Lacks`] if a port was configured without RX interrupts, [`PortError::Refused`] if a device has none. Then it
    /// has not slept.
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
        let told = list.map_or(0, |list| list.wait(timeout));
        match first {
            Some(queue) => {
                queue.device().check("rte_epoll_wait", told, format!("wait for RX queue {}", queue.id()))?;
                Ok(told > 0)
            }
            None => Ok(false),
        }
    }

    /// Adds the queue's interrupt to what this thread waits for. It stays there: some drivers tell only once of what they have
    /// told since, and would tell it again whenever it is added (`net_virtio_user`).
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
        let result = unsafe { sys::dpdk_sys_eth_rx_intr_watch(self.port().get(), self.id(), list.0.as_raw_fd(), 1) };
        self.device().check("rte_eth_dev_rx_intr_ctl_q", result, action)?;
        self.watcher = Some(Arc::clone(list));
        Ok(())
    }

    /// Takes it away from the thread that has waited for it.
    fn unwatch(&mut self) {
        if let Some(list) = self.watcher.take() {
            let _watched = WATCHED.write().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: the port is started, since its queue is there, which is used on this thread alone. No thread is about to look
            // at what the list had to tell of this queue.
            unsafe { sys::dpdk_sys_eth_rx_intr_watch(self.port().get(), self.id(), list.0.as_raw_fd(), 0) };
        }
    }

    fn check_interrupts(&self) -> Result<(), PortError> {
        let device = self.device();
        if device.is_forked() {
            // The error of all that a child cannot do.
            drop(device.control()?);
        }
        if device.has_rx_interrupts() { Ok(()) } else { Err(device.lacks("RX interrupts, as it was configured")) }
    }

    /// The result of switching the interrupt. That of a device without a switch is always on, if there is one.
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
