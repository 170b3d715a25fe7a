// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What of TCP is done outside the engine: initial sequence numbers, checks of segments that could be forged, resets for
//! nobody's segments, and TIME-WAIT.

mod connection;
mod corrections;
mod growth;
mod info;
mod initial_sequence;
mod noted;
mod replies;
mod retransmission;
mod round_trip;
mod syn_cookie;
mod table;
mod time_wait;

pub(crate) use connection::{Check, Connection, NEVER, Patience, Stage};
pub(crate) use growth::Room;
pub(crate) use initial_sequence::{FIRST_DYNAMIC_PORT, InitialSequence};
pub(crate) use noted::Noted;
pub(crate) use replies::{Reply, reset_for};
pub(crate) use syn_cookie::SynCookies;
pub(crate) use table::ConnectionTable;
pub(crate) use time_wait::{Arrival, TimeWait};
