// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! One client of the pool.

use super::message::Echo;
use crate::program::IDLE_TIMEOUTS;
use core::time::Duration;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::Instant;

/// What a turn has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Something has come or gone, and so many messages were answered.
    Moved(u64),
    /// There was nothing to do.
    Nothing,
    /// The connection can be closed.
    Over,
}

#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    echo: Echo,
    /// What is to be sent.
    output: Vec<u8>,
    /// Whether the direction to the peer is closed.
    is_shut_down: bool,
    /// When something came or went last.
    active: Instant,
}

impl Connection {
    /// A connection that does not wait, except in [`wait`](Self::wait) for so long.
    pub(super) fn new(stream: TcpStream, longest: Duration, now: Instant) -> io::Result<Self> {
        // What is written is complete.
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        stream.set_read_timeout(Some(longest))?;
        Ok(Self { stream, echo: Echo::default(), output: Vec::new(), is_shut_down: false, active: now })
    }

    /// Sends what is to be sent, and reads and answers once.
    pub(super) fn turn(&mut self, room: &mut [u8], timeout: Duration, now: Instant) -> Turn {
        let turn = self.go_on(room).unwrap_or(Turn::Over);
        match turn {
            Turn::Nothing if now - self.active >= self.patience(timeout) => return Turn::Over,
            // After the last answer it is time to close, whatever still comes.
            Turn::Moved(_) if !self.is_shut_down => self.active = now,
            _ => (),
        }
        turn
    }

    fn go_on(&mut self, room: &mut [u8]) -> io::Result<Turn> {
        // What was not sent is not added to: the peer has to read first.
        let held = self.output.len();
        self.flush()?;
        if !self.output.is_empty() {
            return Ok(if self.output.len() < held { Turn::Moved(0) } else { Turn::Nothing });
        }
        let len = match self.stream.read(room) {
            Ok(0) => return Ok(Turn::Over),
            Err(error) if is_for_later(&error) => return Ok(Turn::Nothing),
            result => result?,
        };
        let answered = self.echo.take(&room[..len], &mut self.output);
        self.flush()?;
        Ok(Turn::Moved(answered))
    }

    /// Sends what the peer has room for.
    fn flush(&mut self) -> io::Result<()> {
        let mut sent = 0;
        while sent < self.output.len() {
            match self.stream.write(&self.output[sent..]) {
                Err(error) if is_for_later(&error) => break,
                result => sent += result?,
            }
        }
        self.output.drain(..sent);
        if self.output.is_empty() && self.echo.is_last && !self.is_shut_down {
            self.is_shut_down = true;
            self.stream.shutdown(Shutdown::Write)?;
        }
        Ok(())
    }

    fn patience(&self, timeout: Duration) -> Duration {
        let has_to_act = self.echo.is_last || self.echo.is_partial() || !self.output.is_empty();
        if has_to_act { timeout } else { timeout * IDLE_TIMEOUTS }
    }

    /// Whether there is nothing to do before something comes.
    pub(super) fn can_wait(&self) -> bool {
        self.output.is_empty()
    }

    /// Waits a little for something to come.
    pub(super) fn wait(&self) {
        // The next turn finds out what has come.
        let _ = self.stream.set_nonblocking(false).and_then(|()| self.stream.peek(&mut [0]));
        let _ = self.stream.set_nonblocking(true);
    }
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
