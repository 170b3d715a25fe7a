// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Finds out what a frame is, and whose.

mod flow;
mod frame;

pub(crate) use flow::{Flow, Flows};
pub(crate) use frame::{Inbound, Reason, Segment, Undelivered, inbound, is_unicast};
