// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Adds two numbers over HTTP/1.1: `GET /add/1/2` is answered by `1 + 2 = 3`.

mod request;
mod response;

use crate::service::{Service, Taken};
use request::{Parsed, Refusal, parse};

/// The adder's side of a connection.
#[derive(Debug, Default)]
pub struct Adder {
    /// The beginning of a request.
    input: Vec<u8>,
}

impl Service for Adder {
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
                    response::answer(&request, output);
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
        response::refuse(Refusal::TimedOut, output);
        true
    }
}
