// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Messages for the gate: what one program writes, the other one reads.
//!
//! A request and its response follow each other, each in a frame.

use std::{
    error::Error,
    io::{Read, Write},
};

use codec_bench::{
    contract::{Exchange, Failure, Part},
    digest::Digest,
    frames::{self, PREFIX, put_length},
    random::Random,
};

/// Writes the messages of so many rounds.
pub(crate) fn write(
    mut exchange: Box<dyn Exchange>,
    rounds: u64,
    mut output: impl Write,
) -> Result<(), Box<dyn Error>> {
    let mut random = Random::default();
    for _ in 0..rounds {
        let request = exchange.request(&mut random)?;
        let response = exchange.response(&request)?;
        for content in [request, response] {
            let mut message = [&[0; PREFIX], &content[..]].concat();
            put_length(&mut message)?;
            output.write_all(&message)?;
        }
    }
    Ok(output.flush()?)
}

/// Reads each value of all messages. The server's work is done once more: each response must be the one that is there.
pub(crate) fn read(mut exchange: Box<dyn Exchange>, mut input: impl Read) -> Result<[Digest; 2], Box<dyn Error>> {
    let mut digests = [Digest::default(); 2];
    let (mut request, mut response) = (Vec::new(), Vec::new());
    while frames::next(&mut input, &mut request)? {
        if !frames::next(&mut input, &mut response)? {
            return Err("a response is missing at the end".into());
        }
        exchange.see(Part::Request, &request, &mut digests[Part::Request as usize])?;
        exchange.see(Part::Response, &response, &mut digests[Part::Response as usize])?;
        let mut seen = [Digest::default(); 2];
        exchange.see(Part::Response, &response, &mut seen[0])?;
        let again = exchange.response(&request)?;
        exchange.see(Part::Response, &again, &mut seen[1])?;
        if seen[0] != seen[1] {
            return Err(Failure::Wrong.into());
        }
    }
    Ok(digests)
}
