// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What devices do with long TCP segments, in software: they are cut where the device does not do it (GSO), and joined where it has
//! not done it (GRO).
//!
//! [`Segmenter`] cuts without copying: each segment is headers of its own, and behind them mbufs that refer to the data of the
//! packet. [`GroTable`] keeps received segments for a while and joins those that follow one another, without copying too;
//! [`join_burst`] does so within one burst.
//!
//! DPDK believes the lengths that an mbuf says its headers have. Here they are what the frame's bytes say, compared with the
//! frame before DPDK sees it. All is for TCP in IPv4 without tunnels. Of UDP DPDK's GSO makes IP fragments, and its GRO joins
//! them: [`fragment`](crate::fragment) does both, with a look at all lengths.

mod candidate;
mod gro;
mod segmenter;
mod tcp;

pub use gro::{GroTable, GroTableBuilder, join_burst};
pub use segmenter::{SegmentationError, Segmenter};
