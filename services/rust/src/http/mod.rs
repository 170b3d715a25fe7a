// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Answers GET requests of HTTP/1.1, one after the other.

mod refusal;
mod request;
mod response;

pub use refusal::Refusal;

use crate::service::{Service, Taken};
use request::{Parsed, parse};

/// A page that is made for a request has at most so many bytes.
pub const ROOM: usize = 80;

/// What there is to see.
pub trait Pages: Default {
    /// The page at a path, which may be made in `room`.
    ///
    /// # Errors
    ///
    /// Why there is none.
    fn page<'a>(path: &str, room: &'a mut [u8; ROOM]) -> Result<&'a [u8], Refusal>;
}

/// A server's side of a connection.
#[derive(Debug, Default)]
pub struct Http<P> {
    /// The beginning of a request.
    input: Vec<u8>,
    pages: core::marker::PhantomData<P>,
}

impl<P: Pages> Service for Http<P> {
    const HAS_DEADLINE: bool = true;

    fn take(&mut self, bytes: &[u8], output: &mut Vec<u8>) -> Taken {
        let held = core::mem::take(&mut self.input);
        let joined;
        let mut rest = if held.is_empty() {
            bytes
        } else {
            joined = [&held[..], bytes].concat();
            &joined[..]
        };
        let mut taken = Taken::default();
        while !taken.is_last && !rest.is_empty() {
            match parse(rest) {
                Parsed::Incomplete => break,
                Parsed::Request(len, request) => {
                    let mut room = [0; ROOM];
                    let page = request.path.ok_or(refusal::NOT_FOUND).and_then(|path| P::page(path, &mut room));
                    response::answer(&request, page, output);
                    taken.is_last = !request.keeps_alive;
                    taken.answered += 1;
                    rest = &rest[len..];
                }
                Parsed::Refused(refusal) => {
                    response::refuse(refusal, output);
                    taken.is_last = true;
                }
            }
        }
        if !taken.is_last {
            self.input.extend_from_slice(rest);
            taken.is_partial = !rest.is_empty();
        }
        taken
    }

    fn time_out(&mut self, output: &mut Vec<u8>) -> bool {
        response::refuse(refusal::TIMED_OUT, output);
        true
    }
}
