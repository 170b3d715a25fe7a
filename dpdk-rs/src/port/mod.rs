// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Ethernet devices.
//!
//! A port is [`Unconfigured`], then [`Configured`], then [`Started`]. Each step takes the port and returns it in its new
//! state. Only a started port has queues:
//!
//! ```no_run
//! use dpdk_rs::{Eal, EalOptions, Mempool, PortConfig};
//!
//! let (eal, _args) = Eal::init(EalOptions::from_command_line())?;
//! let pool: Mempool = Mempool::builder("pool").build(&eal)?;
//! for port in eal.ports() {
//!     let config = PortConfig::default().rx_queues(2).tx_queues(2);
//!     let (port, rx_queues, tx_queues) = port.configure(&config, &pool)?.start()?;
//!     port.set_promiscuous(true)?;
//!     // … hand the queues to lcores …
//!     let _configured = port.stop(rx_queues, tx_queues)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adapter;
mod config;
mod device;
mod error;
mod event_watch;
mod flow_control;
mod foreign;
mod info;
mod link_speed;
mod link_switch;
mod offloads;
mod queue_info;
mod reception;
mod reset;
mod rss;
mod single_queue;
mod status;
mod tuning;
mod xstats;

pub use crate::ids::PortId;
pub use adapter::{Module, ModuleStandard};
pub use config::PortConfig;
pub use error::PortError;
pub use event_watch::{EventWatch, LinkWatch, PortEvent};
pub use flow_control::FlowControl;
pub use foreign::Foreign;
pub use info::{DescriptorLimits, PortInfo};
pub use link_speed::{LinkSpeed, LinkSpeeds};
pub use offloads::{RxOffloads, TxOffloads};
pub use queue_info::{RxQueueInfo, TxQueueInfo};
pub use reset::ResetRefused;
pub use rss::{RssFields, RssFlow, RssHash};
pub use status::{Link, PortStats};
pub use tuning::RingRegisters;
pub use xstats::{Xstat, XstatSelection};

use crate::{
    Mempool, PrivateData, RxQueue, SocketId, StoppedRxQueue, StoppedTxQueue, TxQueue,
    environment::{Environment, ports},
};
use core::{fmt, marker::PhantomData};
use dpdk_sys as sys;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use crate::ids::Direction;
pub(crate) use device::{Calls, Device, RawFlow, calls, entry};
pub(crate) use foreign::take_foreign;

/// A port that was taken from the EAL and is not configured yet. Dropping it returns it to the EAL, or closes it if it
/// comes from [`Port::reset`].
#[derive(Debug)]
pub struct Unconfigured(());

/// A port that is configured and stopped. `P` is the private data of the pool into which it receives.
#[derive(Debug)]
pub struct Configured<P: PrivateData = ()>(PhantomData<P>);

/// A port that is started. `P` is the private data of the pool into which it receives.
#[derive(Debug)]
pub struct Started<P: PrivateData = ()>(PhantomData<P>);

/// An Ethernet device in the state `S`. A configured port is stopped and closed when the port and the last of its
/// queues have been dropped; it cannot be taken again. A port that fails to be set up or started is closed, unless its
/// driver would free memory twice (`net_pcap` with `infinite_rx`): then the port is left as it is, and the EAL is not
/// cleaned up.
#[doc(alias = "rte_eth_dev_close")]
pub struct Port<S = Started> {
    device: Arc<Device>,
    state: PhantomData<S>,
}

/// A started port with its queues, in the order of their numbers.
pub type StartedPort<P> = (Port<Started<P>>, Vec<RxQueue<P>>, Vec<TxQueue>);

/// A started port whose queues are stopped, in the order of their numbers.
pub type StoppedQueues<P> = (Port<Started<P>>, Vec<StoppedRxQueue<P>>, Vec<StoppedTxQueue>);

pub(crate) fn take_all(environment: &Arc<Environment>) -> Vec<Port<Unconfigured>> {
    let devices = device::take_all(environment).into_iter();
    // SAFETY: the devices have just been taken, and are not configured.
    devices.map(|device| unsafe { Port::of(Arc::new(device)) }).collect()
}

/// The names of all ports, taken or not.
pub(crate) fn names(eal: &crate::Eal) -> Vec<String> {
    ports::names(eal.environment())
}

impl<S> Port<S> {
    /// # Safety
    /// The device is in the state that `S` names, and this is the only `Port` of it.
    const unsafe fn of(device: Arc<Device>) -> Self {
        Self { device, state: PhantomData }
    }

    pub(crate) const fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The port's number.
    #[must_use]
    pub fn id(&self) -> PortId {
        self.device.id()
    }

    /// The device's name, such as `net_null0` or a PCI address.
    #[doc(alias = "rte_eth_dev_get_name_by_port")]
    #[must_use]
    pub fn name(&self) -> &str {
        self.device.name()
    }

    /// The device's NUMA node; [`SocketId::ANY`] if it has none, as is the case for virtual devices.
    #[doc(alias = "rte_eth_dev_socket_id")]
    #[must_use]
    pub fn socket(&self) -> SocketId {
        // SAFETY: the port exists as long as its `Device`, which `self` holds; the call reads a number.
        SocketId::new(unsafe { sys::rte_eth_dev_socket_id(self.id().get()) })
    }

    /// What the device can do.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not report it.
    #[doc(alias = "rte_eth_dev_info_get")]
    pub fn info(&self) -> Result<PortInfo, PortError> {
        self.device.info()
    }

    /// The port's own MAC address. In a secondary process it may be a mix of two addresses if the primary process
    /// changes it during the call.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not report it.
    #[doc(alias = "rte_eth_macaddr_get")]
    pub fn mac_addr(&self) -> Result<crate::MacAddr, PortError> {
        self.device.mac_addr()
    }

    /// The longest payload of a frame, in bytes: without the Ethernet header and the FCS.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not report it.
    #[doc(alias = "rte_eth_dev_get_mtu")]
    pub fn mtu(&self) -> Result<u16, PortError> {
        self.device.mtu()
    }
}

impl Port<Unconfigured> {
    /// Configures the port: all RX queues receive into `pool`.
    ///
    /// If the pool is in memory of the program ([`MempoolBuilder::build_in`](crate::MempoolBuilder::build_in)), the
    /// driver must be one that is known to leave each buffer with its mbuf: `net_af_packet`, `net_memif`, `net_null`,
    /// `net_pcap`, `net_ring`, `net_tap` or `net_vhost`, or a driver that combines these; `net_e1000_em`, not combined
    /// with others, if the memory is DPDK's or registered ([`ExternalMemory`](crate::memory::ExternalMemory)); or
    /// `mlx5_pci`, if the memory is DPDK's.
    ///
    /// # Errors
    /// [`PortError::Unsupported`] if a number is outside what the device supports, [`PortError::Lacks`] if the device lacks
    /// a requested feature. Both are returned before anything is changed: the port can be taken from the EAL again.
    /// The port is closed if only the driver knows better what the device combines (`net_bonding`).
    /// [`PortError::Refused`] if the device refuses, [`PortError::Lacks`] if the interface of `net_tap` was moved to another
    /// network namespace: the port is then closed.
    #[doc(alias = "rte_eth_dev_configure")]
    #[doc(alias = "rte_eth_rx_queue_setup")]
    #[doc(alias = "rte_eth_tx_queue_setup")]
    pub fn configure<P: PrivateData>(
        self,
        config: &PortConfig,
        pool: &Mempool<P>,
    ) -> Result<Port<Configured<P>>, PortError> {
        self.configure_queues(config, &[pool])
    }

    /// Like [`Self::configure`], with one pool for each RX queue, in the order of the queue numbers: for pools on the
    /// NUMA nodes of the lcores that receive, or so that lcores do not contend for one pool. The same pool may be given
    /// several times.
    ///
    /// ```no_run
    /// # use dpdk_rs::{Eal, EalOptions, Mempool, Port, PortConfig, port::Unconfigured};
    /// # fn start(eal: &Eal, port: Port<Unconfigured>) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut pools = Vec::<Mempool>::new();
    /// for lcore in eal.worker_lcores() {
    ///     pools.push(Mempool::builder(&format!("pool{}", lcore.id())).socket(lcore.socket()).build(eal)?);
    /// }
    /// let config = PortConfig::default().rx_queues(u16::try_from(pools.len())?);
    /// let (port, rx_queues, tx_queues) = port.configure_with_pools(&config, &pools)?.start()?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Self::configure`], and [`PortError::Unsupported`] if the numbers of pools and RX queues differ.
    #[doc(alias = "rte_eth_rx_queue_setup")]
    pub fn configure_with_pools<P: PrivateData>(
        self,
        config: &PortConfig,
        pools: &[Mempool<P>],
    ) -> Result<Port<Configured<P>>, PortError> {
        if pools.len() != usize::from(config.rx_queues) {
            let asked = u32::try_from(pools.len()).unwrap_or(u32::MAX);
            let limits = format!("one for each of its {} RX queues", config.rx_queues);
            return Err(self.device.unsupported("pools", asked, limits));
        }
        self.configure_queues(config, &pools.iter().collect::<Vec<_>>())
    }

    fn configure_queues<P: PrivateData>(
        self,
        config: &PortConfig,
        pools: &[&Mempool<P>],
    ) -> Result<Port<Configured<P>>, PortError> {
        // Without an RX queue nothing is received.
        let data_room = pools.iter().map(|pool| pool.handle().data_room).min().unwrap_or(u16::MAX);
        config.check(&self.device, data_room)?;
        let handles = pools.iter().map(|pool| Arc::clone(pool.handle())).collect();
        // SAFETY: a `Port<Unconfigured>` is neither configured nor started, and `check` has accepted the settings.
        unsafe { self.device.configure(config, handles) }?;
        // SAFETY: the device was configured in the line above, with pools of a `P`.
        Ok(unsafe { Port::of(self.device) })
    }
}

impl<P: PrivateData> Port<Configured<P>> {
    /// Starts the port and creates its queues.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device refuses, [`PortError::Lacks`] if it was stopped before and cannot be restarted
    /// ([`PortInfo::restarts`]). In both cases the port is closed.
    #[doc(alias = "rte_eth_dev_start")]
    pub fn start(self) -> Result<StartedPort<P>, PortError> {
        // SAFETY: a `Port<Configured>` is configured and not started.
        let (rx, tx) = unsafe { self.device.start(true) }?;
        // SAFETY: the port has just been started, with so many queues. It is stopped only when they are gone.
        let rx = (0..rx).map(|queue| unsafe { RxQueue::new(&self.device, queue) }).collect();
        // SAFETY: the port has just been started, with so many queues. It is stopped only when they are gone.
        let tx = (0..tx).map(|queue| unsafe { TxQueue::new(&self.device, queue) }).collect();
        // SAFETY: the device was started a few lines above.
        Ok((unsafe { Port::of(self.device) }, rx, tx))
    }

    /// Starts the port with its queues stopped, so that they can be started one by one. Without
    /// [`PortConfig::deferred_start`] each queue may receive frames before it is stopped here.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the device cannot stop single queues, [`PortError::Refused`] if it refuses. In both
    /// cases the port is closed.
    #[doc(alias = "rte_eth_dev_start")]
    #[doc(alias = "rx_deferred_start")]
    pub fn start_stopped(self) -> Result<StoppedQueues<P>, PortError> {
        // SAFETY: a `Port<Configured>` is configured and not started.
        let (rx, tx) = unsafe { self.device.start(false) }?;
        // SAFETY: the port has just been started, with so many queues. It is stopped only when they are gone.
        let rx = (0..rx).map(|queue| unsafe { RxQueue::new(&self.device, queue) }).map(StoppedRxQueue::new).collect();
        // SAFETY: the port has just been started, with so many queues. It is stopped only when they are gone.
        let tx = (0..tx).map(|queue| unsafe { TxQueue::new(&self.device, queue) }).map(StoppedTxQueue::new).collect();
        // SAFETY: the device was started a few lines above.
        Ok((unsafe { Port::of(self.device) }, rx, tx))
    }

    /// Sets the maximum payload of a frame (MTU) in bytes.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not support it.
    #[doc(alias = "rte_eth_dev_set_mtu")]
    pub fn set_mtu(&self, mtu: u16) -> Result<(), PortError> {
        // SAFETY: a `Port<Configured>` is configured and not started.
        unsafe { self.device.set_mtu(mtu) }
    }

    /// Closes the device, as dropping the port does.
    pub fn close(self) {
        drop(self);
    }
}

impl<P: PrivateData> Port<Started<P>> {
    /// Stops the port. It takes its queues back, so that no thread can use them any more. A stopped queue must be
    /// started or given back first.
    ///
    /// # Errors
    /// [`StopError::Queues`] if a queue is missing or belongs to another port; it contains everything that was passed.
    /// [`StopError::Refused`] if the device refuses: the port is closed.
    #[doc(alias = "rte_eth_dev_stop")]
    pub fn stop(self, rx: Vec<RxQueue<P>>, tx: Vec<TxQueue>) -> Result<Port<Configured<P>>, StopError<P>> {
        let device = &self.device;
        let complete = device.queue_counts() == (rx.len(), tx.len());
        if !complete || !rx.iter().all(|queue| queue.is_of(device)) || !tx.iter().all(|queue| queue.is_of(device)) {
            return Err(StopError::Queues(Box::new(Mutex::new((self, rx, tx)))));
        }
        drop((rx, tx));
        // SAFETY: a `Port<Started>` is started, and all its queues were dropped in the line above.
        unsafe { device.stop() }.map_err(StopError::Refused)?;
        // SAFETY: the device was stopped in the line above, and stays configured.
        Ok(unsafe { Port::of(self.device) })
    }

    /// The device's basic counters since it was started, or since [`Self::reset_stats`].
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device has none.
    #[doc(alias = "rte_eth_stats_get")]
    pub fn stats(&self) -> Result<PortStats, PortError> {
        self.device.stats()
    }

    /// Sets the counters to zero.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device cannot.
    #[doc(alias = "rte_eth_stats_reset")]
    pub fn reset_stats(&self) -> Result<(), PortError> {
        self.device.reset_stats()
    }

    /// The present state of the link, without waiting for a negotiation to end.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not report it.
    #[doc(alias = "rte_eth_link_get_nowait")]
    pub fn link(&self) -> Result<Link, PortError> {
        self.device.link(false)
    }

    /// The state of the link, after waiting up to 9 seconds for it to come up.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not report it.
    #[doc(alias = "rte_eth_link_get")]
    pub fn wait_link(&self) -> Result<Link, PortError> {
        self.device.link(true)
    }
}

impl<S> fmt::Debug for Port<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Port").field("id", &self.id().get()).field("name", &self.name()).finish()
    }
}

/// Why a port was not stopped.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum StopError<P: PrivateData = ()> {
    /// The passed queues are not exactly the port's own. The port and the passed queues are in a mutex because errors
    /// must be `Sync`, as `anyhow` requires, and queues are not: take them with `into_inner`. If they are dropped, the
    /// port stops.
    #[error("port {} needs all its queues back, and no others, to stop", described(.0))]
    Queues(Box<Mutex<StartedPort<P>>>),
    /// The device refused, and is closed.
    #[error(transparent)]
    Refused(PortError),
}

fn described<P: PrivateData>(started: &Mutex<StartedPort<P>>) -> String {
    let (port, ..) = &*started.lock().unwrap_or_else(PoisonError::into_inner);
    format!("{} ({})", port.id(), port.name())
}

impl<P: PrivateData> fmt::Debug for StopError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StopError({self})")
    }
}
