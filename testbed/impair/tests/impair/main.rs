// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Runs the program on virtual devices: without root, hugepages or another program. A capture is a device that receives
//! its frames, and then nothing; what is sent is written to another capture.

mod capture;
mod forwarding;
mod process;
mod usage;
