// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors
#![allow(clippy::print_stdout)]

//! Serves HTTP with hyper: `GET /` says who asks, and `POST /echo` sends the body back as it comes.
//! Usage: http [EAL OPTIONS] [-- ADDRESS/PREFIX], by default 192.0.2.1/24. Runs until SIGINT or SIGTERM.
#![forbid(unsafe_code)]

mod startup;

use core::net::SocketAddr;
use dpdk_sockets::runtime::{TcpListener, spawn};
use http_body_util::{Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response, StatusCode, server::conn::http1, service::service_fn};
use hyper_util::{rt::TokioIo, server::graceful::GracefulShutdown};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    startup::run("HTTP on TCP port 80", |_| Ok(serve()))
}

async fn serve() -> std::io::Result<()> {
    let listener = TcpListener::bind(([0, 0, 0, 0], 80).into()).await?;
    let graceful = GracefulShutdown::new();
    // Until the runtime ends.
    while let Ok((stream, peer)) = listener.accept().await {
        let service = service_fn(move |request| answer(request, peer));
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        spawn(graceful.watch(connection));
    }
    // Connections that wait for a request are closed now, others after their response.
    graceful.shutdown().await;
    Ok(())
}

type Body = Either<Full<Bytes>, Incoming>;

async fn answer(request: Request<Incoming>, peer: SocketAddr) -> Result<Response<Body>, hyper::http::Error> {
    let text = |text: String| Either::Left(Full::new(Bytes::from(text)));
    let (status, body) = match (request.method(), request.uri().path()) {
        (&Method::GET, "/") => (StatusCode::OK, text(format!("hello, {}\n", peer.ip()))),
        (&Method::POST, "/echo") => (StatusCode::OK, Either::Right(request.into_body())),
        (method, path) => (StatusCode::NOT_FOUND, text(format!("there is no {method} {path}\n"))),
    };
    Response::builder().status(status).body(body)
}
