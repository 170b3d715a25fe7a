// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Sends back messages of any size, marked as replies, with the standard library and a pool of threads.
//!
//! The standard library cannot wait for several connections at a time: it has no epoll. A thread for each connection
//! could wait for it, but then there would be no pool. So each thread of the pool has its share of the connections, and
//! gives each a turn, one after the other: it reads what has come, answers, and never waits for a peer. When nothing
//! has moved in a round, the thread waits for something to come if it has one connection only. With more of them it
//! sleeps, longer from round to round. An idle connection costs a system call in each round, and the first message
//! after a silence may wait for as long as the thread sleeps.

mod connection;
mod message;

use crate::program::{ACCEPT_AGAIN, Start};
use connection::{Connection, Turn};
use core::time::Duration;
use std::error::Error;
use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Instant;

/// So much is read at a time.
const ROOM: usize = 16_384;
/// A thread sleeps so long after the first round in which nothing has moved.
const SHORTEST: Duration = Duration::from_micros(50);
/// And so long after many of them.
const LONGEST: Duration = Duration::from_millis(10);

/// Serves until it is stopped.
///
/// # Errors
///
/// What the kernel says.
pub fn serve(start: Start) -> Result<String, Box<dyn Error>> {
    let Start { options, listener, mut stop } = start;
    let answered = Arc::new(AtomicU64::new(0));
    let mut pool = Vec::new();
    for _ in 0..options.threads {
        let (sender, inbox) = channel();
        pool.push(sender);
        let answered = Arc::clone(&answered);
        thread::Builder::new().spawn(move || work(&inbox, options.timeout, &answered))?;
    }
    thread::Builder::new().spawn(move || accept(&listener, &pool))?;
    // The threads end with the program.
    stop.read_exact(&mut [0])?;
    Ok(format!("{} requests answered", answered.load(Relaxed)))
}

/// Gives each thread of the pool a connection, again and again.
fn accept(listener: &TcpListener, pool: &[Sender<TcpStream>]) {
    for thread in pool.iter().cycle() {
        match listener.accept() {
            // A thread never ends.
            Ok((stream, _peer)) => drop(thread.send(stream)),
            Err(_) => thread::sleep(ACCEPT_AGAIN),
        }
    }
}

/// What a thread of the pool does.
fn work(inbox: &Receiver<TcpStream>, timeout: Duration, answered: &AtomicU64) {
    let (mut connections, mut room) = (Vec::<Connection>::new(), vec![0; ROOM]);
    let (mut has_moved, mut pause) = (false, SHORTEST);
    loop {
        let mut first = None;
        match &connections[..] {
            [] => first = inbox.recv().ok(),
            _ if has_moved => (),
            [only] if only.can_wait() => only.wait(),
            _ => thread::sleep(pause),
        }
        let now = Instant::now();
        let come = first.into_iter().chain(inbox.try_iter());
        connections.extend(come.filter_map(|stream| Connection::new(stream, LONGEST, now).ok()));
        has_moved = false;
        connections.retain_mut(|connection| match connection.turn(&mut room, timeout, now) {
            Turn::Moved(messages) => {
                answered.fetch_add(messages, Relaxed);
                has_moved = true;
                true
            }
            Turn::Nothing => true,
            Turn::Over => false,
        });
        pause = if has_moved { SHORTEST } else { LONGEST.min(pause * 2) };
    }
}
