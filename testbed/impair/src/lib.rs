// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the program `impair` does to the frames of one direction. The time is an argument, and a frame is whatever
//! implements [`Frame`], so that none of this needs DPDK to be tested.
#![forbid(unsafe_code)]

mod decisions;
mod delay_queue;
mod direction;
mod frame;
mod gilbert_elliott;
mod holdback;
mod impairments;
mod token_bucket;

pub use decisions::{Decision, Decisions};
pub use direction::{Counters, Direction};
pub use frame::Frame;
pub use gilbert_elliott::GilbertElliott;
pub use impairments::{Impairments, Reorder};
