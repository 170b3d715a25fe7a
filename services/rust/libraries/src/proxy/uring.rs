// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! With compio, on one io_uring.
//!
//! Of the runtimes on io_uring, compio is the one that is alive: 0.19.2 is of August 2026, and the next one has a beta.
//! The last releases of monoio (0.2.4), tokio-uring (0.5.0) and glommio (0.9.0) are of 2024. tokio itself uses io_uring
//! for files only, and not in its stable part.

use super::{Counters, End, ROOM};
use crate::program::{ACCEPT_AGAIN, IDLE_TIMEOUTS, Start};
use compio::BufResult;
use compio::buf::{IntoInner as _, IoBuf as _};
use compio::driver::ProactorBuilder;
use compio::io::{AsyncRead as _, AsyncWrite as _};
use compio::net::{TcpListener, TcpStream, UnixStream};
use compio::runtime::{Runtime, spawn};
use compio::time::{sleep, sleep_until, timeout};
use core::cell::Cell;
use core::net::SocketAddr;
use core::pin::pin;
use core::time::Duration;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _, select_biased, try_join};
use socket2::SockRef;
use std::error::Error;
use std::io;
use std::time::Instant;

/// Passes connections on until it is stopped, and then until all have ended.
///
/// # Errors
///
/// What the kernel says.
pub fn serve(start: Start) -> Result<String, Box<dyn Error>> {
    let mut ring = ProactorBuilder::new();
    // The kernel does its part when this thread waits, and does not interrupt it.
    ring.single_issuer(true).defer_taskrun(true);
    let runtime = Runtime::builder().with_proactor(ring).build().map_err(|error| {
        format!("no io_uring: {error}: use Linux 6.1 or newer, with 0 in /proc/sys/kernel/io_uring_disabled")
    })?;
    runtime.block_on(pass_on(start))
}

async fn pass_on(start: Start) -> Result<String, Box<dyn Error>> {
    let Start { options, listener, stop } = start;
    let to = options.to.ok_or("no address to connect to: see --help")?;
    let (listener, mut stop) = (TcpListener::from_std(listener)?, UnixStream::from_std(stop)?);
    let (mut counters, mut pairs) = (Counters::default(), FuturesUnordered::new());
    let mut stopped = pin!(stop.read([0]).fuse());
    let mut incoming = listener.incoming();
    loop {
        select_biased! {
            _ = stopped => break,
            end = pairs.select_next_some() => counters.count(end?),
            accepted = incoming.select_next_some() => match accepted {
                Ok(client) if pairs.len() < options.limit => pairs.push(spawn(join(client, to, options.timeout))),
                Ok(client) => {
                    counters.over_limit += 1;
                    let _ = client.set_zero_linger(); // else it ends without a reset
                }
                Err(_) => sleep(ACCEPT_AGAIN).await,
            },
        }
    }
    drop(incoming);
    drop(listener);
    let mut last = pin!(sleep(options.timeout).fuse());
    while !pairs.is_empty() {
        select_biased! {
            end = pairs.select_next_some() => counters.count(end?),
            () = last => {
                pairs.iter().for_each(|_| counters.count(End::Broken));
                pairs.clear();
            }
        }
    }
    Ok(counters.to_string())
}

/// Joins a client to the back end, and passes on what comes from both.
async fn join(client: TcpStream, to: SocketAddr, patience: Duration) -> End {
    // As long as it has not ended well, closing it is a reset.
    let _ = client.set_zero_linger();
    let Ok(Ok(back_end)) = timeout(patience, TcpStream::connect(to)).await else { return End::Refused };
    let _ = back_end.set_zero_linger();
    if pass_both(&client, &back_end, patience * IDLE_TIMEOUTS).await.is_ok() { End::Over } else { End::Broken }
}

async fn pass_both(client: &TcpStream, back_end: &TcpStream, patience: Duration) -> io::Result<()> {
    for stream in [client, back_end] {
        // What comes is passed on at once.
        stream.set_nodelay(true)?;
    }
    let moved = Cell::new(Instant::now());
    let both = async { try_join!(pass(client, back_end, &moved), pass(back_end, client, &moved)) };
    select_biased! {
        ended = pin!(both.fuse()) => { ended?; }
        silent = pin!(silence(&moved, patience).fuse()) => silent?,
    };
    for stream in [client, back_end] {
        SockRef::from(stream).set_linger(None)?;
    }
    Ok(())
}

/// Passes bytes on, and their end.
async fn pass(mut from: &TcpStream, mut to: &TcpStream, moved: &Cell<Instant>) -> io::Result<()> {
    let mut room = Vec::with_capacity(ROOM);
    loop {
        room.clear();
        let BufResult(result, filled) = from.read(room).await;
        let len = result?;
        if len == 0 {
            return to.shutdown().await;
        }
        moved.set(Instant::now());
        room = filled;
        let mut sent = 0;
        while sent < len {
            let BufResult(result, slice) = to.write(room.slice(sent..)).await;
            sent += result?;
            room = slice.into_inner();
            moved.set(Instant::now());
        }
    }
}

/// Fails when nothing has moved for so long.
async fn silence(moved: &Cell<Instant>, patience: Duration) -> io::Result<()> {
    while moved.get().elapsed() < patience {
        sleep_until(moved.get() + patience).await;
    }
    Err(io::ErrorKind::TimedOut.into())
}
