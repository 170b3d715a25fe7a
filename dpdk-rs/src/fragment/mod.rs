// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! IP fragmentation: splitting datagrams that are longer than a link's MTU, and reassembling them.
//!
//! [`Fragmenter`] splits without copying: each fragment has its own header, followed by mbufs that refer to the data of
//! the datagram. [`FragmentTable`] keeps fragments until a datagram is complete, and joins them, also without copying.
//!
//! Both take frames that begin with the Ethernet header, and the length of that header (14 bytes, or 18 or 22 with VLAN
//! tags). Both check all lengths before DPDK sees them, since DPDK trusts headers: a frame with a wrong length is an
//! error, and is returned.

mod fragmenter;
pub(crate) mod header;
mod table;

pub use fragmenter::{FragmentError, Fragmenter};
pub use header::HeaderError;
pub use table::{FragmentTable, FragmentTableBuilder, ReassemblyError};
