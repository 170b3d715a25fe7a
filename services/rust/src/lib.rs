// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Small network services, each from one source for the kernel's sockets and for dpdk-sockets.
//!
//! [`sockets`] is the seam: what a service sees of either. The services do not know what they run on.
#![forbid(unsafe_code)]

pub mod adder;
mod connection;
pub mod echo;
pub mod http;
pub mod origin;
pub mod program;
pub mod proxy;
pub mod running;
pub mod server;
pub mod service;
pub mod sockets;
