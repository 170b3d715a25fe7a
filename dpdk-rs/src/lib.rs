// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Safe bindings to [DPDK](https://doc.dpdk.org) 22.11 and newer.
//!
//! | type | is | ends by |
//! |---|---|---|
//! | [`Eal`] | the initialised environment, on the thread that made it | clean-up, after everything made from it |
//! | [`Mempool`] | a pool of mbufs | freed once every mbuf is back |
//! | [`Port`] | one Ethernet device: unconfigured, configured or started | stop and close, with its last queue |
//! | [`RxQueue`], [`TxQueue`] | one queue of a started port, for one thread at a time | |
//! | [`Packet`] | one mbuf, or a chain of them | returned to its pool |
//! | [`Burst`] | up to `N` packets | returned in bulk |
//! | [`TxBuffer`] | a queue with frames waiting for it | dropped and counted |
//! | [`lcore::scope`] | closures on EAL lcores | joined before it returns |
//!
//! A forwarder between two ports, each with one queue:
//!
//! ```no_run
//! use dpdk_rs::{Burst, Eal, Mempool, PortConfig};
//!
//! let (eal, _args) = Eal::init(std::env::args())?;
//! let pool: Mempool = Mempool::builder("pool").size(8191).build(&eal)?;
//! let mut queues = Vec::new();
//! for port in eal.ports() {
//!     let (_port, mut rx, mut tx) = port.configure(&PortConfig::default(), &pool)?.start()?;
//!     queues.extend(rx.pop().zip(tx.pop()));
//! }
//! if let [(rx0, tx0), (rx1, tx1)] = queues.as_mut_slice() {
//!     let mut burst = Burst::<_, 32>::new();
//!     loop {
//!         for (rx, tx) in [(&mut *rx0, &mut *tx1), (&mut *rx1, &mut *tx0)] {
//!             rx.rx(&mut burst);
//!             tx.tx(&mut burst);
//!             burst.clear(); // what the device did not take
//!         }
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! No sequence of safe calls is undefined behaviour, in any order of drops, with `mem::forget`, panics or exhausted
//! pools: what DPDK asks of its callers is a type here, or a check, or a reference that keeps alive what is in use.

mod burst;
mod clock;
mod eal;
mod error;
pub mod lcore;
mod mac;
mod mempool;
mod packet;
pub mod port;
mod queue;
mod segment;
mod tx_buffer;

pub use burst::Burst;
pub use clock::{Clock, Tsc};
pub use eal::{Eal, EalError};
pub use error::Errno;
pub use mac::{MacAddr, ParseMacError};
pub use mempool::{Mempool, MempoolBuilder, MempoolError, PrivateData, SocketId};
pub use packet::{Packet, PacketError, Segments, SegmentsMut};
pub use port::{Port, PortConfig, PortError, PortId};
pub use queue::{RxQueue, TxQueue};
pub use tx_buffer::TxBuffer;

/// The version of DPDK that runs, for example `22.11.11` (`rte_version`).
#[doc(alias = "rte_version")]
#[must_use]
pub fn dpdk_version() -> String {
    eal::running_version()
}
