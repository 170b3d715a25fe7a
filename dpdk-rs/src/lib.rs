// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Safe bindings to [DPDK](https://doc.dpdk.org) 22.11 and newer.
//!
//! A first program, in which every frame goes back where it came from:
//!
//! ```no_run
//! use dpdk_rs::{Burst, Eal, EalOptions, Mempool, PortConfig};
//! use std::{error::Error, io};
//!
//! fn main() -> Result<(), Box<dyn Error>> {
//!     let (eal, _args) = Eal::init(EalOptions::from_command_line())?;
//!     let pool: Mempool = Mempool::builder("pool").build(&eal)?;
//!     let port = eal.ports().into_iter().next().ok_or_else(|| io::Error::other("no port: give one with --vdev or -a"))?;
//!     let (_port, mut rx, mut tx) = port.configure(&PortConfig::default(), &pool)?.start()?;
//!     let mut burst = Burst::<_, 32>::new();
//!     loop {
//!         rx[0].rx(&mut burst);
//!         tx[0].tx(&mut burst);
//!         burst.clear(); // what the device did not take
//!     }
//! }
//! ```
//!
//! It runs without a NIC and without root: `cargo run -- --no-huge -m 64 --no-pci --vdev=net_null0`.
//!
//! The [guide] goes on from here: [a forwarder in 50 lines](guide::forwarder), [coming from C](guide::from_c) with a table of
//! DPDK's functions, [coming from other Rust bindings](guide::from_rust), [what is guaranteed](guide::guarantees),
//! [the structure of a larger program](guide::structure), [performance](guide::performance), and
//! [what there is, with its test](guide::features).
//!
//! The core, and how each part of it ends:
//!
//! | | is | comes from | does | ends by |
//! |---|---|---|---|---|
//! | [`Eal`] | the initialised environment | [`Eal::init`] | [`ports`](Eal::ports), [`lcores`](Eal::lcores), [`clock`](Eal::clock) | clean-up, after everything made from it |
//! | [`Mempool`] | a pool of mbufs | [`Mempool::builder`] | [`alloc`](Mempool::alloc), [`alloc_bulk`](Mempool::alloc_bulk) | freed once every mbuf is back |
//! | [`Port`] | one Ethernet device | [`Eal::ports`] | [`configure`](Port::configure), [`start`](Port::start), [`stop`](Port::stop), [`stats`](Port::stats), [`link`](Port::link) | stop and close, with its last queue |
//! | [`RxQueue`], [`TxQueue`] | a queue of a started port, for one thread at a time | [`Port::start`] | [`rx`](RxQueue::rx), [`tx`](TxQueue::tx), [`stop`](RxQueue::stop) | given back to [`Port::stop`], or dropped |
//! | [`Packet`] | a frame: one mbuf, or a chain | [`RxQueue::rx`], [`Mempool::alloc`] | [`data`](Packet::data), [`data_mut`](Packet::data_mut), [`append`](Packet::append), [`prepend`](Packet::prepend), [`adj`](Packet::adj), [`trim`](Packet::trim), [`segments`](Packet::segments), [`share`](Packet::share), [`copy`](Packet::copy) | returned to its pool |
//! | [`Burst`] | up to `N` packets in place | [`Burst::new`] | [`push`](Burst::push), [`pop`](Burst::pop), [`drain`](Burst::drain), [`retain`](Burst::retain), [`clear`](Burst::clear); is a slice | returned in bulk |
//! | [`lcore::scope`] | closures on lcores, which borrow | | [`launch`](lcore::Scope::launch), [`join`](lcore::JoinHandle::join) | joined before it returns |
//!
//! What else there is:
//!
//! | for | there is |
//! |---|---|
//! | sending | [`TxBuffer`] collects packets and sends them when its drain timer is due; [`TxQueue::prepare`] with a [`TxRequest`] has the device compute checksums, cut TCP segments and insert VLAN tags |
//! | devices | [`EalOptions`], [`device`]: the options of the EAL, virtual devices and PCI addresses as types |
//! | ports | [`port`]: configuration, offloads, RSS, statistics, link, events, reset; [`flow`]: rules that sort packets to queues |
//! | lcores | [`lcore::StopToken`], [`lcore::Registrar`] for threads of the program, [`service`] cores, [`timer`]s |
//! | passing on | [`Ring`]s between lcores, [`memory::ObjectPool`]s |
//! | lookups | [`lookup`]: hash tables, LPM, FIB and ACL; [`meter`]: which packets of a flow are within its rate |
//! | packets | [`fragment`]: IP fragmentation and reassembly; [`offload`]: GSO and GRO in software; [`reorder`]; dynamic fields ([`DynField`]) |
//! | memory | [`memory`]: DPDK's heap, memory zones, memory of the program that devices reach |
//! | processes | [`secondary::Secondary`] attaches to another process (`unsafe`); [`message`]s between them |
//! | observation | [`telemetry`] commands, [`log`], [`latency`], capture ([`Eal::enable_capture`]), [`diagnosis`] of a failed start |
//!
//! No sequence of safe calls is undefined behaviour, in any order of drops, with `mem::forget`, panics or exhausted
//! pools: what DPDK asks of its callers is a type here, or a check, or a reference that keeps alive what is in use.
//!
//! Features: `static` links DPDK's archives and a list of drivers in place of the shared libraries; `serde` makes what a
//! port counts serialisable; `smoltcp` makes a queue pair a device of that TCP/IP stack; `tracing` lets DPDK's
//! [log] go there, or come from there.

mod callback;
mod capture;
mod clock;
pub mod device;
pub mod diagnosis;
mod dynamic;
mod eal;
mod environment;
mod error;
pub mod flow;
pub mod fragment;
#[cfg(any(doc, doctest))]
pub mod guide;
mod hotplug;
mod ids;
pub mod latency;
pub mod lcore;
pub mod log;
pub mod lookup;
mod mac;
pub mod memory;
mod mempool;
pub mod message;
pub mod meter;
#[cfg(all(test, dpdk_stub))]
mod models;
mod name;
mod object;
pub mod offload;
mod options;
mod packet;
pub mod port;
mod prefetch;
mod queue;
pub mod reorder;
pub mod ring;
pub mod secondary;
mod segment;
pub mod service;
#[cfg(feature = "smoltcp")]
pub mod smoltcp;
mod sync;
pub mod telemetry;
pub mod timer;

pub use capture::CaptureError;
pub use clock::{Clock, Tsc};
pub use dynamic::{DynField, DynFlag, DynamicError, RxTimestamp};
pub use environment::{Eal, EalError};
pub use error::Errno;
pub use hotplug::HotplugError;
pub use ids::SocketId;
pub use mac::{MacAddr, ParseMacError};
pub use mempool::{Mempool, MempoolBuilder, MempoolError, PoolCache, PoolDriver, PrivateData};
pub use object::{CreateError, Full};
pub use options::EalOptions;
pub use packet::{BufferError, Checksum, Headers, L2, L3, L4, Packet, PacketError, PacketType, Segments, SegmentsMut};
#[doc(inline)]
pub use port::{Port, PortConfig, PortError, PortId};
pub use prefetch::prefetch;
pub use queue::{
    Burst, PreparedBurst, QueueRefused, RequestError, RxDescriptor, RxQueue, StoppedRxQueue, StoppedTxQueue, TxBuffer,
    TxDescriptor, TxQueue, TxRequest,
};
#[doc(inline)]
pub use ring::Ring;

/// The version of DPDK that runs, for example `22.11.11` (`rte_version`).
#[doc(alias = "rte_version")]
#[must_use]
pub fn dpdk_version() -> String {
    environment::running_version()
}
