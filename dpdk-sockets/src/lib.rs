// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! TCP and UDP for DPDK programs: one [`Stack`] for each lcore and queue pair, nothing shared, and the same cost for a segment with
//! one connection as with 100,000.
//!
//! The program polls: [`Stack::poll`] receives and sends frames, and [`Stack::next_event`] returns what happened. It never
//! blocks and never waits for another thread.
//!
//! [`group`] has stacks for several lcores that serve the same addresses. [`runtime`] has async sockets with tokio's names, and an
//! executor that polls them together with the stack. [`watch`] says what can be seen of a stack while it runs.
//!
#![doc = include_str!("../docs/echo.md")]
#![forbid(unsafe_code)]
#![cfg_attr(not(all(feature = "futures", feature = "tokio")), allow(dead_code, reason = "their traits call the rest"))]

mod checksum;
mod config;
mod demux;
mod engine;
mod error;
mod ethernet;
mod event;
pub mod group;
mod icmp;
mod ip;
mod link;
pub mod runtime;
mod stack;
mod tcp;
mod time;
mod timers;
mod udp;
pub mod watch;
pub mod wire;

pub use config::{Config, CongestionControl, Route};
pub use error::{ConfigError, ConnectError, ConnectionError, ListenError, SendToError};
pub use event::{ConnectionId, Ended, Event, ListenerId, UdpId};
pub use ipnet::IpNet;
pub use stack::Stack;
pub use watch::Counters;
