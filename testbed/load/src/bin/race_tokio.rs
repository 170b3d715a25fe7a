// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The echo server of a race on tokio and the kernel's sockets, with one thread. Usage: race-tokio. Runs until it is ended.
#![forbid(unsafe_code)]

use core::net::Ipv4Addr;
use testbed_load::PORT;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

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

async fn echo(mut stream: TcpStream) -> std::io::Result<()> {
    let mut bytes = [0; 128];
    loop {
        let len = stream.read(&mut bytes).await?;
        if len == 0 {
            return Ok(());
        }
        stream.write_all(&bytes[..len]).await?;
    }
}
