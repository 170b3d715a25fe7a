// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! With tokio, on one thread.

use super::{Counters, End, ROOM};
use crate::program::{ACCEPT_AGAIN, IDLE_TIMEOUTS, Start};
use core::cell::Cell;
use core::net::SocketAddr;
use core::time::Duration;
use socket2::SockRef;
use std::error::Error;
use std::io;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::runtime::{Builder, LocalOptions};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio::{select, try_join};

/// Passes connections on until it is stopped, and then until all have ended.
///
/// # Errors
///
/// What the kernel says.
pub fn serve(start: Start) -> Result<String, Box<dyn Error>> {
    Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?.block_on(pass_on(start))
}

async fn pass_on(start: Start) -> Result<String, Box<dyn Error>> {
    let Start { options, listener, stop } = start;
    let to = options.to.ok_or("no address to connect to: see --help")?;
    listener.set_nonblocking(true)?;
    stop.set_nonblocking(true)?;
    let (listener, stop) = (TcpListener::from_std(listener)?, UnixStream::from_std(stop)?);
    let (mut counters, mut pairs) = (Counters::default(), JoinSet::new());
    loop {
        select! {
            biased;
            stopped = stop.readable() => break stopped?,
            Some(end) = pairs.join_next() => counters.count(end?),
            accepted = listener.accept() => match accepted {
                Ok((client, _peer)) if pairs.len() < options.limit => {
                    pairs.spawn_local(join(client, to, options.timeout));
                }
                Ok((client, _peer)) => {
                    counters.over_limit += 1;
                    let _ = client.set_zero_linger(); // else it ends without a reset
                }
                Err(_) => sleep(ACCEPT_AGAIN).await,
            },
        }
    }
    drop(listener);
    let last = sleep(options.timeout);
    tokio::pin!(last);
    while !pairs.is_empty() {
        select! {
            Some(end) = pairs.join_next() => counters.count(end?),
            () = &mut last => {
                (0..pairs.len()).for_each(|_| counters.count(End::Broken));
                pairs.shutdown().await;
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
    if pass_both(client, back_end, patience * IDLE_TIMEOUTS).await.is_ok() { End::Over } else { End::Broken }
}

async fn pass_both(mut client: TcpStream, mut back_end: TcpStream, patience: Duration) -> io::Result<()> {
    for stream in [&client, &back_end] {
        // What comes is passed on at once.
        stream.set_nodelay(true)?;
    }
    let moved = Cell::new(Instant::now());
    let (from_client, to_client) = client.split();
    let (from_back_end, to_back_end) = back_end.split();
    let both = async { try_join!(pass(from_client, to_back_end, &moved), pass(from_back_end, to_client, &moved)) };
    select! {
        ended = both => { ended?; }
        silent = silence(&moved, patience) => silent?,
    };
    for stream in [&client, &back_end] {
        SockRef::from(stream).set_linger(None)?;
    }
    Ok(())
}

/// Passes bytes on, and their end.
async fn pass(mut from: ReadHalf<'_>, mut to: WriteHalf<'_>, moved: &Cell<Instant>) -> io::Result<()> {
    let mut room = Vec::with_capacity(ROOM);
    loop {
        room.clear();
        if from.read_buf(&mut room).await? == 0 {
            return to.shutdown().await;
        }
        moved.set(Instant::now());
        let mut rest = &room[..];
        while !rest.is_empty() {
            rest = &rest[to.write(rest).await?..];
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
