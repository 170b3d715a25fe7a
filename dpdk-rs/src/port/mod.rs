// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Ethernet devices.
//!
//! A port is [`Unconfigured`], then [`Configured`], then [`Started`]; each step takes the port and gives it back in its
//! new state, and queues exist only for a started one:
//!
//! ```no_run
//! use dpdk_rs::{Eal, Mempool, PortConfig};
//!
//! let (eal, _args) = Eal::init(std::env::args())?;
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
mod driver;
mod event_watch;
mod flow_control;
mod foreign;
mod info;
pub(crate) mod iommu;
mod link_speed;
mod link_switch;
mod offloads;
mod queue_info;
mod reception;
mod reset;
mod rss;
mod rss_flow;
mod single_queue;
mod status;
mod tuning;
mod xstats;

pub use adapter::{Module, ModuleStandard};
pub use config::PortConfig;
pub(crate) use driver::is_pci_address;
pub use event_watch::{EventWatch, LinkWatch, PortEvent};
pub use flow_control::FlowControl;
pub use foreign::Foreign;
pub use info::{DescriptorLimits, PortInfo};
pub use link_speed::{LinkSpeed, LinkSpeeds};
pub use offloads::{RxOffloads, TxOffloads};
pub use queue_info::{RxQueueInfo, TxQueueInfo};
pub use reset::ResetRefused;
pub use rss::{RssFields, RssHash};
pub use rss_flow::RssFlow;
pub use status::{Link, PortStats};
pub use tuning::RingRegisters;
pub use xstats::{Xstat, XstatSelection};

use crate::{
    Errno, Mempool, PrivateData, RxQueue, SocketId, StoppedRxQueue, StoppedTxQueue, TxQueue, eal::Environment,
};
use core::{fmt, marker::PhantomData};
use dpdk_sys as sys;
use std::sync::Arc;

pub(crate) use device::{Device, close_rest, has_port, in_use_of, reaches_program_memory, reads_only_dpdk_memory};
pub(crate) use foreign::take_foreign;
pub(crate) use single_queue::Direction;

/// The number of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PortId(pub(crate) u16);

impl PortId {
    /// The number.
    #[inline]
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl fmt::Display for PortId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A call that failed on a port.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PortError {
    /// DPDK, or the device, refused.
    #[error("port {port} ({name}): cannot {action}: {errno}")]
    Refused {
        /// The port.
        port: PortId,
        /// Its name, such as `net_null0` or a PCI address.
        name: String,
        /// What was tried, such as `start the port`.
        action: String,
        /// The call of DPDK, such as `rte_eth_dev_start`.
        call: &'static str,
        /// DPDK's error.
        errno: Errno,
    },
    /// A number is outside what the device supports.
    #[error("port {port} ({name}): {asked} {what} asked for, the device supports {limits}")]
    Unsupported {
        /// The port.
        port: PortId,
        /// Its name.
        name: String,
        /// What was asked for, such as `RX queues`.
        what: &'static str,
        /// How many.
        asked: u32,
        /// What the device has, in words.
        limits: String,
    },
    /// The device does not have something.
    #[error("port {port} ({name}): the device has no {what}")]
    Lacks {
        /// The port.
        port: PortId,
        /// Its name.
        name: String,
        /// What it does not have, such as `VLAN filter`.
        what: String,
    },
    /// A child made by `fork` cannot touch the port: it is its parent's.
    #[error("port {port} ({name}): this process is a fork of the one that initialized the EAL")]
    Forked {
        /// The port.
        port: PortId,
        /// Its name.
        name: String,
    },
}

impl PortError {
    /// The port.
    #[must_use]
    pub const fn port(&self) -> PortId {
        match self {
            Self::Refused { port, .. }
            | Self::Unsupported { port, .. }
            | Self::Lacks { port, .. }
            | Self::Forked { port, .. } => *port,
        }
    }

    /// DPDK's error, if a call of DPDK failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Refused { errno, .. } = self { Some(*errno) } else { None }
    }

    /// The name of the call of DPDK that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Refused { call, .. } = self { Some(*call) } else { None }
    }
}

/// A port that has been taken from the EAL, and not yet configured. Dropping it gives it back, or closes it after
/// [`Port::reset`].
#[derive(Debug)]
pub struct Unconfigured(());

/// A port that is configured and stopped. `P` is the private data of the pool that it receives into.
#[derive(Debug)]
pub struct Configured<P: PrivateData = ()>(PhantomData<P>);

/// A port that is started. `P` is the private data of the pool that it receives into.
#[derive(Debug)]
pub struct Started<P: PrivateData = ()>(PhantomData<P>);

/// An Ethernet device in the state `S`. A configured port is stopped and closed when the port and the last of its queues
/// have been dropped; it cannot be had again. One that has refused to be set up or started is closed, unless its driver would
/// free memory twice (`net_pcap` with `infinite_rx`): then it is left as it is, and the EAL is not cleaned up.
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
    device::take_all(environment).into_iter().map(|device| Port::of(Arc::new(device))).collect()
}

/// The names of all ports, whether or not somebody has taken them.
pub(crate) fn names(eal: &crate::Eal) -> Vec<String> {
    device::names(eal.environment())
}

impl<S> Port<S> {
    const fn of(device: Arc<Device>) -> Self {
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

    /// The device's NUMA node; [`SocketId::ANY`] if it has none, as virtual devices.
    #[doc(alias = "rte_eth_dev_socket_id")]
    #[must_use]
    pub fn socket(&self) -> SocketId {
        // SAFETY: the port exists as long as its `Device`, which `self` holds; the call reads a number.
        SocketId::new(unsafe { sys::rte_eth_dev_socket_id(self.id().get()) })
    }

    /// What the device can do.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not say.
    #[doc(alias = "rte_eth_dev_info_get")]
    pub fn info(&self) -> Result<PortInfo, PortError> {
        self.device.info()
    }

    /// The port's own address. In a secondary process it may be a mix of two, if the primary one changes it at this moment.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not say.
    #[doc(alias = "rte_eth_macaddr_get")]
    pub fn mac_addr(&self) -> Result<crate::MacAddr, PortError> {
        self.device.mac_addr()
    }

    /// The longest payload of a frame, in bytes: without the Ethernet header and the FCS.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not say.
    #[doc(alias = "rte_eth_dev_get_mtu")]
    pub fn mtu(&self) -> Result<u16, PortError> {
        self.device.mtu()
    }
}

impl Port<Unconfigured> {
    /// Configures the port: all RX queues receive into `pool`. If that lies in memory of the program
    /// ([`MempoolBuilder::build_in`](crate::MempoolBuilder::build_in)), the device must be of a driver that is known to leave buffers to their
    /// mbufs: `net_af_packet`, `net_memif`, `net_null`, `net_pcap`, `net_ring`, `net_tap` and `net_vhost`, those that combine them,
    /// `net_e1000_em` by itself, where the memory is DPDK's or registered ([`ExternalMemory`](crate::memory::ExternalMemory)), and
    /// `mlx5_pci`, where it is DPDK's.
    ///
    /// # Errors
    /// [`PortError::Unsupported`] if a number is outside what the device supports, or [`PortError::Lacks`] if it does not have what
    /// is asked for, before anything is changed: the port can be taken from the EAL again. [`PortError::Refused`] if the device refuses: it is closed.
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

    /// As [`Self::configure`], with a pool for each RX queue, in the order of their numbers: pools on the NUMA nodes of the lcores
    /// that receive, or so that lcores do not meet in one. A pool may come several times.
    ///
    /// ```no_run
    /// # use dpdk_rs::{Eal, Mempool, Port, PortConfig, port::Unconfigured};
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
    /// As [`Self::configure`]; also [`PortError::Unsupported`] if there are not as many pools as RX queues.
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
        // Without an RX queue nothing is received into any.
        let data_room = pools.iter().map(|pool| pool.handle().data_room).min().unwrap_or(u16::MAX);
        config.check(&self.device, data_room)?;
        self.device.check_driver(data_room)?;
        for pool in pools {
            self.device.check_buffers(pool.handle())?;
        }
        self.device.configure(config, pools.iter().map(|pool| Arc::clone(pool.handle())).collect())?;
        Ok(Port::of(self.device))
    }
}

impl<P: PrivateData> Port<Configured<P>> {
    /// Starts the port and makes its queues.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device refuses, [`PortError::Lacks`] if it was stopped before and does not work again
    /// ([`PortInfo::restarts`]): it is closed.
    #[doc(alias = "rte_eth_dev_start")]
    pub fn start(self) -> Result<StartedPort<P>, PortError> {
        let (rx, tx) = self.device.start(true)?;
        let rx = (0..rx).map(|queue| RxQueue::new(&self.device, queue)).collect();
        let tx = (0..tx).map(|queue| TxQueue::new(&self.device, queue)).collect();
        Ok((Port::of(self.device), rx, tx))
    }

    /// Starts the port with its queues stopped, to be started one by one. Without
    /// [`PortConfig::deferred_start`] each of them may receive frames before it is stopped here.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the device cannot stop single queues, [`PortError::Refused`] if it refuses: it is closed.
    #[doc(alias = "rte_eth_dev_start")]
    #[doc(alias = "rx_deferred_start")]
    pub fn start_stopped(self) -> Result<StoppedQueues<P>, PortError> {
        let (rx, tx) = self.device.start(false)?;
        let rx = (0..rx).map(|queue| StoppedRxQueue::new(RxQueue::new(&self.device, queue))).collect();
        let tx = (0..tx).map(|queue| StoppedTxQueue::new(TxQueue::new(&self.device, queue))).collect();
        Ok((Port::of(self.device), rx, tx))
    }

    /// Sets the longest payload of a frame, in bytes.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device cannot.
    #[doc(alias = "rte_eth_dev_set_mtu")]
    pub fn set_mtu(&self, mtu: u16) -> Result<(), PortError> {
        self.device.set_mtu(mtu)
    }

    /// Closes the device, which dropping it does too.
    pub fn close(self) {
        drop(self);
    }
}

impl<P: PrivateData> Port<Started<P>> {
    /// Stops the port. Its queues come back, so that nobody can use them any more; a stopped one is started before, or given back.
    ///
    /// # Errors
    /// [`StopError::Queues`] if a queue is missing, or is one of another port: with everything that was passed.
    /// [`StopError::Refused`] if the device refuses: it is closed.
    #[doc(alias = "rte_eth_dev_stop")]
    pub fn stop(self, rx: Vec<RxQueue<P>>, tx: Vec<TxQueue>) -> Result<Port<Configured<P>>, StopError<P>> {
        let device = &self.device;
        let complete = device.queue_counts() == (rx.len(), tx.len());
        if !complete || !rx.iter().all(|queue| queue.is_of(device)) || !tx.iter().all(|queue| queue.is_of(device)) {
            return Err(StopError::Queues(Box::new((self, rx, tx))));
        }
        drop((rx, tx));
        device.stop().map_err(StopError::Refused)?;
        Ok(Port::of(self.device))
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

    /// The state of the link as it is now, without waiting for a negotiation to end.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not say.
    #[doc(alias = "rte_eth_link_get_nowait")]
    pub fn link(&self) -> Result<Link, PortError> {
        self.device.link(false)
    }

    /// The state of the link, after waiting up to 9 seconds for it to come up.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not say.
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
///
/// It can hold queues, which threads do not share. For `anyhow`, which wants errors that may be shared, take the words:
/// `.map_err(|error| anyhow!("{error}"))`; the port and its queues are then stopped by their drop.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum StopError<P: PrivateData = ()> {
    /// Not exactly the port's own queues were given.
    #[error("port {} ({}) needs all its queues back, and no others, to stop", .0.0.id(), .0.0.name())]
    Queues(Box<StartedPort<P>>),
    /// The device refused, and is closed.
    #[error(transparent)]
    Refused(PortError),
}

impl<P: PrivateData> fmt::Debug for StopError<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StopError({self})")
    }
}
