// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The contract of every library: one round of a case, in each mode.
//!
//! In a round a client builds a request from random numbers, a server reads it and builds a response, and the client
//! reads that and compares it with what it expects.

use std::{
    fs::File,
    io::{self, BufReader, Write as _},
};

use thiserror::Error;

use crate::{digest::Digest, random::Random};

/// What the messages are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Case {
    /// Records of numbers.
    Carsales,
    /// Strings.
    Catrank,
    /// Nested structures.
    Eval,
}

impl Case {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Carsales, Self::Catrank, Self::Eval];

    /// Its name on command lines.
    pub fn name(self) -> &'static str {
        match self {
            Self::Carsales => "carsales",
            Self::Catrank => "catrank",
            Self::Eval => "eval",
        }
    }

    /// The rounds of the article.
    pub fn rounds(self) -> u64 {
        match self {
            Self::Carsales => 10_000,
            Self::Catrank => 1_000,
            Self::Eval => 200_000,
        }
    }
}

/// How messages are written and buffered.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Form {
    /// Whether they are packed: Cap'n Proto's own compression of zeros.
    pub packed: bool,
    /// Whether buffers are used again in the next round. If not, each message has new ones.
    pub reuse: bool,
}

/// Why a round has failed.
#[derive(Debug, Error)]
pub enum Failure {
    /// The values are not those that were expected.
    #[error("the response is not the one that was expected")]
    Wrong,
    /// The library cannot read the message.
    #[error("cannot read the message: {0}")]
    Unreadable(String),
    /// The peer cannot be read from or written to.
    #[error("the peer: {0}")]
    Peer(#[from] io::Error),
}

/// A [`Failure`] if the response is not right.
///
/// # Errors
///
/// [`Failure::Wrong`].
pub fn judge(right: bool) -> Result<(), Failure> {
    if right { Ok(()) } else { Err(Failure::Wrong) }
}

/// The way to the other process: a pipe in each direction, or a connection.
#[derive(Debug)]
pub struct Peer {
    /// Reads go through a buffer of [`Peer::BUFFER`] bytes.
    pub input: BufReader<File>,
    output: File,
}

impl Peer {
    /// What `kj::BufferedInputStreamWrapper` has by default.
    pub const BUFFER: usize = 8_192;

    /// By what is open.
    pub fn new(input: File, output: File) -> Self {
        Self { input: BufReader::with_capacity(Self::BUFFER, input), output }
    }

    /// Sends all bytes of a message.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn send(&mut self, message: &[u8]) -> io::Result<()> {
        self.output.write_all(message)
    }
}

/// One of the two messages of a round.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Part {
    /// From the client.
    Request,
    /// From the server.
    Response,
}

/// A case, done with a library.
///
/// All functions but [`Exchange::object`] give the bytes of the messages they have made.
pub trait Exchange {
    /// A round in memory: what was built is read as it is.
    ///
    /// # Errors
    ///
    /// A [`Failure`], as in all of these.
    fn object(&mut self, random: &mut Random) -> Result<(), Failure>;

    /// A round by bytes, which are read where they lie if the format allows it.
    ///
    /// # Errors
    ///
    /// See [`Exchange::object`].
    fn bytes(&mut self, random: &mut Random) -> Result<usize, Failure>;

    /// The client's half of a round with another process.
    ///
    /// # Errors
    ///
    /// See [`Exchange::object`].
    fn ask(&mut self, random: &mut Random, peer: &mut Peer) -> Result<usize, Failure>;

    /// The server's half; `None` when the client has gone.
    ///
    /// # Errors
    ///
    /// See [`Exchange::object`].
    fn answer(&mut self, peer: &mut Peer) -> Result<Option<usize>, Failure>;

    /// The bytes of the next request.
    ///
    /// # Errors
    ///
    /// See [`Exchange::object`].
    fn request(&mut self, random: &mut Random) -> Result<Vec<u8>, Failure>;

    /// The bytes of the response to a request.
    ///
    /// # Errors
    ///
    /// See [`Exchange::object`].
    fn response(&mut self, request: &[u8]) -> Result<Vec<u8>, Failure>;

    /// Reads each value of a message.
    ///
    /// # Errors
    ///
    /// See [`Exchange::object`].
    fn see(&mut self, part: Part, message: &[u8], digest: &mut Digest) -> Result<(), Failure>;
}
