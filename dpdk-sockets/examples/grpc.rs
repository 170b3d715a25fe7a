// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors
#![allow(clippy::print_stdout)]

//! Serves gRPC with tonic: the service `grpc.health.v1.Health`, over HTTP/2 without TLS.
//! Usage: grpc [EAL OPTIONS] [-- ADDRESS/PREFIX], by default 192.0.2.1/24. Runs until SIGINT or SIGTERM.
#![forbid(unsafe_code)]

mod startup;

use dpdk_sockets::runtime::{TcpListener, spawn};
use hyper::{rt::Executor, server::conn::http2};
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use std::error::Error;
use tonic::service::Routes;

fn main() -> Result<(), Box<dyn Error>> {
    startup::run("gRPC on TCP port 50051", |_| Ok(serve()))
}

/// Runs each request of a connection as a task.
#[derive(Clone)]
struct Tasks;

impl<F: Future<Output: 'static> + 'static> Executor<F> for Tasks {
    fn execute(&self, future: F) {
        spawn(future);
    }
}

/// In place of `tonic::transport::Server::builder().add_service(health).serve(address).await`.
async fn serve() -> std::io::Result<()> {
    let listener = TcpListener::bind(([0, 0, 0, 0], 50051).into()).await?;
    let (_reporter, health) = tonic_health::server::health_reporter();
    let routes = Routes::new(health).prepare();
    while let Ok((stream, _)) = listener.accept().await {
        let service = TowerToHyperService::new(routes.clone());
        spawn(http2::Builder::new(Tasks).serve_connection(TokioIo::new(stream), service));
    }
    Ok(())
}
