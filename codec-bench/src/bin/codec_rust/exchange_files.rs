// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Messages for the gate: what one program writes, the other one reads.
//!
//! A request and its response follow each other, each after its length in four bytes, little endian.

use std::{
    error::Error,
    io::{self, Read, Write},
};

use codec_bench::{
    contract::{Exchange, Failure, Part},
    digest::Digest,
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
        for message in [request, response] {
            output.write_all(&u32::try_from(message.len())?.to_le_bytes())?;
            output.write_all(&message)?;
        }
    }
    Ok(output.flush()?)
}

/// Reads each value of all messages. The server's work is done once more: each response must be the one that is there.
pub(crate) fn read(mut exchange: Box<dyn Exchange>, mut input: impl Read) -> Result<[Digest; 2], Box<dyn Error>> {
    let mut digests = [Digest::default(); 2];
    while let Some(request) = next(&mut input)? {
        let response = next(&mut input)?.ok_or("a response is missing at the end")?;
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

fn next(input: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    if input.read(&mut length[..1])? == 0 {
        return Ok(None);
    }
    input.read_exact(&mut length[1..])?;
    let mut message = Vec::new();
    let length = u64::from(u32::from_le_bytes(length));
    if input.by_ref().take(length).read_to_end(&mut message)? as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some(message))
}
