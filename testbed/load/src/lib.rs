// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Clients that send requests to an echo server, without a device: the frames of many connections, and the check of what
//! comes back. `race-client` joins them to a port, and a test to a stack in memory. Also what the async servers have in common.
#![forbid(unsafe_code)]

mod addresses;
mod back_end;
mod clients;
mod echo;
mod frames;
mod latency;
mod message;
mod page;
mod segment;
mod stream;
mod work;

pub use addresses::{BACK_END, CLIENT_MAC, PORT, PREFIX_LEN, SERVER, SERVER_MAC, STREAM_PORT, first_client};
pub use back_end::Reply;
pub use clients::{Clients, Counters, Mode, Outgoing, Patience};
pub use echo::{accept, echo};
pub use frames::Frames;
pub use latency::{Latencies, Summary};
pub use message::Messages;
pub use stream::{CHUNK, Source, Stream};
pub use work::Work;
