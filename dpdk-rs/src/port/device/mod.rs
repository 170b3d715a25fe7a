// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A device as the port and its queues share it: the calls of DPDK's control plane, and the end.

mod combined;
mod configure;
mod directory;
mod readings;

pub(crate) use directory::{close_rest, has_port, in_use_of, reaches_program_memory, reads_only_dpdk_memory};
pub(super) use directory::{names, take_all};

use super::{Direction, PortError, PortId, TxOffloads, driver, event_watch};
use crate::{
    Errno,
    control::ControlGuard,
    eal::{Environment, log},
    flow::Flows,
    mempool::PoolHandle,
    queue,
};
use core::mem;
use dpdk_sys as sys;
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
};

/// One Ethernet device, shared by its port and its queues. The last of them stops and closes it.
pub(crate) struct Device {
    id: u16,
    name: String,
    environment: Arc<Environment>,
    /// The driver's count of frames that wait may race with its peer.
    counts_blindly: AtomicBool,
    /// How often it was reset, after which its counters may have other numbers.
    resets: AtomicU32,
    setup: Mutex<Setup>,
}

/// The pools and the key of a configuration.
type Former = (Vec<Arc<PoolHandle>>, Option<Box<[u8]>>);

/// What has been done to the device so far.
#[derive(Default)]
struct Setup {
    /// `rte_eth_dev_configure` was called: the device must be closed.
    configured: bool,
    started: bool,
    /// The driver's name.
    driver: String,
    /// The driver can start it again once it was stopped.
    restarts: bool,
    /// It was stopped by a driver that cannot.
    stopped_for_good: bool,
    /// The most segments of a frame that the driver sends right, as it is configured.
    most_segments: u16,
    /// The driver sends only segments right that have room in the mbufs of the first one's pool.
    trusts_lengths: bool,
    /// The very mbufs that are sent may be received in another process, which does not know that somebody else refers to them.
    passes_mbufs: bool,
    /// The driver loses parts of some received frames.
    miscounts: bool,
    /// The driver writes over the mark of received mbufs whose buffers lie in memory of the program, and there may be such.
    loses_marks: bool,
    /// What the device can be asked to do with frames that it sends.
    tx_offloads: TxOffloads,
    /// The longest headers of a frame that it can be asked to cut, in bytes.
    most_headers: usize,
    /// A call failed after which the driver cannot close the device.
    left: bool,
    /// Another process has configured the device, and closes it.
    foreign: bool,
    rx_queues: u16,
    tx_queues: u16,
    /// Of these, those that have to come back before the device is stopped.
    queues_out: (u16, u16),
    /// The queues of the device wait to be started when it is.
    deferred_start: bool,
    /// The device tells when its link changes.
    link_interrupts: bool,
    /// It was asked to tell when frames have come.
    rx_interrupts: bool,
    /// The rules for received frames, while it is started.
    flows: Flows,
    /// Drivers may read the key whenever the device is started.
    rss_key: Option<Box<[u8]>>,
    /// What the RX queues receive into. Kept until the device is closed: drivers hold on to it.
    pools: Vec<Arc<PoolHandle>>,
    /// The pools and keys of before it was reset, kept for the same reason.
    former: Vec<Former>,
}

/// What is kept of devices that nobody may close any more.
static LEFT_OPEN: Mutex<Vec<(Setup, Arc<Environment>)>> = Mutex::new(Vec::new());

impl Device {
    pub(crate) const fn id(&self) -> PortId {
        PortId(self.id)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn setup(&self) -> MutexGuard<'_, Setup> {
        self.setup.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_forked(&self) -> bool {
        self.environment.is_forked()
    }

    /// Locks the control plane, unless it is that of a parent process.
    pub(crate) fn control(&self) -> Result<ControlGuard<'_>, PortError> {
        if self.environment.is_forked() {
            return Err(PortError::Forked { port: self.id(), name: self.name.clone() });
        }
        Ok(self.environment.control())
    }

    /// The result of a call of DPDK, or an error that names the port and the action.
    pub(crate) fn check(&self, call: &'static str, result: i32, action: impl Into<String>) -> Result<(), PortError> {
        Errno::check(result).map(|_| ()).map_err(|errno| PortError::Refused {
            port: self.id(),
            name: self.name.clone(),
            action: action.into(),
            call,
            errno,
        })
    }

    /// The error that something is outside what the device supports.
    pub(crate) fn unsupported(&self, what: &'static str, asked: u32, limits: String) -> PortError {
        PortError::Unsupported { port: self.id(), name: self.name.clone(), what, asked, limits }
    }

    /// The error that the device does not have something.
    pub(crate) fn lacks(&self, what: impl Into<String>) -> PortError {
        PortError::Lacks { port: self.id(), name: self.name.clone(), what: what.into() }
    }

    /// As [`Self::check`], with `ENOTSUP` as the error that the driver does not have something: `what`, and what to do instead.
    pub(crate) fn check_offered(
        &self,
        call: &'static str,
        result: i32,
        action: impl Into<String>,
        (what, remedy): (&str, &str),
    ) -> Result<(), PortError> {
        if result == -sys::ENOTSUP.cast_signed() {
            return Err(self.lacks(format!("{what} (its driver is {}): {remedy}", self.setup().driver)));
        }
        self.check(call, result, action)
    }

    /// The error for the number of a queue that the device does not have.
    pub(crate) fn check_queue(&self, direction: Direction, queue: u16) -> Result<(), PortError> {
        let (rx, tx) = self.configured_queues();
        let (what, count) = match direction {
            Direction::Rx => ("as number of an RX queue", rx),
            Direction::Tx => ("as number of a TX queue", tx),
        };
        if queue < count {
            return Ok(());
        }
        let limits = if count == 0 { "none".to_owned() } else { format!("0 to {}", count - 1) };
        Err(self.unsupported(what, u32::from(queue), limits))
    }

    /// How often the device was reset.
    pub(super) fn resets(&self) -> u32 {
        self.resets.load(Relaxed)
    }

    /// Whether the driver must not be asked how many frames wait.
    pub(crate) fn counts_blindly(&self) -> bool {
        self.counts_blindly.load(Relaxed)
    }

    /// Whether the device tells when its link changes.
    pub(super) fn has_link_interrupts(&self) -> bool {
        self.setup().link_interrupts
    }

    /// Whether the device was asked to tell when frames have come.
    pub(crate) fn has_rx_interrupts(&self) -> bool {
        self.setup().rx_interrupts
    }

    /// Does something with the rules of the started device.
    pub(crate) fn with_flows<T>(&self, run: impl FnOnce(&mut Flows) -> T) -> T {
        run(&mut self.setup().flows)
    }

    /// The most segments of a frame that can be sent.
    pub(crate) fn most_segments(&self) -> u16 {
        self.setup().most_segments
    }

    /// Whether no segment may be longer than the room for data in the mbufs of the first one's pool.
    pub(crate) fn trusts_lengths(&self) -> bool {
        self.setup().trusts_lengths
    }

    /// Whether no data may be sent to which somebody else refers.
    pub(crate) fn passes_mbufs(&self) -> bool {
        self.setup().passes_mbufs
    }

    /// What the device can be asked to do with frames that it sends.
    pub(crate) fn tx_offloads(&self) -> TxOffloads {
        self.setup().tx_offloads
    }

    /// The longest headers of a frame that it can be asked to cut into segments, in bytes.
    pub(crate) fn most_headers(&self) -> usize {
        self.setup().most_headers
    }

    /// Whether received frames may be shorter than they say.
    pub(crate) fn miscounts(&self) -> bool {
        self.setup().miscounts
    }

    /// Whether received mbufs may lack the mark that their buffers lie in memory of the program.
    pub(crate) fn loses_marks(&self) -> bool {
        self.setup().loses_marks
    }

    /// Refuses what the driver would do beyond the mbufs' room, as far as its arguments tell: its own and, since it may
    /// be one that combines others, those of the devices that something in the process owns. Refuses a driver too, or one of a
    /// part, that does with ports and frames what nobody can tell beforehand.
    pub(super) fn check_driver(&self, data_room: u16) -> Result<(), PortError> {
        let room = u32::from(data_room).saturating_sub(sys::RTE_PKTMBUF_HEADROOM);
        let own = driver::name(&self.raw_info()?);
        let control = self.control()?;
        if let Some((driver, _)) = self.drivers(&own, &control).iter().find(|(driver, _)| driver::is_unbound(driver)) {
            return Err(self.lacks(format!(
                "safe use: its driver {driver} runs scripts that take the queues of other ports and free pools of packets that \
                 the program has; use those ports themselves, and do without this device"
            )));
        }
        match self.parts(&control).find_map(|(id, info)| driver::danger(&info, room, id != self.id)) {
            Some((what, asked, limits)) => Err(self.unsupported(what, asked, limits)),
            None => Ok(()),
        }
    }

    /// Refuses to receive into mbufs whose buffers lie in memory of the program, unless the driver is known to leave them there.
    pub(super) fn check_buffers(&self, pool: &PoolHandle) -> Result<(), PortError> {
        let Some(outside) = pool.buffers_outside() else {
            return Ok(());
        };
        let control = self.control()?;
        // A device that combines others may free what it receives from them, before a mark is put back.
        let keeps = |(id, info): &(u16, _)| driver::keeps_buffers(info, outside, *id == self.id);
        match self.parts(&control).find(|part| !keeps(part)) {
            Some((_, info)) => Err(self.lacks(format!(
                "way to receive into a pool that MempoolBuilder::build_in has made: its driver {} does not leave buffers to \
                 their mbufs, or does not reach this memory",
                driver::name(&info)
            ))),
            None => Ok(()),
        }
    }

    /// Starts the device, with its queues running or stopped; the numbers of its RX and TX queues.
    pub(super) fn start(&self, running: bool) -> Result<(u16, u16), PortError> {
        let control = self.control()?;
        let mut setup = self.setup();
        if setup.stopped_for_good {
            return Err(self.lacks("second start: its driver closes what it receives from when it is stopped"));
        }
        // SAFETY: only a `Port<Configured>` is started, so all queues are set up; the control plane is locked.
        let mut result = unsafe { sys::rte_eth_dev_start(self.id) };
        setup.left = result < 0 && self.parts(&control).any(|(_, info)| driver::frees_twice(&info));
        // SAFETY: the port exists, and the control plane is locked.
        if result == 0 && !unsafe { queue::has_calls(self.id()) } {
            // SAFETY: the port has just been started, and nobody has its queues yet; the control plane is locked.
            unsafe { sys::rte_eth_dev_stop(self.id) };
            result = -sys::ENOTSUP.cast_signed();
        }
        self.check("rte_eth_dev_start", result, "start the port")?;
        let queues = (setup.rx_queues, setup.tx_queues);
        if !running || setup.deferred_start {
            self.switch_all(queues, running).inspect_err(|_| {
                // SAFETY: the port has just been started, and nobody has its queues yet; the control plane is locked.
                unsafe { sys::rte_eth_dev_stop(self.id) };
            })?;
        }
        setup.started = true;
        setup.queues_out = queues;
        Ok(queues)
    }

    /// Stops the device. The caller has taken back all queues.
    pub(super) fn stop(&self) -> Result<(), PortError> {
        let _control = self.control()?;
        let mut setup = self.setup();
        setup.flows.destroy_all(self.id());
        // SAFETY: `Port::stop` has taken back and dropped all queues, so nobody polls the port; the control plane is
        // locked.
        let result = unsafe { sys::rte_eth_dev_stop(self.id) };
        self.check("rte_eth_dev_stop", result, "stop the port")?;
        setup.started = false;
        setup.stopped_for_good = !setup.restarts;
        Ok(())
    }

    /// Resets the device, which is configured and stopped: it can then be configured once more.
    pub(super) fn reset(&self) -> Result<(), PortError> {
        let control = self.control()?;
        let mut setup = self.setup();
        if setup.stopped_for_good {
            return Err(self.lacks("reset: its driver closes what it receives from when it is stopped"));
        }
        // SAFETY: only a `Port<Configured>` comes here, which is not started and of which nobody has a queue; the control plane is
        // locked, and the pools and the key that the driver may still know are kept.
        let result = unsafe { sys::rte_eth_dev_reset(self.id) };
        let lacks = result == -sys::ENOTSUP.cast_signed();
        // A driver that has taken the device apart, and could not put it together again, would take it apart once more on close.
        setup.left |= result < 0 && !lacks;
        drop(setup);
        drop(control);
        let lacking = ("reset", "start the port again as it is, or close it");
        self.check_offered("rte_eth_dev_reset", result, "reset the port", lacking)?;
        self.resets.fetch_add(1, Relaxed);
        Ok(())
    }

    /// How many queues have to come back before the device is stopped.
    pub(crate) fn queue_counts(&self) -> (usize, usize) {
        let (rx, tx) = self.setup().queues_out;
        (usize::from(rx), usize::from(tx))
    }

    /// A queue is given up by its only owner until the device is started again.
    pub(crate) fn take_back_queue(&self, direction: Direction) {
        let (rx, tx) = &mut self.setup().queues_out;
        let count = if direction == Direction::Rx { rx } else { tx };
        *count = count.saturating_sub(1);
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if self.environment.is_forked() {
            return;
        }
        let setup = self.setup.get_mut().unwrap_or_else(PoisonError::into_inner);
        if event_watch::is_told() {
            // The driver that has called goes on with its device, and whoever has had it do so may have locked the control plane.
            let left = (mem::take(setup), Arc::clone(&self.environment));
            LEFT_OPEN.lock().unwrap_or_else(PoisonError::into_inner).push(left);
            log(&format!(
                "port {} ({}) stays open: a closure that is told of an event has dropped it",
                self.id, self.name
            ));
            return;
        }
        let mut control = self.environment.control();
        if !setup.configured {
            if let Some(taken) = control.taken.get_mut(usize::from(self.id)) {
                *taken = false;
            }
            return;
        }
        if setup.left {
            // Nobody else gets it either.
            control.left.push(self.name.clone());
            return;
        }
        setup.flows.destroy_all(PortId(self.id));
        if setup.started {
            // SAFETY: the port and its queues hold this `Device`, so they are gone and nobody polls; the control plane
            // is locked. Nothing is left to report an error to.
            unsafe { sys::rte_eth_dev_stop(self.id) };
        }
        // SAFETY: the port and its queues hold this `Device`, so they are gone; the control plane is locked, and the
        // pool is released after this.
        unsafe { sys::rte_eth_dev_close(self.id) };
        if let Some(configured) = control.configured.get_mut(usize::from(self.id)) {
            *configured = false;
        }
        // A device that is attached later may get the same number.
        if let Some(taken) = control.taken.get_mut(usize::from(self.id)) {
            *taken = false;
        }
        drop(control);
    }
}
