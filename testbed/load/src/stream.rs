// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Bytes that are sent in bulk, and the check that they have come.

use dpdk_sockets::wire::Wire;
use dpdk_sockets::{ConnectionError, ConnectionId, Stack};
use std::sync::LazyLock;

/// So many bytes answer a byte of the client.
pub const CHUNK: u64 = 1 << 20;
/// The bytes of a stream repeat after so many: a prime, so that no segment begins where the one before did.
const PERIOD: usize = 251;
/// The most that is sent or read at once.
pub(crate) const PIECE: usize = 65_535;

/// The bytes of all streams.
pub(crate) static PATTERN: LazyLock<Pattern> = LazyLock::new(Pattern::new);

/// The bytes from any place on.
#[derive(Debug)]
pub(crate) struct Pattern(Vec<u8>);

impl Pattern {
    fn new() -> Self {
        Self((0..PERIOD + PIECE).map(|at| (at % PERIOD) as u8).collect())
    }

    /// At most [`PIECE`] bytes from this place of the stream on.
    pub(crate) fn from(&self, place: u64, len: usize) -> &[u8] {
        let at = (place % PERIOD as u64) as usize;
        &self.0[at..at + len.min(PIECE)]
    }
}

/// The server's side of a connection on [`STREAM_PORT`](crate::STREAM_PORT).
#[derive(Debug)]
pub struct Source {
    /// The connection.
    pub id: ConnectionId,
    sent: u64,
    /// What the client has asked for in all.
    asked: u64,
}

impl Source {
    /// A connection that was accepted.
    #[must_use]
    pub fn new(id: ConnectionId) -> Self {
        // Not when it is counted what bytes cost.
        LazyLock::force(&PATTERN);
        Self { id, sent: 0, asked: 0 }
    }

    /// Reads what the client asks for, and sends what the connection takes.
    ///
    /// # Errors
    ///
    /// As [`Stack::send`].
    pub fn go_on<W: Wire>(&mut self, stack: &mut Stack<W>) -> Result<(), ConnectionError> {
        let mut bytes = [0; 64];
        while let Some(len) = stack.recv(self.id, &mut bytes)? {
            if len == 0 {
                return stack.shutdown(self.id);
            }
            self.asked += len as u64 * CHUNK;
        }
        while self.sent < self.asked {
            let len = (self.asked - self.sent).min(PIECE as u64) as usize;
            match stack.send(self.id, PATTERN.from(self.sent, len))? {
                0 => break,
                sent => self.sent += sent as u64,
            }
        }
        Ok(())
    }
}

/// The client's side of a connection on [`STREAM_PORT`](crate::STREAM_PORT).
#[derive(Debug)]
pub struct Stream {
    /// The connection.
    pub id: ConnectionId,
    room: Vec<u8>,
    received: u64,
    asked: u64,
}

impl Stream {
    /// A connection that is established.
    #[must_use]
    pub fn new(id: ConnectionId) -> Self {
        LazyLock::force(&PATTERN);
        Self { id, room: vec![0; PIECE], received: 0, asked: 0 }
    }

    /// Bytes that have come.
    #[must_use]
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Bytes that were asked for.
    #[must_use]
    pub const fn asked(&self) -> u64 {
        self.asked
    }

    /// Asks for chunks until so many bytes are to come.
    ///
    /// # Errors
    ///
    /// As [`Stack::send`].
    pub fn ask<W: Wire>(&mut self, stack: &mut Stack<W>, until: u64) -> Result<(), ConnectionError> {
        while self.asked - self.received < until && stack.send(self.id, &[1])? == 1 {
            self.asked += CHUNK;
        }
        Ok(())
    }

    /// Reads what has come. Returns whether all of it is right.
    ///
    /// # Errors
    ///
    /// As [`Stack::recv`].
    pub fn take<W: Wire>(&mut self, stack: &mut Stack<W>) -> Result<bool, ConnectionError> {
        while let Some(len) = stack.recv(self.id, &mut self.room)? {
            if len == 0 || self.room[..len] != *PATTERN.from(self.received, len) {
                return Ok(false);
            }
            self.received += len as u64;
        }
        Ok(true)
    }
}
