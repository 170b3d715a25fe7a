// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Finds out what a frame is, and whose.

mod flow;
mod frame;
mod inbound;
mod ipv4;
mod ipv6;
mod segment;
mod transport;
mod undelivered;

pub(crate) use flow::Flow;
pub(crate) use frame::{flow, inbound};
pub(crate) use inbound::{Datagram, Inbound, Packet};
pub(crate) use segment::{Segment, Terms};
pub(crate) use undelivered::{Reason, Undelivered};
