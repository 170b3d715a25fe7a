// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What devices do with long TCP segments, in software: they are cut where the device does not do it (GSO).
//!
//! [`Segmenter`] cuts without copying: each segment is headers of its own, and behind them mbufs that refer to the data of the
//! packet.
//!
//! DPDK believes the lengths that an mbuf says its headers have. Here they are what the frame's bytes say, compared with the
//! frame before DPDK sees it. All is for TCP in IPv4 without tunnels. Of UDP DPDK's GSO makes IP fragments:
//! [`fragment`](crate::fragment) does so too, with a look at all lengths.

mod segmenter;
mod tcp;

pub use segmenter::{SegmentationError, Segmenter};
