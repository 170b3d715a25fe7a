// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors
#![allow(clippy::print_stdout)]

//! Serves a page over HTTPS: TLS 1.3 by rustls, HTTP by hyper.
//! Usage: https [EAL OPTIONS] -- ADDRESS/PREFIX CERTIFICATE.pem KEY.pem. Runs until SIGINT or SIGTERM.
#![forbid(unsafe_code)]

mod startup;

use core::time::Duration;
use dpdk_sockets::runtime::{TcpListener, spawn, timeout};
use hyper::server::conn::http1;
use hyper::{Request, Response, body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use std::error::Error;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

/// How long a TLS handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);

fn main() -> Result<(), Box<dyn Error>> {
    startup::run("HTTPS on TCP port 443", |args| {
        let [_, certificate, key] = args else { return Err("give ADDRESS/PREFIX CERTIFICATE.pem KEY.pem".into()) };
        let chain = CertificateDer::pem_file_iter(certificate).map_err(|error| format!("{certificate}: {error}"))?;
        let chain = chain.collect::<Result<_, _>>().map_err(|error| format!("{certificate}: {error}"))?;
        let key = PrivateKeyDer::from_pem_file(key).map_err(|error| format!("{key}: {error}"))?;
        let config = ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key)?;
        Ok(serve(TlsAcceptor::from(Arc::new(config))))
    })
}

async fn serve(tls: TlsAcceptor) -> std::io::Result<()> {
    let listener = TcpListener::bind(([0, 0, 0, 0], 443).into()).await?;
    while let Ok((stream, _)) = listener.accept().await {
        let tls = tls.clone();
        spawn(async move {
            let Ok(Ok(stream)) = timeout(HANDSHAKE, tls.accept(stream)).await else { return };
            // Errors of a connection are its own.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(page)).await;
        });
    }
    Ok(())
}

async fn page(request: Request<Incoming>) -> Result<Response<String>, hyper::http::Error> {
    Response::builder().body(format!("{} over TLS\n", request.uri().path()))
}
