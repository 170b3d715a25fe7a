// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Messages with their length before them, in four bytes, little endian: for formats that do not tell their length, and for
//! the files of the gate.

use std::{
    io::{self, Read},
    num::TryFromIntError,
};

/// How many bytes the length has.
pub const PREFIX: usize = 4;

/// Writes the length of what follows into the first bytes of a message.
///
/// # Errors
///
/// If four bytes are too few for it.
pub fn put_length(message: &mut [u8]) -> Result<(), TryFromIntError> {
    let length = u32::try_from(message.len() - PREFIX)?;
    message[..PREFIX].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// Reads the next message, without its length; false at the end of all.
///
/// # Errors
///
/// What reading gives, and [`io::ErrorKind::UnexpectedEof`] if the end is in the middle of a message.
pub fn next(input: &mut impl Read, message: &mut Vec<u8>) -> io::Result<bool> {
    let mut length = [0; PREFIX];
    if input.read(&mut length[..1])? == 0 {
        return Ok(false);
    }
    input.read_exact(&mut length[1..])?;
    message.resize(u32::from_le_bytes(length) as usize, 0);
    input.read_exact(message)?;
    Ok(true)
}
