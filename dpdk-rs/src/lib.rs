// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Safe bindings to [DPDK](https://doc.dpdk.org) 22.11 and newer.
//!
//! A first program, in which every frame goes back where it came from:
//!
//! ```no_run
//! use dpdk_rs::{Burst, Eal, Mempool, PortConfig};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let (eal, _args) = Eal::init(std::env::args())?;
//!     let pool: Mempool = Mempool::builder("pool").build(&eal)?;
//!     let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;
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
//! What there is, where it comes from, and how it ends:
//!
//! | | is | comes from | does | ends by |
//! |---|---|---|---|---|
//! | [`Eal`] | the initialised environment | [`Eal::init`] | [`ports`](Eal::ports), [`lcores`](Eal::lcores), [`clock`](Eal::clock) | clean-up, after everything made from it |
//! | [`Mempool`] | a pool of mbufs | [`Mempool::builder`] | [`alloc`](Mempool::alloc), [`alloc_bulk`](Mempool::alloc_bulk) | freed once every mbuf is back |
//! | [`Port`] | one Ethernet device | [`Eal::ports`] | [`configure`](Port::configure), [`start`](Port::start), [`stop`](Port::stop), [`stats`](Port::stats), [`link`](Port::link) | stop and close, with its last queue |
//! | [`RxQueue`], [`TxQueue`] | a queue of a started port, for one thread at a time | [`Port::start`] | [`rx`](RxQueue::rx), [`tx`](TxQueue::tx), [`stop`](RxQueue::stop) | given back to [`Port::stop`], or dropped |
//! | [`Packet`] | a frame: one mbuf, or a chain | [`RxQueue::rx`], [`Mempool::alloc`] | [`data`](Packet::data), [`data_mut`](Packet::data_mut), [`append`](Packet::append), [`prepend`](Packet::prepend), [`adj`](Packet::adj), [`trim`](Packet::trim), [`segments`](Packet::segments), [`share`](Packet::share), [`copy`](Packet::copy) | returned to its pool |
//! | [`Burst`] | up to `N` packets in place | [`Burst::new`] | [`push`](Burst::push), [`pop`](Burst::pop), [`drain`](Burst::drain), [`retain`](Burst::retain), [`clear`](Burst::clear); is a slice | returned in bulk |
//! | [`TxBuffer`] | a queue with frames waiting for it | [`TxBuffer::new`] | [`push`](TxBuffer::push), [`append`](TxBuffer::append), [`drain`](TxBuffer::drain), [`flush`](TxBuffer::flush) | dropped and counted |
//! | [`Ring`] | a queue between lcores | [`Ring::builder`] | [`enqueue`](Ring::enqueue), [`dequeue`](Ring::dequeue), and in bulk | what is in it is dropped with its last handle |
//! | [`lookup`] | hash, LPM, FIB and ACL tables | their builders | look up, by any number of threads | freed when dropped |
//! | [`meter`] | which packets of a flow are within its rate | their parameters | | |
//! | [`fragment`] | IP datagrams taken apart and joined | builders | | drops what is in it |
//! | [`offload`] | TCP segments cut and joined in software (GSO, GRO) | pools, builders | | drops what is in it |
//! | [`reorder::Reorder`] | packets that come out in the order of their numbers | [`Reorder::builder`](reorder::Reorder::builder) | [`insert`](reorder::Reorder::insert), [`drain`](reorder::Reorder::drain) | drops what is in it |
//! | [`memory`] | values in DPDK's memory | [`Eal::heap`], builders | | freed when dropped |
//! | [`timer::Timer`] | a closure that an lcore calls later | [`timer::Timers`] | [`arm`](timer::Timer::arm), [`stop`](timer::Timer::stop) | stopped when dropped |
//! | [`secondary::Secondary`] | what another process has made | [`attach`](secondary::Secondary::attach), `unsafe` | finds pools, rings and ports by name | frees nothing |
//! | [`message`] | bytes and files for other processes | [`Eal::messages`] | [`send`](message::Messages::send), [`request`](message::Messages::request), [`on`](message::Messages::on) | |
//! | [`service`] | closures that lcores call again and again | [`Eal::register_service`] | [`run_on`](service::Service::run_on) | ended when dropped |
//! | [`lcore::scope`] | closures on lcores, which borrow | | [`launch`](lcore::Scope::launch), [`join`](lcore::JoinHandle::join) | joined before it returns |
//!
//! No sequence of safe calls is undefined behaviour, in any order of drops, with `mem::forget`, panics or exhausted
//! pools: what DPDK asks of its callers is a type here, or a check, or a reference that keeps alive what is in use.
//!
//! Features: `static` links DPDK's archives and a list of drivers in place of the shared libraries; `serde` makes what a
//! port counts serialisable; `smoltcp` makes a queue pair a device of that TCP/IP stack; `tracing` lets DPDK's
//! [log] go there, or come from there.

mod burst;
mod callback;
mod capture;
mod clock;
mod control;
pub mod diagnosis;
mod dynamic;
mod eal;
mod error;
pub mod flow;
pub mod fragment;
#[cfg(any(doc, doctest))]
pub mod guide;
mod hotplug;
pub mod latency;
pub mod lcore;
pub mod log;
pub mod lookup;
mod mac;
pub mod memory;
mod mempool;
pub mod message;
pub mod meter;
mod object;
pub mod offload;
mod packet;
pub mod port;
mod prepared;
mod queue;
mod queue_state;
mod queue_status;
pub mod reorder;
pub mod ring;
mod rx_interrupt;
pub mod secondary;
mod segment;
pub mod service;
#[cfg(feature = "smoltcp")]
pub mod smoltcp;
pub mod telemetry;
pub mod timer;
mod tx_buffer;

pub use burst::Burst;
pub use capture::CaptureError;
pub use clock::{Clock, Tsc};
pub use dynamic::{DynField, DynFlag, DynamicError, RxTimestamp};
pub use eal::{Eal, EalError};
pub use error::Errno;
pub use hotplug::HotplugError;
pub use mac::{MacAddr, ParseMacError};
pub use mempool::{Mempool, MempoolBuilder, MempoolError, PoolCache, PoolDriver, PrivateData, SocketId};
pub use object::{CreateError, Full};
pub use packet::{BufferError, Checksum, Headers, L2, L3, L4, Packet, PacketError, PacketType, Segments, SegmentsMut};
#[doc(inline)]
pub use port::{Port, PortConfig, PortError, PortId};
pub use prepared::{PreparedBurst, RequestError, TxRequest};
pub use queue::{RxQueue, TxQueue};
pub use queue_state::{QueueRefused, StoppedRxQueue, StoppedTxQueue};
pub use queue_status::{RxDescriptor, TxDescriptor};
#[doc(inline)]
pub use ring::Ring;
pub use tx_buffer::TxBuffer;

/// The version of DPDK that runs, for example `22.11.11` (`rte_version`).
#[doc(alias = "rte_version")]
#[must_use]
pub fn dpdk_version() -> String {
    eal::running_version()
}
