// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors
#![allow(clippy::print_stdout)]

//! Passes each TCP connection on to another server, until both directions are closed.
//! Usage: proxy [EAL OPTIONS] -- ADDRESS/PREFIX PORT SERVER:PORT. Runs until SIGINT or SIGTERM.
#![forbid(unsafe_code)]

mod startup;

use core::net::SocketAddr;
use dpdk_sockets::runtime::{TcpListener, TcpStream, spawn};
use std::error::Error;
use tokio::io::copy_bidirectional;

fn main() -> Result<(), Box<dyn Error>> {
    startup::run("a proxy on the TCP port of the command line", |args| {
        let [_, port, server] = args else { return Err("give ADDRESS/PREFIX PORT SERVER:PORT".into()) };
        let port = port.parse().map_err(|error| format!("'{port}' is not a port: {error}"))?;
        let server = server.parse().map_err(|error| format!("'{server}': {error}, such as 192.0.2.2:80"))?;
        Ok(serve(port, server))
    })
}

async fn serve(port: u16, server: SocketAddr) -> std::io::Result<()> {
    let listener = TcpListener::bind(([0, 0, 0, 0], port).into()).await?;
    while let Ok((client, _)) = listener.accept().await {
        // Errors of a connection are its own: both sides of it are closed.
        spawn(pass_on(client, server));
    }
    Ok(())
}

/// When one side closes its direction, so does the other; what comes back still passes.
async fn pass_on(mut client: TcpStream, server: SocketAddr) -> std::io::Result<()> {
    let mut server = TcpStream::connect(server).await?;
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}
