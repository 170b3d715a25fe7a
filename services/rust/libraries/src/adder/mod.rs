// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Adds two numbers over HTTP/1.1, with hyper on tokio: `GET /add/1/2` is answered by `1 + 2 = 3`.

mod page;
mod wire;

use crate::program::{ACCEPT_AGAIN, IDLE_TIMEOUTS, Start};
use core::cell::Cell;
use core::convert::Infallible;
use core::future::ready;
use core::time::Duration;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::error::Error;
use std::rc::Rc;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::runtime;
use tokio::task::spawn_local;
use tokio::time::{sleep, timeout};
use wire::Wire;

/// The maximum length of a head in bytes.
const LONGEST: usize = 8_192;
const MOST_HEADERS: usize = 64;

/// What all connections share.
#[derive(Debug)]
struct Server {
    http: Builder,
    timeout: Duration,
    answered: Cell<u64>,
}

/// Serves until it is stopped.
///
/// # Errors
///
/// What the kernel says.
pub fn serve(start: Start) -> Result<String, Box<dyn Error>> {
    let Start { options, listener, stop } = start;
    let mut http = Builder::new();
    http.max_header_size(LONGEST)
        .max_headers(MOST_HEADERS)
        .half_close(true)
        .auto_date_header(false)
        .timer(TokioTimer::new())
        // Hyper has one for both, the request and the silence before it.
        .header_read_timeout(options.timeout * IDLE_TIMEOUTS);
    let server = Rc::new(Server { http, timeout: options.timeout, answered: Cell::new(0) });
    listener.set_nonblocking(true)?;
    stop.set_nonblocking(true)?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build_local(runtime::LocalOptions::default())?;
    runtime.block_on(async {
        let (listener, stop) = (TcpListener::from_std(listener)?, UnixStream::from_std(stop)?);
        tokio::select! {
            never = server.accept(&listener) => match never {},
            stopped = stop.readable() => stopped,
        }
    })?;
    Ok(format!("{} requests answered", server.answered.get()))
}

impl Server {
    async fn accept(self: &Rc<Self>, listener: &TcpListener) -> Infallible {
        loop {
            match listener.accept().await {
                Ok((stream, _peer)) => {
                    let server = Rc::clone(self);
                    spawn_local(async move { server.connection(stream).await });
                }
                Err(_) => sleep(ACCEPT_AGAIN).await,
            }
        }
    }

    async fn connection(&self, stream: TcpStream) -> Result<(), Box<dyn Error>> {
        // What is written is complete.
        stream.set_nodelay(true)?;
        let mut wire = Wire::new(stream, self.timeout);
        let service = service_fn(|request| {
            self.answered.set(self.answered.get() + 1);
            ready(Ok::<_, Infallible>(page::answer(&request)))
        });
        match self.http.serve_connection(TokioIo::new(&mut wire), service).await {
            Err(error) if error.is_parse_too_large() => wire.write_all(page::TOO_LONG.text().as_bytes()).await?,
            Err(error) if error.is_parse() => wire.write_all(page::MALFORMED.text().as_bytes()).await?,
            other => other?,
        }
        // What still comes is read away, so that the peer gets the last answer and not a reset.
        timeout(self.timeout, wire.close()).await??;
        Ok(())
    }
}
