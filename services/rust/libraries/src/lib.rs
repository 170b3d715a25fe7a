// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The services with libraries: the adder on hyper, the proxy on tokio and on io_uring; and the echo server with the
//! standard library alone.
#![forbid(unsafe_code)]

pub mod adder;
pub mod echo;
pub mod program;
pub mod proxy;
