// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Fragments of IP datagrams: made where a datagram is longer than a link takes, and joined again.
//!
//! [`Fragmenter`] makes them without copying: each is a header of its own, and behind it mbufs that refer to the data of the
//! datagram. [`FragmentTable`] keeps fragments until a datagram is whole, and joins them without copying too.
//!
//! Both take frames from the Ethernet header on, and are told how long that is (with VLAN tags 18 or 22 bytes). Both look
//! at all lengths before DPDK, which believes what headers say: a frame that lies is an error, and is given back.

mod fragmenter;
pub(crate) mod header;
mod table;

pub use fragmenter::{FragmentError, Fragmenter};
pub use header::HeaderError;
pub use table::{FragmentTable, FragmentTableBuilder, ReassemblyError};
