// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A device, shared by the port and its queues: the calls of DPDK's control plane, and the end of the device.

mod calls;
mod combined;
mod configure;
mod event_guard;
mod flows;
mod readings;

pub(crate) use calls::{Calls, calls, entry, has_queue};
pub(super) use event_guard::EventGuard;
pub(crate) use flows::RawFlow;

use super::{Direction, PortError, PortId, TxOffloads};
use crate::{
    Errno,
    environment::{Bonding, ControlGuard, DeviceInfo, Environment, Quirks, driver, outlast_alarm, ports, reservation},
    log,
    mempool::PoolHandle,
};
use calls::has_calls;
use core::mem;
use dpdk_sys as sys;
use event_guard::handles_event;
use flows::Flows;
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU32, Ordering::Relaxed},
};

/// One Ethernet device, shared by its port and its queues. The last of them stops and closes it.
pub(crate) struct Device {
    id: u16,
    name: String,
    environment: Arc<Environment>,
    /// The number of resets. A reset may renumber its counters.
    resets: AtomicU32,
    setup: Mutex<Setup>,
}

/// Why a device is not closed that may still run.
const CANNOT_STOP: &str = "it cannot be stopped";

/// The pools and the key of a configuration.
type Former = (Vec<Arc<PoolHandle>>, Option<Box<[u8]>>);

/// The state of a device, which determines how it ends.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    /// Not configured by this process. Another process may take it.
    #[default]
    Unconfigured,
    /// Configured by another process, which closes it.
    Foreign,
    /// After `rte_eth_dev_configure`: it must be closed.
    Configured,
    /// It must be stopped, then closed.
    Started,
    /// Stopped by a driver that cannot restart it.
    StoppedForGood,
    /// It must not be closed, for this reason.
    Unclosable(&'static str),
}

/// The history of the device so far.
#[derive(Default)]
struct Setup {
    stage: Stage,
    /// The driver's name.
    driver: String,
    quirks: Quirks,
    /// The offloads that can be requested for sent frames.
    tx_offloads: TxOffloads,
    rx_queues: u16,
    tx_queues: u16,
    /// The queues that must come back before the device is stopped.
    queues_out: (u16, u16),
    /// Whether the device starts with its queues stopped.
    deferred_start: bool,
    /// Whether the device reports link changes.
    link_interrupts: bool,
    /// Whether the device was configured to report arriving frames.
    rx_interrupts: bool,
    /// The rules for received frames, while the device is started.
    flows: Flows,
    /// Drivers may read the key at any start of the device.
    rss_key: Option<Box<[u8]>>,
    /// The pools of the RX queues. They are kept until the device is closed, since drivers keep pointers to them.
    pools: Vec<Arc<PoolHandle>>,
    /// The pools and keys from before a reset, kept for the same reason.
    former: Vec<Former>,
}

/// What devices that nobody may close any more still need.
static LEFT_OPEN: Mutex<Vec<(Setup, Arc<Environment>)>> = Mutex::new(Vec::new());

/// Takes every free port.
pub(super) fn take_all(environment: &Arc<Environment>) -> Vec<Device> {
    let device = |id| Device {
        id,
        name: ports::port_name(id),
        environment: Arc::clone(environment),
        resets: AtomicU32::new(0),
        setup: Mutex::default(),
    };
    reservation::take_free(environment).into_iter().map(device).collect()
}

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

    /// Checks the result of a DPDK call. The error names the port and the action.
    pub(crate) fn check(&self, call: &'static str, result: i32, action: impl Into<String>) -> Result<(), PortError> {
        Errno::check(result).map(|_| ()).map_err(|errno| PortError::Refused {
            port: self.id(),
            name: self.name.clone(),
            action: action.into(),
            call,
            errno,
        })
    }

    /// The error that a setting is outside the device's range.
    pub(crate) fn unsupported(&self, what: &'static str, asked: u32, limits: String) -> PortError {
        PortError::Unsupported { port: self.id(), name: self.name.clone(), what, asked, limits }
    }

    /// The error that the device lacks a feature.
    pub(crate) fn lacks(&self, what: impl Into<String>) -> PortError {
        PortError::Lacks { port: self.id(), name: self.name.clone(), what: what.into() }
    }

    /// Like [`Self::check`], but `ENOTSUP` means that the driver lacks a feature: `what`, and what to do instead.
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

    /// Checks that the device has a queue with this number.
    pub(crate) fn check_queue(&self, direction: Direction, queue: u16) -> Result<(), PortError> {
        let (rx, tx) = self.configured_queues();
        let (what, count) = match direction {
            Direction::Rx => ("RX queue number", rx),
            Direction::Tx => ("TX queue number", tx),
        };
        if queue < count {
            return Ok(());
        }
        let limits = if count == 0 { "none".to_owned() } else { format!("0 to {}", count - 1) };
        Err(self.unsupported(what, u32::from(queue), limits))
    }

    /// The number of resets.
    pub(super) fn resets(&self) -> u32 {
        self.resets.load(Relaxed)
    }

    /// Whether the device reports link changes.
    pub(super) fn has_link_interrupts(&self) -> bool {
        self.setup().link_interrupts
    }

    /// Whether the device was configured to report arriving frames.
    pub(crate) fn has_rx_interrupts(&self) -> bool {
        self.setup().rx_interrupts
    }

    /// Calls `run` with the rules of the started device.
    pub(crate) fn with_flows<T>(&self, run: impl FnOnce(&mut Flows) -> T) -> T {
        run(&mut self.setup().flows)
    }

    /// The quirks of the driver.
    pub(crate) fn quirks(&self) -> Quirks {
        self.setup().quirks
    }

    /// The offloads that can be requested for sent frames.
    pub(crate) fn tx_offloads(&self) -> TxOffloads {
        self.setup().tx_offloads
    }

    /// Rejects arguments with which the driver would exceed the mbufs' room: its own arguments and, since it may
    /// combine others, those of the devices that another one owns. Also rejects drivers, including those of parts,
    /// whose use of ports and frames is unknown.
    fn check_driver(&self, data_room: u16, queues: u32, control: &ControlGuard<'_>) -> Result<(), PortError> {
        let room = u32::from(data_room).saturating_sub(sys::RTE_PKTMBUF_HEADROOM);
        let own = ports::info(self.id, control).map(|info| driver::name(&info)).unwrap_or_default();
        self.check_parts(&own, control)?;
        let drivers = self.drivers(&own, control);
        if let Some((driver, _)) = drivers.iter().find(|(driver, info)| !driver::is_known(driver, info)) {
            return Err(self.lacks(format!(
                "safe use: its driver {driver} is none of the drivers of virtual devices in guarantees.md; take one of these"
            )));
        }
        let danger = |(id, info): (u16, DeviceInfo<'_>)| {
            driver::danger(&info, (room, queues), id != self.id).or_else(|| Bonding::of(&info)?.danger())
        };
        match self.parts(control).find_map(danger) {
            Some((what, asked, limits)) => Err(self.unsupported(what, asked, limits)),
            None => Ok(()),
        }
    }

    /// Refuses to receive into mbufs whose buffers are in memory of the program, unless the driver is known to keep
    /// them there.
    fn check_buffers(&self, pool: &PoolHandle, control: &ControlGuard<'_>) -> Result<(), PortError> {
        let Some(outside) = pool.buffers_outside() else {
            return Ok(());
        };
        // A device that combines others may free frames from its parts before the flag is restored.
        let keeps = |(id, info): &(u16, DeviceInfo<'_>)| driver::keeps_buffers(info, outside, *id == self.id);
        match self.parts(control).find(|part| !keeps(part)) {
            Some((_, info)) => Err(self.lacks(format!(
                "way to receive into a pool from MempoolBuilder::build_in: its driver {} does not leave buffers with \
                 their mbufs, or cannot access this memory",
                driver::name(&info)
            ))),
            None => Ok(()),
        }
    }

    /// Starts the device, with its queues running or stopped. Returns the numbers of its RX and TX queues.
    ///
    /// # Safety
    /// The port is configured, so that all queues are set up, and not started.
    pub(super) unsafe fn start(&self, running: bool) -> Result<(u16, u16), PortError> {
        let control = self.control()?;
        let mut setup = self.setup();
        if setup.stage == Stage::StoppedForGood {
            return Err(self.lacks("second start: its driver closes what it receives from when it is stopped"));
        }
        self.check_sole_owner(&control)?;
        self.check_parts(&setup.driver, &control)?;
        // SAFETY: the caller promises that all queues are set up; the control plane is locked.
        let mut result = unsafe { sys::rte_eth_dev_start(self.id) };
        // SAFETY: the port exists, and the control plane is locked.
        if result == 0 && !unsafe { has_calls(self.id()) } {
            result = -sys::ENOTSUP.cast_signed();
        }
        if result < 0 {
            // Some errors leave the device running.
            // SAFETY: nobody has its queues yet, and the control plane is locked.
            let _ = unsafe { self.halt(&mut setup) };
            if self.frees_twice(&control) || setup.driver == driver::BONDING && !outlast_alarm() {
                setup.stage = Stage::Unclosable("its driver cannot close it after it has refused to start");
            }
        }
        self.check("rte_eth_dev_start", result, "start the port")?;
        let queues = (setup.rx_queues, setup.tx_queues);
        if !running || setup.deferred_start {
            // SAFETY: nobody has the queues yet, and the control plane is locked.
            let switched = unsafe { self.switch_all(queues, running) };
            switched.inspect_err(|_| {
                // SAFETY: the port has just been started, and nobody has its queues yet; the control plane is locked.
                let _ = unsafe { self.halt(&mut setup) };
            })?;
        }
        setup.stage = Stage::Started;
        setup.queues_out = queues;
        Ok(queues)
    }

    /// Stops the device.
    ///
    /// # Safety
    /// The port is started, and all handles of its queues are gone.
    pub(super) unsafe fn stop(&self) -> Result<(), PortError> {
        let _control = self.control()?;
        let mut setup = self.setup();
        // SAFETY: these are the rules of this port, which is still started; the control plane is locked.
        unsafe { setup.flows.destroy_all(self.id()) };
        // SAFETY: the caller promises that all queues are gone, so nobody polls the port; the control plane is locked.
        unsafe { self.halt(&mut setup) }?;
        setup.stage = if setup.quirks.stops_for_good { Stage::StoppedForGood } else { Stage::Configured };
        Ok(())
    }

    /// Stops the device if it runs. If it refuses, it may go on writing to its pools.
    ///
    /// # Safety
    /// Nobody polls the port, and the control plane is locked.
    unsafe fn halt(&self, setup: &mut Setup) -> Result<(), PortError> {
        // SAFETY: the port exists until the drop of this `Device` closes it; the caller promises the rest.
        let result = unsafe { sys::rte_eth_dev_stop(self.id) };
        self.check("rte_eth_dev_stop", result, "stop the port")
            .inspect_err(|_| setup.stage = Stage::Unclosable(CANNOT_STOP))
    }

    /// Resets the device, which can then be configured again.
    ///
    /// # Safety
    /// The port is configured and not started, and all handles of its queues are gone.
    pub(super) unsafe fn reset(&self) -> Result<(), PortError> {
        let control = self.control()?;
        let mut setup = self.setup();
        if setup.stage == Stage::StoppedForGood {
            return Err(self.lacks("reset: its driver closes what it receives from when it is stopped"));
        }
        // SAFETY: the caller promises that the port is not started and that nobody has a queue; the control plane is locked, and
        // the pools and the key that the driver may still know are kept.
        let result = unsafe { sys::rte_eth_dev_reset(self.id) };
        let lacks = result == -sys::ENOTSUP.cast_signed();
        // A driver that has dismantled the device, but failed to set it up again, would dismantle it a second time on
        // close.
        if result < 0 && !lacks {
            setup.stage = Stage::Unclosable("its driver cannot close it after a reset that has failed");
        }
        drop(setup);
        drop(control);
        let lacking = ("reset", "start the port again as it is, or close it");
        self.check_offered("rte_eth_dev_reset", result, "reset the port", lacking)?;
        self.resets.fetch_add(1, Relaxed);
        Ok(())
    }

    /// The numbers of RX and TX queues that must come back before the device is stopped.
    pub(crate) fn queue_counts(&self) -> (usize, usize) {
        let (rx, tx) = self.setup().queues_out;
        (usize::from(rx), usize::from(tx))
    }

    /// Closes the device, unless this process has never configured it.
    ///
    /// # Errors
    /// The reason why it stays open.
    ///
    /// # Safety
    /// Nobody uses the port or a queue of it.
    unsafe fn close(&self, setup: &mut Setup, control: &ControlGuard<'_>) -> Result<(), &'static str> {
        match setup.stage {
            Stage::Unconfigured | Stage::Foreign => return Ok(()),
            Stage::Unclosable(reason) => return Err(reason),
            Stage::Configured | Stage::Started | Stage::StoppedForGood => (),
        }
        // SAFETY: these are the rules of this port, which has none unless it is started; the control plane is locked.
        unsafe { setup.flows.destroy_all(self.id()) };
        if setup.stage == Stage::Started {
            // SAFETY: the caller promises that nobody polls, and that the control plane is locked.
            unsafe { self.halt(setup) }.map_err(|_| CANNOT_STOP)?;
        }
        if self.drivers(&setup.driver, control).iter().any(|(_, info)| driver::listens_when_closed(info)) {
            return Err(ports::LISTENS);
        }
        let members = ports::info(self.id, control).and_then(|info| Bonding::of(&info)).map(|bonding| bonding.members);
        // SAFETY: the caller promises that nobody uses the port; the control plane is locked, and the pools are released
        // after this.
        unsafe { sys::rte_eth_dev_close(self.id) };
        // The call returns other errors after it has closed the device.
        // SAFETY: any number is allowed.
        let is_open = unsafe { sys::rte_eth_dev_is_valid_port(self.id) } != 0;
        if is_open {
            return Err("its driver cannot close it");
        }
        // A member that it could not stop goes on receiving into the pools, and stays its member.
        let stays = |id: u16| ports::info(id, control).is_some_and(|info| driver::is_member(&info));
        if members.into_iter().flatten().any(stays) { Err("a part of it cannot be stopped") } else { Ok(()) }
    }

    /// Records that a queue was given up until the device is started again.
    ///
    /// # Safety
    /// The only handle of the queue is gone, and was not counted before.
    pub(crate) unsafe fn take_back_queue(&self, direction: Direction) {
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
        let mut setup = mem::take(self.setup.get_mut().unwrap_or_else(PoisonError::into_inner));
        let closed = if handles_event() {
            // The driver that made the call continues to use its device, and its caller may have locked the control
            // plane.
            Err("a closure that handles an event has dropped it")
        } else {
            let mut control = self.environment.control();
            // SAFETY: the port and its queues hold this `Device`, so they are gone and nobody polls.
            let closed = unsafe { self.close(&mut setup, &control) };
            if closed.is_ok() {
                // SAFETY: `take_all` has taken the port for this `Device`, and it has just been closed, if it was ever
                // configured by this process.
                unsafe { control.give_back(self.id) };
            }
            closed
        };
        if let Err(reason) = closed {
            log::warn(&format!("port {} ({}) stays open, and the EAL is not cleaned up: {reason}", self.id, self.name));
            // Nobody else gets the port.
            let left = (setup, Arc::clone(&self.environment));
            LEFT_OPEN.lock().unwrap_or_else(PoisonError::into_inner).push(left);
        }
    }
}
