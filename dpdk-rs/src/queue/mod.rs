// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The queues of a started port.
//!
//! The receive and transmit calls do what `rte_eth_rx_burst` and `rte_eth_tx_burst` do. They are rewritten in Rust so that
//! the compiler can inline them: they call through the exported table of fast-path functions, and run the callbacks that
//! packet capture and latency statistics register.

mod burst;
mod callbacks;
mod descriptors;
mod drain_timer;
mod epoll;
mod prepared;
mod rx;
mod rx_interrupt;
mod stopped;
mod tx;
mod tx_buffer;
mod tx_request;

pub use burst::Burst;
pub use descriptors::{RxDescriptor, TxDescriptor};
pub use prepared::PreparedBurst;
pub use rx::RxQueue;
pub use stopped::{QueueRefused, StoppedRxQueue, StoppedTxQueue};
pub use tx::TxQueue;
pub use tx_buffer::TxBuffer;
pub use tx_request::{RequestError, TxRequest};

/// A driver is given at most so many packets, or places for them, in a call. `net_bonding` has 256 bytes on the stack for each
/// packet that it sends, `dpdk-dumpcap` and the latency statistics 8, in arrays that C does not check: a long burst would write
/// past the page that guards the stack.
const MOST_IN_A_CALL: usize = 512;

/// A pointer to this is neither `Send` nor `Sync`, and the compiler's message contains its name. The queues implement
/// `Send` themselves.
struct OneThreadAtATime;
