// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Finds out what a frame is, and whose.

mod flow;
mod frame;
mod ipv4;
mod ipv6;
mod segment;
mod undelivered;

pub(crate) use flow::{Flow, Flows};
pub(crate) use frame::{Inbound, Packet, inbound};
pub(crate) use segment::{Segment, Terms};
pub(crate) use undelivered::{Reason, Undelivered};
