// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Software replacements for device offloads of long TCP segments: cutting them before transmission (GSO) and joining
//! them after reception (GRO).
//!
//! [`Segmenter`] cuts without copying: each segment has its own headers, followed by mbufs that refer to the data of
//! the packet. [`GroTable`] keeps received segments for a short time and joins consecutive ones, also without copying.
//! [`join_burst`] does so within one burst.
//!
//! DPDK trusts the lengths of the headers in an mbuf. Here they are derived from the frame's bytes and compared with
//! the frame before DPDK sees it. Both handle TCP in IPv4 without tunnels. For UDP, DPDK's GSO would make IP fragments
//! and its GRO would join them: [`fragment`](crate::fragment) does both, and checks all lengths.

mod candidate;
mod error;
mod gro;
mod segmenter;
mod tcp;

pub use error::SegmentationError;
pub use gro::{GroTable, GroTableBuilder, join_burst};
pub use segmenter::Segmenter;
