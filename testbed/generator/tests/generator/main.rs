// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Runs the generator on virtual devices of one process: without root, hugepages or a forwarder.
//!
//! A ring device gives back on a port what was sent on it; a pair of memif devices is a wire between two ports.

mod account;
mod ending;
mod process;
mod usage;
