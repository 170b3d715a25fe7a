// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors
#![allow(clippy::print_stdout)]

//! Serves an axum application: `/` is a page for browsers, `/visits` counts its visitors.
//! Usage: axum [EAL OPTIONS] [-- ADDRESS/PREFIX], by default 192.0.2.1/24. Runs until SIGINT or SIGTERM.
#![forbid(unsafe_code)]

mod startup;

use axum::extract::{Path, State};
use axum::response::Html;
use axum::{Router, routing::get};
use dpdk_sockets::runtime::{TcpListener, spawn};
use hyper::server::conn::http1;
use hyper_util::{rt::TokioIo, service::TowerToHyperService};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The page asks a second time, for the number of visits until then.
const SCRIPT: &str = "<p id=all></p><script>
fetch('/visits').then(response => response.text()).then(visits => { all.textContent = `of ${visits}`; })
</script>";

fn main() -> Result<(), Box<dyn Error>> {
    let visits = Arc::new(AtomicU64::new(0));
    let app = Router::new()
        .route("/", get(page))
        .route("/visits", get(async |State(visits): State<Arc<AtomicU64>>| visits.load(Relaxed).to_string()))
        .route("/hello/{name}", get(async |Path(name): Path<String>| format!("hello, {name}")))
        .with_state(visits);
    startup::run("an axum application on TCP port 80", |_| Ok(serve(app)))
}

async fn page(State(visits): State<Arc<AtomicU64>>) -> Html<String> {
    let visit = visits.fetch_add(1, Relaxed) + 1;
    Html(format!("<!doctype html><title>axum on DPDK</title><h1>Visit {visit}</h1>{SCRIPT}"))
}

/// In place of `axum::serve(tokio::net::TcpListener::bind("0.0.0.0:80").await?, app).await`.
async fn serve(app: Router) -> std::io::Result<()> {
    let listener = TcpListener::bind(([0, 0, 0, 0], 80).into()).await?;
    while let Ok((stream, _)) = listener.accept().await {
        let service = TowerToHyperService::new(app.clone());
        spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
    Ok(())
}
