// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The echo server of a race on tokio and the kernel's sockets, with one thread. Usage: race-tokio. Runs until it is ended.
#![forbid(unsafe_code)]

use core::net::Ipv4Addr;
use testbed_load::{PORT, echo};
use tokio::net::TcpListener;

fn main() -> std::io::Result<()> {
    tokio::runtime::Builder::new_current_thread().enable_io().build()?.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT)).await?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            tokio::spawn(echo(stream));
        }
    })
}
