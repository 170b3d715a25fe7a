// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! An echo server's work, on sockets of tokio's traits.

use crate::addresses::{PORT, SERVER};
use dpdk_sockets::runtime::{TcpListener, spawn};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Sends back what a connection brings, until the client closes.
///
/// # Errors
///
/// What reading or writing returns.
pub async fn echo(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    let mut bytes = [0; 128];
    loop {
        let len = stream.read(&mut bytes).await?;
        if len == 0 {
            return Ok(());
        }
        stream.write_all(&bytes[..len]).await?;
    }
}

/// Serves the connections to a stack's port, until the runtime ends.
pub async fn accept() {
    let Ok(listener) = TcpListener::bind((SERVER, PORT).into()).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        spawn(echo(stream));
    }
}
